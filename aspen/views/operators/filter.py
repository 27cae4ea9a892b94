"""Filter: the rows for which a predicate is true.

Law:        σ(a + b) = σ(a) + σ(b): linear, so the delta of the output is the output of the delta.
Algorithm:  test each changed row.
State:      none.
Receives:   a bag's delta.     Gives: those of its rows that pass, weights unchanged.
Ends:       always: one pass.
"""

from __future__ import annotations

from collections.abc import Callable

from aspen.model.delta import Delta
from aspen.model.schema import Row
from aspen.views.node import Node


class FilterOperator(Node):
    """Rows that pass."""

    def __init__(self, child: Node, predicate: Callable[[Row], bool]) -> None:
        super().__init__(child)
        self._keep = predicate

    def step(self) -> Delta:
        """Filter the delta."""
        return self._apply(self.inputs[0].delta)

    def contents(self) -> Delta:
        """Filter the child's rows."""
        return self._apply(self.inputs[0].contents())

    def _apply(self, rows: Delta) -> Delta:
        keep = self._keep
        return {row: weight for row, weight in rows.items() if keep(row)}
