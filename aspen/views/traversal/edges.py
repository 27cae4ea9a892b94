"""Edges: the edges of a traversal by number, as columns that all its layers read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aspen.model.schema import Row
from aspen.views.node import has_null
from aspen.views.traversal.names import Names

_NOWHERE = -1


class Edges:
    """Rows with their weights, and between which vertices each leads.

    Args:
        vertices: numbers of vertices; every edge uses two.
        width: how many columns a vertex has.
        measured: whether edges have a length; one whose length is null leads nowhere.
        sign: of the lengths.

    `starts`, `ends`, `lengths` (None where nothing is measured) and `rows` are by number.
    """

    def __init__(self, vertices: Names, width: int, *, measured: bool, sign: int = 1) -> None:
        self._vertices = vertices
        self._width = width
        self.measured = measured
        self._sign = sign
        self._numbers: dict[Row, int] = {}
        self._weights: list[int] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.lengths: list[Any] = []
        self.rows: list[Row] = []
        self._free: list[int] = []
        self._released: list[int] = []

    def take(self, delta: Mapping[Row, int]) -> tuple[list[int], list[int]]:
        """Add weights to rows.

        Returns:
            The numbers of those that came into being, and of those that ceased; a number that
            ceased stays until `sweep`.
        """
        numbers, weights = self._numbers, self._weights
        came: list[int] = []
        went: list[int] = []
        for row, weight in delta.items():
            number = numbers.get(row)
            if number is None:
                number = self._add(row)
            old = weights[number]
            new = weights[number] = old + weight
            if old <= 0 < new:
                came.append(number)
            elif new <= 0 < old:
                went.append(number)
            if not new:
                self._released.append(number)
        return came, went

    def present(self) -> Iterator[int]:
        """Returns the numbers of the rows that are there."""
        return (number for number, weight in enumerate(self._weights) if weight > 0)

    def leads(self, number: int) -> bool:
        """Whether an edge can be passed at all: neither its ends nor its length are null."""
        return self.starts[number] != _NOWHERE

    def sweep(self) -> None:
        """Forget the rows without weight."""
        for number in self._released:
            del self._numbers[self.rows[number]]
            if self.leads(number):
                self._vertices.release(self.starts[number])
                self._vertices.release(self.ends[number])
            self.rows[number] = ()
            self._free.append(number)
        self._released.clear()
        if not self._numbers:
            for column in (self._weights, self.starts, self.ends, self.lengths, self.rows):
                column.clear()
            self._free.clear()

    def _add(self, row: Row) -> int:
        width = self._width
        start, end = row[:width], row[width : 2 * width]
        length: Any = row[2 * width] if self.measured else None
        if has_null(start, 2) or (self.measured and length is None):
            ends = _NOWHERE, _NOWHERE
        else:
            ends = self._vertices.use(start), self._vertices.use(end)
            length = -length if self._sign < 0 else length
        if self._free:
            number = self._free.pop()
            self._weights[number] = 0
            self.starts[number], self.ends[number] = ends
            self.lengths[number], self.rows[number] = length, row
        else:
            number = len(self.rows)
            self._weights.append(0)
            self.starts.append(ends[0])
            self.ends.append(ends[1])
            self.lengths.append(length)
            self.rows.append(row)
        self._numbers[row] = number
        return number
