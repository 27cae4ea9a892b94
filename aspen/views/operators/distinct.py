"""Distinct: each row once, as long as its weight is positive.

Law:        output weight == 1 iff input weight > 0, else 0; idempotent.
Algorithm:  count, and speak only when a count leaves or reaches zero.
State:      row -> weight.
Receives:   a bag's delta.     Gives: a set's delta, weights +1 and -1.
Ends:       always: one pass.
"""

from __future__ import annotations

from aspen.model.delta import Delta
from aspen.views.node import Node


class DistinctOperator(Node):
    """The bag as a set."""

    what = "DISTINCT"

    def __init__(self, child: Node) -> None:
        super().__init__(child)
        self._weights: Delta = {}

    def start(self) -> None:
        """Count the child's rows."""
        self._weights = dict(self.inputs[0].contents())

    def step(self) -> Delta:
        """Returns the rows that came to be or ceased to be."""
        weights = self._weights
        out: Delta = {}
        for row, weight in self.inputs[0].delta.items():
            old = weights.get(row, 0)
            new = old + weight
            if new:
                weights[row] = new
            else:
                del weights[row]
            if (old > 0) != (new > 0):
                out[row] = 1 if new > 0 else -1
        return out

    def kept(self) -> int:
        """Count the rows of the own state."""
        return len(self._weights)

    def contents(self) -> Delta:
        """Returns each row once."""
        return dict.fromkeys(self._weights, 1)
