"""Union: UNION ALL, the sum of bags.

Law:        the output is the sum of the inputs: linear in each.
Algorithm:  add the deltas.
State:      none.
Receives:   deltas of any number of bags.     Gives: their sum.
Ends:       always: one pass.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar

from aspen.model.delta import Delta, merge
from aspen.model.schema import Row
from aspen.views.node import Lookups, Node, Way

_ASKED: ContextVar[dict[Node, Delta] | None] = ContextVar("asked", default=None)
"""Rows of the unions below the one that is asked for its own. An outer join is a union that reads
its left side twice: without this, a chain of n of them would be asked 2ⁿ times."""


class UnionOperator(Node):
    """The sum of its inputs."""

    what = "UNION"

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
        """Add the rows, once for all who ask below one question."""
        asked = _ASKED.get()
        if asked is None:
            token = _ASKED.set({})
            try:
                return self._added()
            finally:
                _ASKED.reset(token)
        if self not in asked:
            asked[self] = self._added()
        return asked[self]

    def _added(self) -> Delta:
        total: Delta = {}
        for child in self.inputs:
            rows = child.contents()
            if total:
                self.meter.spend(len(rows), self.what)
            merge(total, rows)
        return total
