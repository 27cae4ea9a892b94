"""TopK: ORDER BY … LIMIT … OFFSET, kept current.

    LIMIT 2        epoch 1       2        3
    arrives        +5 +3 +9      +4       -3
    contents       3 5           3 4      4 5      a row that left comes back when a better one goes

Law:        contents == rows number offset … offset + limit - 1 of the child's rows in the
            order of the keys, duplicates counted, ties by the whole row; per partition.
Algorithm:  the child's rows of each partition in a sorted list; a partition that changed gives
            the difference of its window before and after.
State:      partition -> sorted distinct rows, their weights, the window given last.
Receives:   a bag's delta.     Gives: a bag's delta.
Ends:       always: per changed row one search, per changed partition one walk to the window's end.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable
from typing import Any

from aspen.model.delta import Delta, accumulate, merge
from aspen.model.schema import Row
from aspen.views.node import Indices, Node, row_of


class _Partition:
    __slots__ = ("given", "order", "weights")

    def __init__(self) -> None:
        self.order: list[Row] = []
        self.weights: Delta = {}
        self.given: Delta = {}


class TopKOperator(Node):
    """Some rows of an order, per partition.

    Args:
        partition: indices of the partition columns.
        order: from a row to its sort key; equal only for equal rows.
        limit: rows kept, None for all behind the offset.
        offset: rows left out before them.
    """

    what = "ORDER BY … LIMIT"

    def __init__(
        self,
        child: Node,
        partition: Indices,
        order: Callable[[Row], Any],
        limit: int | None,
        offset: int,
    ) -> None:
        super().__init__(child)
        self._partition = row_of(partition)
        self._order = order
        self._limit = limit
        self._offset = offset
        self._parts: dict[Row, _Partition] = {}

    def start(self) -> None:
        """Sort the child's rows."""
        self._take(self.inputs[0].contents())

    def step(self) -> Delta:
        """Returns what the epoch changed of the windows."""
        return self._take(self.inputs[0].delta)

    def kept(self) -> int:
        """Count the rows of the own state."""
        return sum(len(part.weights) for part in self._parts.values())

    def contents(self) -> Delta:
        """Returns the rows of all windows."""
        rows: Delta = {}
        for part in self._parts.values():
            merge(rows, part.given)
        return rows

    def _take(self, rows: Delta) -> Delta:
        touched: dict[Row, list[tuple[Row, int]]] = {}
        for row, weight in rows.items():
            touched.setdefault(self._partition(row), []).append((row, weight))
        out: Delta = {}
        for key, changes in touched.items():
            part = self._parts.setdefault(key, _Partition())
            self._sort(part, changes)
            given = self._window(part)
            for row, weight in given.items():
                accumulate(out, row, weight)
            for row, weight in part.given.items():
                accumulate(out, row, -weight)
            part.given = given
            if not part.weights:
                del self._parts[key]
        return out

    def _sort(self, part: _Partition, changes: list[tuple[Row, int]]) -> None:
        bulk = len(changes) > len(part.order)
        for row, weight in changes:
            known = row in part.weights
            accumulate(part.weights, row, weight)
            if bulk:
                continue
            if not known:
                insort(part.order, row, key=self._order)
            elif row not in part.weights:
                del part.order[bisect_left(part.order, self._order(row), key=self._order)]
        if bulk:
            part.order = sorted(part.weights, key=self._order)

    def _window(self, part: _Partition) -> Delta:
        skip, room = self._offset, self._limit
        given: Delta = {}
        for row in part.order:
            if room == 0:
                break
            weight = part.weights[row]
            kept = weight - min(skip, weight)
            skip -= weight - kept
            if room is not None:
                kept = min(kept, room)
                room -= kept
            if kept:
                given[row] = kept
        return given
