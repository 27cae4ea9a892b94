"""Spanner: few lines that serve almost as well as all.

Greedy: shortest line first, take it only if the lines taken so far would be a detour of more than
`stretch`. What remains has short ways between all points and few lines per point.

Law: for every given line, the kept lines connect its ends with at most `stretch` times its length.
Source: I. Althöfer, G. Das, D. Dobkin, D. Joseph, J. Soares, On sparse spanners of weighted
graphs, 1993.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

Line = tuple[float, int, int]


def spanner(lines: Iterable[Line], stretch: float) -> list[Line]:
    """Thin out lines given shortest first.

    Args:
        lines: (length, one end, other end).
        stretch: greatest detour allowed, 1.0 for none.
    """
    kept: list[Line] = []
    beside: dict[int, list[tuple[int, float]]] = {}
    for length, one, other in lines:
        if _within(beside, one, other, stretch * length):
            continue
        kept.append((length, one, other))
        beside.setdefault(one, []).append((other, length))
        beside.setdefault(other, []).append((one, length))
    return kept


def _within(beside: dict[int, list[tuple[int, float]]], one: int, other: int, limit: float) -> bool:
    """Whether a walk from one point to another of at most `limit` exists."""
    best = {one: 0.0}
    queue = [(0.0, one)]
    while queue:
        walked, here = heapq.heappop(queue)
        if here == other:
            return True
        if walked > best[here]:
            continue
        for there, length in beside.get(here, ()):
            total = walked + length
            if total <= limit and total < best.get(there, limit + 1):
                best[there] = total
                heapq.heappush(queue, (total, there))
    return False
