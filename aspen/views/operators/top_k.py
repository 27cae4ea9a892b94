"""TopK: ORDER BY … LIMIT … OFFSET, kept current.

    LIMIT 2        epoch 1       2        3
    arrives        +5 +3 +9      +4       -3
    contents       3 5           3 4      4 5      a row that left comes back when a better one goes

Law:        contents == rows number offset … offset + limit - 1 of the child's rows in the
            order of the keys, duplicates counted, ties by the whole row; per partition.
Algorithm:  `partitioned`'s; a partition's answer is its window.
State:      `partitioned`'s.
Receives:   a bag's delta.     Gives: a bag's delta.
Ends:       always: per changed row one search, per changed partition one walk to the window's end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aspen.model.delta import Delta
from aspen.model.schema import Row
from aspen.views.node import Indices, Node
from aspen.views.operators.partitioned import Partition, PartitionedOperator


class TopKOperator(PartitionedOperator):
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
        super().__init__(child, partition, order)
        self._limit = limit
        self._offset = offset

    def answer(self, part: Partition) -> Delta:
        """Returns the window of a partition."""
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
