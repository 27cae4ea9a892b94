"""Partitioned: the base of the operators that answer per partition, by the order of its rows.

    partition k      epoch 1         2             3
    arrives          +5 +3           +4            -3
    order            3 5             3 4 5         4 5
    answer           of 3 5          of 3 4 5      of 4 5      the difference to the last is given

Law:        contents == the answers for the partitions of the child's rows, put together.
Algorithm:  the child's rows of each partition in a sorted list; a partition that changed is
            answered anew and gives the difference.
State:      partition -> sorted distinct rows, their weights, the answer given last.
Receives:   a bag's delta.     Gives: a bag's delta.
Ends:       always: per changed row one search, per changed partition one answer.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable
from typing import Any

from aspen.model.delta import Delta, accumulate, merge
from aspen.model.schema import Row
from aspen.views.node import Indices, Node, row_of


class Partition:
    """The rows of one partition.

    Attributes:
        order: the distinct rows, sorted.
        weights: how often each is there.
        given: what the operator gives for them.
    """

    __slots__ = ("given", "order", "weights")

    def __init__(self) -> None:
        self.order: list[Row] = []
        self.weights: Delta = {}
        self.given: Delta = {}


class PartitionedOperator(Node):
    """An operator whose answer for a partition follows from its sorted rows.

    Args:
        partition: indices of the partition columns.
        order: from a row to its sort key; equal only for equal rows.
    """

    def __init__(self, child: Node, partition: Indices, order: Callable[[Row], Any]) -> None:
        super().__init__(child)
        self._partition = row_of(partition)
        self._order = order
        self._parts: dict[Row, Partition] = {}

    def answer(self, part: Partition) -> Delta:
        """Returns what the operator gives for the rows of a partition."""
        raise AssertionError(type(self).__name__, part)  # pragma: no cover - every operator has one

    def start(self) -> None:
        """Sort the child's rows and answer."""
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

    def _take(self, rows: Delta) -> Delta:
        touched: dict[Row, list[tuple[Row, int]]] = {}
        for row, weight in rows.items():
            touched.setdefault(self._partition(row), []).append((row, weight))
        out: Delta = {}
        for key, changes in touched.items():
            part = self._parts.setdefault(key, Partition())
            self._sort(part, changes)
            given = self.answer(part)
            for row, weight in given.items():
                accumulate(out, row, weight)
            for row, weight in part.given.items():
                accumulate(out, row, -weight)
            part.given = given
            if not part.weights:
                del self._parts[key]
        return out

    def _sort(self, part: Partition, changes: list[tuple[Row, int]]) -> None:
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
