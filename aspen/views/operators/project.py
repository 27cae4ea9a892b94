"""Project: computed columns, duplicates kept as weights.

Law:        π(a + b) = π(a) + π(b): linear.
Algorithm:  compute each changed row, sum equal ones.
State:      none.
Receives:   a bag's delta.     Gives: the computed rows; rows that become equal add up.
Ends:       always: one pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from aspen.model.delta import Delta, accumulate
from aspen.model.schema import Row
from aspen.views.node import LinearNode, Lookups, Node, Way


class ProjectOperator(LinearNode):
    """Computed rows."""

    def __init__(self, child: Node, compute: Callable[[Row], Row]) -> None:
        super().__init__(child)
        self._compute = compute

    def ways(self, row: Row, asked: Lookups) -> Iterable[Way]:
        """Returns every child row that computes to this one."""
        child = self.inputs[0]
        return [((child, before),) for before in asked.before(self, self._compute).get(row, ())]

    def apply(self, rows: Delta) -> Delta:
        """Compute each row; equal ones add up."""
        compute = self._compute
        projected: Delta = {}
        for row, weight in rows.items():
            accumulate(projected, compute(row), weight)
        return projected
