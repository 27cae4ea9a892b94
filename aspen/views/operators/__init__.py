"""One incremental operator per file."""
