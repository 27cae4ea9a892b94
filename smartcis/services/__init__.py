"""The processes a running product consists of, and who watches whom."""
