"""One command per file; each translates its arguments and calls an action."""
