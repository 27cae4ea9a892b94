"""A lane that keeps the views of one program, and the tables beside it."""

from __future__ import annotations

from collections.abc import Iterable

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Entry, Register, Transaction
from aspen.model.catalog import Catalog
from aspen.model.delta import Delta, accumulate
from aspen.model.schema import Row
from aspen.runtime.lane import Lane
from aspen.streamsql import Compiled


class Host:
    """One lane with one program registered.

    Args:
        tables: what the base relations hold now.
    """

    def __init__(self, catalog: Catalog, views: list[Compiled]) -> None:
        self.names = [view.name for view in views if view.name is not None]
        self.lane = Lane()
        self.position = 0
        self.tables: dict[str, Delta] = {relation.name: {} for relation in catalog}
        self.feed(*(Declare(0.0, relation) for relation in catalog))
        self.feed(*(Register(0.0, v.name, plan_text(v.plan)) for v in views if v.name is not None))

    def feed(self, *entries: Entry) -> None:
        """Apply entries as one epoch; no view may fail."""
        numbered = [(self.position + i, entry) for i, entry in enumerate(entries, start=1)]
        self.position += len(entries)
        for change in self.lane.apply(numbered):
            assert change.error is None, change.error

    def change(self, changes: Iterable[tuple[str, Row]]) -> None:
        """Toggle rows in one transaction: one that is there goes, one that is not comes."""
        made: list[Change] = []
        for relation, row in changes:
            weight = -1 if row in self.tables[relation] else 1
            accumulate(self.tables[relation], row, weight)
            made.append(Change(relation, weight, row))
        self.feed(Transaction(0.0, tuple(made)))

    def toggle(self, relation: str, row: Row) -> None:
        """Toggle one row."""
        self.change([(relation, row)])

    def rows(self) -> dict[str, Delta]:
        """Returns the rows of every view."""
        return {name: self.lane.rows(name) for name in self.names}
