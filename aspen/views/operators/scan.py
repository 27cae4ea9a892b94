"""Scan: the rows of a base table, kept once for all views that read it.

Law:        contents == sum of all accepted changes; no weight is negative.
Algorithm:  one dict; a deletion of what is not there is refused.
State:      row -> weight.
Receives:   changes of one relation.     Gives: their sum over the epoch.
Ends:       always: one pass over the changes.
"""

from __future__ import annotations

from collections.abc import Iterable

from aspen.model.delta import Delta, merge
from aspen.model.schema import Relation, Row
from aspen.views.node import Lookups, Node, Way


class ScanOperator(Node):
    """A base relation's rows."""

    def __init__(self, relation: Relation) -> None:
        super().__init__()
        self.relation = relation
        self.table: Delta = {}
        self.pending: Delta = {}

    def change(self, row: Row, weight: int) -> bool:
        """Take one change into the coming epoch.

        Returns:
            False when it would delete what is not there; nothing is changed then.
        """
        pending = self.pending.get(row, 0) + weight
        if self.table.get(row, 0) + pending < 0:
            return False
        if pending:
            self.pending[row] = pending
        else:
            self.pending.pop(row, None)
        return True

    def pend(self, delta: Delta) -> None:
        """Take changes into the coming epoch that the caller has tested."""
        merge(self.pending, delta)

    def step(self) -> Delta:
        """Returns the changes taken since the last epoch."""
        taken, self.pending = self.pending, {}
        return taken

    def settle(self) -> None:
        """Move the table to the new state, then its indexes."""
        table = self.table
        for row, weight in self.delta.items():
            total = table.get(row, 0) + weight
            if total:
                table[row] = total
            else:
                del table[row]
        super().settle()

    def base_row(self, row: Row) -> tuple[str, Row] | None:
        """Returns the row itself, unless its relation promises to keep it."""
        return (self.relation.name, row) if self.relation.deletable else None

    def ways(self, row: Row, asked: Lookups) -> Iterable[Way]:
        """Returns the way of a row that is simply there."""
        del row, asked
        return [()]

    def kept(self) -> int:
        """Count the rows of the own state."""
        return len(self.table)

    def contents(self) -> Delta:
        """Returns the rows."""
        return self.table
