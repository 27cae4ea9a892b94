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
from aspen.views.node import LinearNode, Node


class FilterOperator(LinearNode):
    """Rows that pass."""

    def __init__(self, child: Node, predicate: Callable[[Row], bool]) -> None:
        super().__init__(child)
        self._keep = predicate

    def apply(self, rows: Delta) -> Delta:
        """Test each row."""
        keep = self._keep
        return {row: weight for row, weight in rows.items() if keep(row)}
