"""Bits: small sets of variables and of nodes, as integers."""

from __future__ import annotations


def members(bits: int) -> list[int]:
    """Returns the members of a set, ascending."""
    found = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found
