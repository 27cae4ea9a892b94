"""RecursiveOutput: the rows of one relation of a recursion over several.

    fixpoint   +(0, ab) +(1, cd)       output 1   +cd

Law:        contents == the rows the fixpoint tells under the relation's number.
Algorithm:  a filter and a projection.
State:      none.
Receives:   a Fixpoint's delta.     Gives: one relation's part of it.
Ends:       always: one pass over the delta.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aspen.model.delta import Delta
from aspen.model.schema import Row
from aspen.views.node import LinearNode, Lookups, Node, Way


class RecursiveOutput(LinearNode):
    """See the module's head."""

    def __init__(self, fixpoint: Node, number: int) -> None:
        super().__init__(fixpoint)
        self._number = number

    def apply(self, rows: Any) -> Delta:
        """Returns the relation's part."""
        number = self._number
        return {row: weight for (of, row), weight in rows.items() if of == number}

    def ways(self, row: Row, asked: Lookups) -> Iterable[Way]:
        """Returns the row as the fixpoint has it."""
        del asked
        tagged: Any = (self._number, row)
        return [((self.inputs[0], tagged),)]
