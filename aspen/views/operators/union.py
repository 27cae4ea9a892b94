"""Union: UNION ALL, the sum of bags.

Law:        the output is the sum of the inputs: linear in each.
Algorithm:  add the deltas.
State:      none.
Receives:   deltas of any number of bags.     Gives: their sum.
Ends:       always: one pass.
"""

from __future__ import annotations

from collections.abc import Iterable

from aspen.model.delta import Delta, merge
from aspen.model.schema import Row
from aspen.views.node import Lookups, Node, Way


class UnionOperator(Node):
    """The sum of its inputs."""

    def step(self) -> Delta:
        """Add the deltas."""
        total: Delta = {}
        for child in self.inputs:
            merge(total, child.delta)
        return total

    def ways(self, row: Row, asked: Lookups) -> Iterable[Way]:
        """Returns each input that has the row."""
        return [((child, row),) for child in self.inputs if row in asked.contents(child)]

    def contents(self) -> Delta:
        """Add the rows."""
        total: Delta = {}
        for child in self.inputs:
            merge(total, child.contents())
        return total
