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
from aspen.views.node import Node, Way


class ProjectOperator(Node):
    """Computed rows."""

    def __init__(self, child: Node, compute: Callable[[Row], Row]) -> None:
        super().__init__(child)
        self.compute = compute

    def step(self) -> Delta:
        """Project the delta."""
        return self._apply(self.inputs[0].delta)

    def contents(self) -> Delta:
        """Project the child's rows."""
        return self._apply(self.inputs[0].contents())

    def ways(self, row: Row, contents: Callable[[Node], Delta], *, every: bool) -> Iterable[Way]:
        """Returns every child row that computes to this one."""
        del every
        child, compute = self.inputs[0], self.compute
        return [((child, before),) for before in contents(child) if compute(before) == row]

    def _apply(self, rows: Delta) -> Delta:
        compute = self.compute
        projected: Delta = {}
        for row, weight in rows.items():
            accumulate(projected, compute(row), weight)
        return projected
