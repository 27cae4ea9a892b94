"""Ingest: readings and committed edits on their way into the log."""
