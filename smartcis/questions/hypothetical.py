"""Hypothetical updates: INSERT, DELETE and UPDATE of base rows, read as changes that are not made.

UPDATE door SET state = 'locked' WHERE door_id = 'A.d1'
    −1 door('A.d1', 'open', …)    +1 door('A.d1', 'locked', …)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from aspen.errors import AspenError
from aspen.log.entry import Change
from aspen.model.delta import Delta, accumulate
from aspen.model.schema import Relation, SourceKind
from aspen.runtime.rows import RowCheck
from aspen.streamsql.compile import compile_statement
from aspen.streamsql.errors import NotAQuery, SyntaxRefused
from aspen.streamsql.statement import CHANGING, Statement, read_statements
from aspen.streamsql.table_change import table_change
from aspen.views.evaluate_once import evaluate_once
from smartcis.access.grants import Grant
from smartcis.catalog import CATALOG
from smartcis.compiling.fair_turn import fair_turn
from smartcis.errors import unknown
from smartcis.models.outbox import check_row
from smartcis.models.state import source_models

LENGTH = 4_000
CHANGES = 2_000


class CannotRead(AspenError, code="smartcis.hypothetical.cannot_read"):
    """A hypothetical update that is no INSERT, DELETE or UPDATE of base rows."""


def hypothetical_changes(text: str, granted: Grant) -> tuple[Change, ...]:
    """Returns the changes of base rows that statements stand for, as the database stands now.

    Args:
        text: statements, separated by semicolons.
        granted: whose rows may change, where rows have owners.

    Raises:
        CannotRead: something else than INSERT … VALUES, DELETE or UPDATE of one base relation.
        NotFound: no such base relation.
        AspenError: a name, type or value that is wrong.
    """
    try:
        statements = read_statements(text)
    except (NotAQuery, SyntaxRefused) as error:
        raise _unreadable(text, error.message) from error
    changes = [change for one in statements for change in _changes(one, granted)]
    if not changes:
        raise CannotRead(
            "that changes no base row", found=text[:80], attempt="see that its WHERE finds a row"
        )
    if len(changes) > CHANGES:
        raise CannotRead(
            f"that changes more than {CHANGES} rows",
            found=text[:80],
            attempt="change fewer",
        )
    return tuple(changes)


def _changes(statement: Statement, granted: Grant) -> Iterator[Change]:
    if statement.kind not in CHANGING:
        raise _unreadable(statement.kind.upper(), "it must be INSERT, DELETE or UPDATE")
    relation = _relation(statement)
    with fair_turn():
        change = table_change(statement, relation, partial(compile_statement, catalog=CATALOG))
    if statement.kind == "INSERT" and not change.constant:
        raise _unreadable(relation.name, "INSERT names its rows: INSERT INTO … VALUES (…)")
    if change.compiled.sources - {relation.name}:
        raise _unreadable(relation.name, f"it may read {relation.name} alone")
    held = {} if change.constant else _held(relation, granted)
    found = evaluate_once(change.compiled.plan, [relation], {relation.name: held})
    for row, count in found.items():
        old, new = change.of(row)
        if new is not None:
            check_row(relation, new)
        for _ in range(count):
            if old is not None:
                yield Change(relation.name, -1, old)
            if new is not None and granted.may_see(relation.name, relation.names, new):
                yield Change(relation.name, 1, new)


def _held(relation: Relation, granted: Grant) -> Delta:
    """Returns the rows of a relation as the database stands, as far as they may be seen."""
    rows: Delta = {}
    check = RowCheck(relation)
    for model in source_models():
        if relation.name in model.relations:
            for one in model.objects.select_related(*(model.rows_need or (None,))):
                for name, row in one.rows():
                    if name == relation.name and granted.may_see(name, relation.names, row):
                        accumulate(rows, check(row), 1)
    return rows


def _relation(statement: Statement) -> Relation:
    name = statement.name
    if name not in CATALOG:
        raise unknown("base relation", name, (relation.name for relation in CATALOG))
    relation = CATALOG.get(name)
    if relation.kind is SourceKind.STREAM and statement.kind != "INSERT":
        raise CannotRead(
            f"{name} is a stream: its readings cannot be named here",
            found=name,
            attempt="INSERT INTO it a reading; it replaces the newest one",
        )
    return relation


def _unreadable(text: str, reason: str) -> CannotRead:
    return CannotRead(
        f"this is no hypothetical update: {reason}",
        found=text[:80],
        attempt="UPDATE door SET state = 'locked' WHERE door_id = '…'",
    )
