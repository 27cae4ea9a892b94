"""Inventories: lists of machines, sensors or rooms that somebody keeps as a table of text."""
