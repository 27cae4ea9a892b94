"""Supports: which settled rows of a recursion fall with rows they rest on; one strategy a file."""
