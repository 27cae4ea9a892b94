"""Recursions that traverse a graph: how they are recognised, and how their rows are kept."""
