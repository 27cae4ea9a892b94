"""Ours: a lane in this process, fed through a plan compiled from StreamSQL."""

from __future__ import annotations

from typing import Any

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Entry, Register, Transaction
from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, Type
from aspen.results.protocol import ViewChange
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query
from aspen.views.operators.support.strategies import AUTO

from .relations import RELATIONS
from .worker import WRAP, Digest, Row, Script, Tables, serve

VIEW = "answer"
KEYS = {f"part{n}": ("item",) for n in range(7)}
CATALOG = Catalog.of(
    Relation(name, tuple(Column(column, Type.INT) for column in columns), key=KEYS.get(name, ()))
    for name, columns in RELATIONS.items()
)


class OurSession:
    """A lane with one view.

    Args:
        keep: add up what is delivered, so that the answer can be told.
    """

    def __init__(self, case: dict[str, Any], *, keep: bool) -> None:
        self._tables: Tables = case["tables"]
        compiled = compile_query(case["sql"], CATALOG)
        self._register = Register(0.0, VIEW, plan_text(compiled.plan), AUTO)
        self._keep = keep
        self._count = self._sum = 0
        self._lane = Lane()
        self._take(*(Declare(0.0, CATALOG.get(name)) for name in self._tables))

    def load(self) -> None:
        """Take the rows in, then register the query."""
        changes = (Change(name, 1, row) for name, rows in self._tables.items() for row in rows)
        self._take(Transaction(0.0, tuple(changes)), self._register)

    def change(self, relation: str, row: Row, weight: int) -> None:
        """Apply one transaction."""
        self._take(Transaction(0.0, (Change(relation, weight, row),)))

    def digest(self) -> Digest:
        """Returns the digest of all that was delivered."""
        return self._count, self._sum % WRAP

    def _take(self, *entries: Entry) -> None:
        changes = self._lane.apply(list(enumerate(entries, start=self._lane.position + 1)))
        for change in changes:
            if change.error is not None:
                raise RuntimeError(change.error)
        if self._keep:
            self._add_up(changes)

    def _add_up(self, changes: list[ViewChange]) -> None:
        for change in changes:
            for row, weight in change.delta.items():
                self._count += weight
                self._sum += weight * hash(row)


def drive(case: dict[str, Any], keep: bool, script: Script) -> dict[str, Any]:  # noqa: FBT001 - the worker's protocol
    """Run a script."""
    return script(OurSession(case, keep=keep))


if __name__ == "__main__":
    serve(drive)
