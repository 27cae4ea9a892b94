"""Fact: one deletable base row, and what it says to a linear recursion.

    link(x, z)      rows   (x, z)        reachable(x, z) holds
                    edges  (x, z)        reachable(z, y) gives reachable(x, y)

    triggered(s)    rows   (s, region)   for the regions that start at s
                    edges  (t, s)        for every sensor t near s

Every recursion of the seeds' experiments is of this one shape: `row(x, y)` is kept at the node
that owns `x`; an edge (w, x) turns it into `row(w, y)`. Source: [LTZIL09] sections II and VIII.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import dist

Vertex = int
"""A dictionary-encoded value of the partitioning column."""

Value = int
"""A dictionary-encoded value of the column that the recursion carries along."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One base row.

    Args:
        home: the vertex whose owner hears of the fact first.
        rows: the view's rows it gives by itself. No two live facts give the same row.
        edges: the pairs (w, x) by which it turns `row(x, y)` into `row(w, y)`. No two live facts
            give the same edge.
        cost: of the edge, where paths have one.
    """

    home: Vertex
    rows: tuple[tuple[Vertex, Value], ...]
    edges: tuple[tuple[Vertex, Vertex], ...]
    cost: int = 1


def link(source: Vertex, target: Vertex, cost: int = 1) -> Fact:
    """Returns the fact of a one-way link, for `reachable` and `path`."""
    return Fact(source, ((source, target),), ((source, target),), cost)


def triggered(
    positions_m: Mapping[Vertex, tuple[float, float]],
    regions: Mapping[Vertex, Iterable[Value]],
    within_m: float,
) -> Mapping[Vertex, Fact]:
    """Returns the fact "this sensor is triggered" of each sensor, for `activeRegion`.

    Args:
        positions_m: where each sensor stands.
        regions: the regions that each seed sensor starts.
        within_m: how far apart neighbours may stand, exclusive.
    """
    return {
        sensor: Fact(
            sensor,
            tuple((sensor, region) for region in regions.get(sensor, ())),
            tuple(
                (other, sensor)
                for other, at_m in positions_m.items()
                if other != sensor and dist(at_m, here_m) < within_m
            ),
        )
        for sensor, here_m in positions_m.items()
    }


def closure(facts: Sequence[Fact]) -> set[tuple[Vertex, Value]]:
    """Compute the view from nothing, in one program: what every strategy must agree with.

    Law: `closure(links) == {(x, y) : a path of one or more links leads from x to y}`.
    """
    into: dict[Vertex, list[Vertex]] = {}
    for fact in facts:
        for target, source in fact.edges:
            into.setdefault(source, []).append(target)
    found = {row for fact in facts for row in fact.rows}
    waiting = list(found)
    while waiting:
        vertex, value = waiting.pop()
        for target in into.get(vertex, ()):
            if (target, value) not in found:
                found.add((target, value))
                waiting.append((target, value))
    return found
