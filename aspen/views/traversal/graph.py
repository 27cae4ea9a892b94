"""Graph: the edges that traversals of one layer take, from both ends."""

from __future__ import annotations

from typing import Any

from aspen.views.traversal.edges import Edges

_NONE: dict[int, Any] = {}


class Graph:
    """Some edges between vertices.

    Args:
        edges: what their numbers stand for.
    """

    def __init__(self, edges: Edges) -> None:
        self.edges = edges
        self.leaving: dict[int, dict[int, Any]] = {}
        self.entering: dict[int, dict[int, int]] = {}

    def add(self, number: int) -> None:
        """Add an edge that leads somewhere."""
        edges = self.edges
        start, end = edges.starts[number], edges.ends[number]
        # What a step along the edge reads, in one look-up.
        onwards = (end, edges.lengths[number]) if edges.measured else end
        self.leaving.setdefault(start, {})[number] = onwards
        self.entering.setdefault(end, {})[number] = start

    def remove(self, number: int) -> bool:
        """Take an edge out of both ends; False where it is not there."""
        start, end = self.edges.starts[number], self.edges.ends[number]
        if number not in self.leaving.get(start, _NONE):
            return False
        for ends, at in ((self.leaving, start), (self.entering, end)):
            del ends[at][number]
            if not ends[at]:
                del ends[at]
        return True

    def enters(self, vertex: int) -> dict[int, int]:
        """Returns the edges that reach a vertex, with their starts."""
        return self.entering.get(vertex, _NONE)
