"""Recursions that walk along edges: how they are recognised, and how their rows are kept."""
