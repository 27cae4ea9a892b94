"""SetOperation: EXCEPT and INTERSECT, with or without ALL.

Law:        per row, with l and r its weights: INTERSECT ALL min(l, r), EXCEPT ALL max(l - r, 0);
            without ALL each row once, where both have it, or where the right has it not.
Algorithm:  weights of both sides; a touched row is weighed before and after.
State:      row -> weight, for each side.
Receives:   deltas of two bags.     Gives: a bag's delta.
Ends:       always: one look at each changed row.
"""

from __future__ import annotations

from collections.abc import Iterable

from aspen.algebra.plan import SetFunction
from aspen.model.delta import Delta, merge
from aspen.model.schema import Row
from aspen.views.node import Lookups, Node, Way


class SetOperationOperator(Node):
    """Two bags compared row by row."""

    what = "EXCEPT or INTERSECT"

    def __init__(
        self, left: Node, right: Node, function: SetFunction, *, keeps_duplicates: bool
    ) -> None:
        super().__init__(left, right)
        self._both = function is SetFunction.INTERSECT
        self._all = keeps_duplicates
        self._left: Delta = {}
        self._right: Delta = {}

    def start(self) -> None:
        """Take both sides' weights."""
        left, right = self.inputs
        self._left, self._right = dict(left.contents()), dict(right.contents())

    def step(self) -> Delta:
        """Weigh every changed row before and after."""
        left, right = (node.delta for node in self.inputs)
        touched = dict.fromkeys((*left, *right))
        before = {row: self._weight(row) for row in touched}
        merge(self._left, left)
        merge(self._right, right)
        out: Delta = {}
        for row, old in before.items():
            change = self._weight(row) - old
            if change:
                out[row] = change
        return out

    def kept(self) -> int:
        """Count the rows of the own state."""
        return len(self._left) + len(self._right)

    def contents(self) -> Delta:
        """Weigh every left row."""
        weighed = ((row, self._weight(row)) for row in self._left)
        return {row: weight for row, weight in weighed if weight}

    def ways(self, row: Row, asked: Lookups) -> Iterable[Way]:
        """Returns the row on the left, and for INTERSECT on the right too."""
        del asked
        left, right = self.inputs
        return [((left, row), (right, row))] if self._both else [((left, row),)]

    def _weight(self, row: Row) -> int:
        left, right = self._left.get(row, 0), self._right.get(row, 0)
        if self._both:
            kept = min(left, right)
        elif self._all:
            kept = left - right
        else:
            kept = 0 if right > 0 else left
        if kept <= 0:
            return 0
        return kept if self._all else 1
