"""Graph: the edges traversals take, by number, from both ends."""

from __future__ import annotations

from typing import Any, NamedTuple

from aspen.model.schema import Row
from aspen.views.node import has_null
from aspen.views.traversal.names import Names


class TraversalEdge(NamedTuple):
    """One edge.

    Args:
        start: number of the vertex it leaves.
        end: number of the vertex it reaches.
        length: what it adds to a cost, None where there is none.
        row: the row it stands for.
    """

    start: int
    end: int
    length: Any
    row: Row


_NONE: dict[int, Any] = {}


class Graph:
    """Edges between vertices.

    Args:
        vertices: numbers of vertices; every edge uses two.
        width: how many columns a vertex has.
        measured: whether edges have a length; one whose length is null leads nowhere.
        sign: of the lengths.
    """

    def __init__(self, vertices: Names, width: int, *, measured: bool, sign: int = 1) -> None:
        self._vertices = vertices
        self._width = width
        self._measured = measured
        self._sign = sign
        self.numbers: dict[Row, int] = {}
        self.edges: dict[int, TraversalEdge] = {}
        self.leaving: dict[int, dict[int, Any]] = {}
        self.entering: dict[int, dict[int, int]] = {}
        self._free: list[int] = []
        self._released: list[int] = []

    def add(self, row: Row) -> int | None:
        """Add an edge; None for one that nothing can pass."""
        width = self._width
        start, end = row[:width], row[width : 2 * width]
        length: Any = row[2 * width] if self._measured else None
        if has_null(start, 2) or (self._measured and length is None):
            return None
        if self._sign < 0:
            length = -length
        number = self._free.pop() if self._free else len(self.edges)
        edge = TraversalEdge(self._vertices.use(start), self._vertices.use(end), length, row)
        self.numbers[row] = number
        self.edges[number] = edge
        # What a step along the edge reads, in one look-up.
        onwards = (edge.end, length) if self._measured else edge.end
        self.leaving.setdefault(edge.start, {})[number] = onwards
        self.entering.setdefault(edge.end, {})[number] = edge.start
        return number

    def remove(self, row: Row) -> int | None:
        """Take an edge out of both ends; its number stays until `sweep`."""
        number = self.numbers.pop(row, None)
        if number is None:
            return None
        edge = self.edges[number]
        for ends, at in ((self.leaving, edge.start), (self.entering, edge.end)):
            del ends[at][number]
            if not ends[at]:
                del ends[at]
        self._released.append(number)
        return number

    def sweep(self) -> None:
        """Forget the edges that were removed."""
        for number in self._released:
            edge = self.edges.pop(number)
            self._vertices.release(edge.start)
            self._vertices.release(edge.end)
            self._free.append(number)
        self._released.clear()
        if not self.edges:
            self._free.clear()

    def enters(self, vertex: int) -> dict[int, int]:
        """Returns the edges that reach a vertex, with their starts."""
        return self.entering.get(vertex, _NONE)
