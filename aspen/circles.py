"""Circles in small graphs: of queries that read each other, of columns computed from each other."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import TypeVar

Vertex = TypeVar("Vertex", bound=Hashable)

Edges = Mapping[Vertex, Collection[Vertex]]


def components(vertices: Iterable[Vertex], edges: Edges[Vertex]) -> list[tuple[Vertex, ...]]:
    """Part vertices into those that reach each other.

    Args:
        vertices: all of them; within a part, and between parts where the edges leave it open,
            their order is kept.
        edges: from each to those it needs.

    Returns:
        The parts, each behind those it needs.

    Source: Tarjan, "Depth-first search and linear graph algorithms" (1972), without its recursion.
    """
    order = {vertex: place for place, vertex in enumerate(vertices)}
    found: list[tuple[Vertex, ...]] = []
    number: dict[Vertex, int] = {}
    low: dict[Vertex, int] = {}
    open_: dict[Vertex, None] = {}
    for root in order:
        if root in number:
            continue
        walk = [(root, iter(edges.get(root, ())))]
        number[root] = low[root] = len(number)
        open_[root] = None
        while walk:
            vertex, further = walk[-1]
            for other in further:
                if other not in number:
                    number[other] = low[other] = len(number)
                    open_[other] = None
                    walk.append((other, iter(edges.get(other, ()))))
                    break
                if other in open_:
                    low[vertex] = min(low[vertex], number[other])
            else:
                walk.pop()
                if walk:
                    above = walk[-1][0]
                    low[above] = min(low[above], low[vertex])
                if low[vertex] == number[vertex]:
                    part = [open_.popitem()[0]]
                    while part[-1] != vertex:
                        part.append(open_.popitem()[0])
                    found.append(tuple(sorted(part, key=order.__getitem__)))
    return found


def reached(start: Vertex, edges: Edges[Vertex]) -> set[Vertex]:
    """Returns what a vertex reaches along one edge or more."""
    found: set[Vertex] = set()
    waiting = list(edges.get(start, ()))
    while waiting:
        vertex = waiting.pop()
        if vertex not in found:
            found.add(vertex)
            waiting += edges.get(vertex, ())
    return found
