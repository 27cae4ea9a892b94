"""Payloads: what common devices publish, one family per file, read into measured quantities."""
