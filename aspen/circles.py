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
    order = list(vertices)
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
                    part = [v for v in open_ if number[v] >= number[vertex]]
                    for member in part:
                        del open_[member]
                    found.append(tuple(v for v in order if v in part))
    return found


def reached(start: Vertex, edges: Edges[Vertex]) -> set[Vertex]:
    """Give what a vertex reaches along one edge or more."""
    found: set[Vertex] = set()
    waiting = list(edges.get(start, ()))
    while waiting:
        vertex = waiting.pop()
        if vertex not in found:
            found.add(vertex)
            waiting += edges.get(vertex, ())
    return found


def circle(start: Vertex, edges: Edges[Vertex]) -> list[Vertex] | None:
    """Give a shortest way along the edges from a vertex back to it, both ends included."""
    ways = [[start]]
    seen: set[Vertex] = set()
    for way in ways:
        for other in edges.get(way[-1], ()):
            if other == start:
                return [*way, start]
            if other not in seen:
                seen.add(other)
                ways.append([*way, other])
    return None
