"""Readings: what a valid one looks like."""
