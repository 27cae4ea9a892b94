"""Values: rows written in the query itself.

Law:        contents == the rows it was made with, for ever.
Algorithm:  none.
State:      the rows.
Receives:   nothing.     Gives: nothing after the start.
Ends:       always: it never steps.
"""

from __future__ import annotations

from collections.abc import Iterable

from aspen.model.delta import Delta
from aspen.model.schema import Row
from aspen.views.node import Lookups, Node, Way


class ValuesOperator(Node):
    """Constant rows."""

    def __init__(self, rows: Delta) -> None:
        super().__init__()
        self._rows = rows

    def step(self) -> Delta:
        """Returns nothing: no input can change."""
        return {}

    def contents(self) -> Delta:
        """Returns the rows."""
        return self._rows

    def ways(self, row: Row, asked: Lookups) -> Iterable[Way]:
        """Returns one empty way: the row needs nothing."""
        del row, asked
        return [()]
