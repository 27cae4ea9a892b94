"""Motes: what the network that runs them and the optimizer that prices them both rely on.

Numbers and rows only; every figure stands here once. Neither side imports the other.
"""
