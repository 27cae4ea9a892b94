"""Wrappers: the world outside, each source in its own file under one Protocol."""
