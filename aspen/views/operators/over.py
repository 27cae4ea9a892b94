"""Over: ROW_NUMBER, LAG, running sums and their like, kept current.

    SUM(v) OVER (ORDER BY at)     at 1 v 5 → 5    at 3 v 2 → 7      at 2 v 4 arrives: 5, 9, 11

Law:        contents == the child's rows, each beside what the rows of its partition give it.
Algorithm:  the child's rows of each partition in a sorted list; a partition that changed is
            computed anew in one walk, and gives the difference to what it gave before. A frame
            slides: each row enters and leaves an accumulator once.
State:      partition -> sorted distinct rows, their weights, the rows given last.
Receives:   a bag's delta.     Gives: a bag's delta.
Ends:       always: per changed partition one walk over its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from aspen.model.delta import Delta, accumulate, merge
from aspen.model.schema import Row
from aspen.views.node import Indices, Lookups, Node, Way, row_of
from aspen.views.over_functions import Compute, SortedRows


class _Partition:
    __slots__ = ("given", "weights")

    def __init__(self) -> None:
        self.weights: Delta = {}
        self.given: Delta = {}


class OverOperator(Node):
    """Columns computed from the rows around each.

    Args:
        partition: indices of the partition columns.
        order: from a row to its sort key; equal only for equal rows.
        keys: indices of the columns it sorts by, and whether the first falls.
        functions: what is computed, one column each.
        width: how many columns the child has.
    """

    what = "OVER"

    def __init__(
        self,
        child: Node,
        partition: Indices,
        order: Callable[[Row], Any],
        keys: tuple[Indices, bool],
        functions: Sequence[Compute],
        width: int,
    ) -> None:
        super().__init__(child)
        self._partition = row_of(partition)
        self._order = order
        self._keys, self._falling = keys
        self._functions = tuple(functions)
        self._width = width
        self._parts: dict[Row, _Partition] = {}

    def start(self) -> None:
        """Compute beside the child's rows."""
        self._take(self.inputs[0].contents())

    def step(self) -> Delta:
        """Returns what the epoch changed of the partitions it touched."""
        return self._take(self.inputs[0].delta)

    def kept(self) -> int:
        """Count the rows of the own state."""
        return sum(len(part.weights) + len(part.given) for part in self._parts.values())

    def contents(self) -> Delta:
        """Returns the rows of all partitions."""
        rows: Delta = {}
        for part in self._parts.values():
            merge(rows, part.given)
        return rows

    def ways(self, row: Row, asked: Lookups) -> Iterable[Way]:
        """The child's row."""
        del asked
        return [((self.inputs[0], row[: self._width]),)]

    def _take(self, rows: Delta) -> Delta:
        touched: dict[Row, list[tuple[Row, int]]] = {}
        for row, weight in rows.items():
            touched.setdefault(self._partition(row), []).append((row, weight))
        out: Delta = {}
        for key, changes in touched.items():
            part = self._parts.setdefault(key, _Partition())
            for row, weight in changes:
                accumulate(part.weights, row, weight)
            self.meter.spend(sum(part.weights.values()) * len(self._functions), self.what)
            given = self._computed(part.weights)
            for row, weight in given.items():
                accumulate(out, row, weight)
            for row, weight in part.given.items():
                accumulate(out, row, -weight)
            part.given = given
            if not part.weights:
                del self._parts[key]
        return out

    def _computed(self, weights: Delta) -> Delta:
        rows = [row for row in sorted(weights, key=self._order) for _ in range(weights[row])]
        ordered = SortedRows(rows, self._keys, falling=self._falling)
        columns = [compute(ordered) for compute in self._functions]
        given: Delta = {}
        for row, *values in zip(rows, *columns, strict=True):
            accumulate(given, (*row, *values), 1)
        return given
