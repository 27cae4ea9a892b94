"""Over: ROW_NUMBER, LAG, running sums and their like, kept current.

    SUM(v) OVER (ORDER BY at)     at 1 v 5 → 5    at 3 v 2 → 7      at 2 v 4 arrives: 5, 9, 11

Law:        contents == the child's rows, each beside what the rows of its partition give it.
Algorithm:  `partitioned`'s; a partition is computed in one walk, in which a frame slides: each row
            enters and leaves each of its pieces once.
State:      `partitioned`'s.
Receives:   a bag's delta.     Gives: a bag's delta.
Ends:       always: per changed partition one walk over its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from aspen.model.delta import Delta, accumulate
from aspen.model.schema import Row
from aspen.views.node import Indices, Lookups, Node, Way
from aspen.views.operators.partitioned import Partition, PartitionedOperator
from aspen.views.over_functions import Compute, SortedRows


class OverOperator(PartitionedOperator):
    """Columns computed from the rows around each.

    Args:
        partition: indices of the partition columns.
        order: from a row to its sort key; equal only for equal rows.
        sort: what makes sorted rows of rows in this order.
        functions: what is computed, one column each.
        width: how many columns the child has.
    """

    what = "OVER"

    def __init__(
        self,
        child: Node,
        partition: Indices,
        order: Callable[[Row], Any],
        sort: Callable[[Sequence[Row]], SortedRows],
        functions: Sequence[Compute],
        width: int,
    ) -> None:
        super().__init__(child, partition, order)
        self._in_order = sort
        self._functions = tuple(functions)
        self._width = width

    def answer(self, part: Partition) -> Delta:
        """Returns the rows of a partition, each beside what is computed for it."""
        rows = [row for row in part.order for _ in range(part.weights[row])]
        self.meter.spend(len(rows) * len(self._functions), self.what)
        ordered = self._in_order(rows)
        columns = [compute(ordered) for compute in self._functions]
        given: Delta = {}
        for row, *values in zip(rows, *columns, strict=True):
            accumulate(given, (*row, *values), 1)
        return given

    def ways(self, row: Row, asked: Lookups) -> Iterable[Way]:
        """The child's row."""
        del asked
        return [((self.inputs[0], row[: self._width]),)]
