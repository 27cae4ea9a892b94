"""SemiJoin: left rows with a partner on the right, EXISTS; each as often as it is there.

Law:        contents == left rows for which some right row matches; with AntiJoin they are the left.
Algorithm:  AntiJoin's, with the test the other way round.
State:      none of its own: the inputs' arrangements.
Receives:   deltas of two bags.     Gives: a delta of the left bag.
Ends:       always: one test per changed row, and per left row at a changed key.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from aspen.model.schema import Row
from aspen.views.node import Lookups, Way
from aspen.views.operators.anti_join import AntiJoinOperator


class SemiJoin(AntiJoinOperator):
    """Left rows that match something."""

    def ways(self, row: Row, asked: Lookups) -> Iterable[Way]:
        """Returns the row with each of its partners; one partner suffices."""
        left, right = self.inputs
        found = [other for other in asked.contents(right) if self._matches(row, other)]
        return [((left, row), (right, other)) for other in (found if asked.every else found[:1])]

    def _free(self, row: Row, partners: Collection[Row]) -> bool:
        return not super()._free(row, partners)

    def _matches(self, row: Row, other: Row) -> bool:
        mine, its = self._indices
        if any(
            row[one] is None or row[one] != other[two] for one, two in zip(mine, its, strict=True)
        ):
            return False
        return self._residual is None or self._residual(row + other)
