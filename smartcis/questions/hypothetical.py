"""Suppose: INSERT, DELETE and UPDATE of base rows, read as changes that are not made.

UPDATE door SET state = 'locked' WHERE door_id = 'A.d1'
    −1 door('A.d1', 'open', …)    +1 door('A.d1', 'locked', …)
"""

from __future__ import annotations

from collections.abc import Iterator

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from aspen.errors import AspenError
from aspen.log.entry import Change
from aspen.model.delta import Delta, accumulate
from aspen.model.schema import Relation, Row, SourceKind
from aspen.runtime.rows import RowCheck
from aspen.streamsql import compile_query
from aspen.views.oracle import evaluate
from smartcis.access.grants import Grant
from smartcis.catalog import CATALOG
from smartcis.errors import unknown
from smartcis.models.state import source_models
from smartcis.questions.asking import may_see

LENGTH = 4_000
CHANGES = 2_000


class CannotRead(AspenError):
    """A supposition that is no INSERT, DELETE or UPDATE of base rows."""

    code = "smartcis.suppose.cannot_read"


def suppose(text: str, granted: Grant) -> tuple[Change, ...]:
    """Returns the changes of base rows that statements stand for, as the database stands now.

    Args:
        text: statements, separated by semicolons.
        granted: whose rows may be supposed to change, where rows have owners.

    Raises:
        CannotRead: something else than INSERT … VALUES, DELETE or UPDATE of one base relation.
        NotFound: no such base relation.
        AspenError: a name, type or value that is wrong.
    """
    try:
        statements = [one for one in sqlglot.parse(text[:LENGTH]) if one is not None]
    except SqlglotError as error:
        raise _unreadable(text, str(error).splitlines()[0]) from error
    changes = [change for one in statements for change in _changes(one, granted)]
    if not changes:
        raise CannotRead(
            "that changes no base row", found=text[:80], attempt="see that its WHERE finds a row"
        )
    if len(changes) > CHANGES:
        raise CannotRead(
            f"that changes more than {CHANGES} rows", found=text[:80], attempt="suppose less"
        )
    return tuple(changes)


def _changes(statement: exp.Expr, granted: Grant) -> Iterator[Change]:
    match statement:
        case exp.Insert():
            target, values = statement.this, statement.expression
            table = target.this if isinstance(target, exp.Schema) else target
            relation = _relation(table)
            if isinstance(target, exp.Schema) or not isinstance(values, exp.Values):
                raise _unreadable(statement.sql(), "give a value for every column, in their order")
            for row in values.expressions:
                yield from _inserted(relation, row.sql(), granted)
        case exp.Delete():
            relation = _table(statement.this)
            for row in _found(relation, relation.names, statement.args.get("where"), granted):
                yield Change(relation.name, -1, row)
        case exp.Update():
            relation = _table(statement.this)
            where, news = statement.args.get("where"), dict(_set(statement, relation))
            outputs = [news.get(name, name) for name in relation.names]
            width = len(relation.names)
            both = _found(relation, [*relation.names, *outputs], where, granted)
            for row in both:
                yield Change(relation.name, -1, row[:width])
                after = RowCheck(relation)(row[width:])
                if may_see(granted, relation, after):
                    yield Change(relation.name, 1, after)
        case _:
            raise _unreadable(statement.sql(), "it must be INSERT, DELETE or UPDATE")


def _set(statement: exp.Update, relation: Relation) -> Iterator[tuple[str, str]]:
    for assigned in statement.expressions:
        name = assigned.this.name
        relation.index(name)
        yield name, assigned.expression.sql()


def _inserted(relation: Relation, values: str, granted: Grant) -> Iterator[Change]:
    listed = sqlglot.parse_one(f"SELECT {values.strip('()')}").expressions
    if len(listed) != len(relation.columns):
        raise _unreadable(values, f"{relation.name} has {len(relation.columns)} columns")
    outputs = ", ".join(f"{one.sql()} AS c{n}" for n, one in enumerate(listed))
    # A row to compute over: constants may be written as expressions, such as -1.
    plan = compile_query(f"SELECT {outputs} FROM clock c", CATALOG).plan  # noqa: S608 - read by StreamSQL, never run by a database
    for row in evaluate(plan, {"clock": {(0.0,): 1}}):
        checked = RowCheck(relation)(row)
        if may_see(granted, relation, checked):
            yield Change(relation.name, 1, checked)


def _found(
    relation: Relation,
    outputs: list[str] | tuple[str, ...],
    where: exp.Where | None,
    granted: Grant,
) -> list[Row]:
    named = ", ".join(f"{expr} AS c{number}" for number, expr in enumerate(outputs))
    text = f"SELECT {named} FROM {relation.name}" + (f" {where.sql()}" if where else "")  # noqa: S608 - the same
    compiled = compile_query(text, CATALOG)
    if compiled.sources != {relation.name}:
        raise _unreadable(text, f"its WHERE may read {relation.name} alone")
    rows: Delta = {}
    for model in source_models():
        if relation.name in model.relations:
            for one in model.objects.select_related(*(model.rows_need or (None,))):
                for name, row in one.rows():
                    checked = RowCheck(relation)(row) if name == relation.name else ()
                    if checked and may_see(granted, relation, checked):
                        accumulate(rows, checked, 1)
    return [
        row for row, n in evaluate(compiled.plan, {relation.name: rows}).items() for _ in range(n)
    ]


def _table(table: exp.Expression) -> Relation:
    relation = _relation(table)
    if relation.kind is SourceKind.STREAM:
        raise CannotRead(
            f"{relation.name} is a stream: its readings cannot be named here",
            found=relation.name,
            attempt="INSERT INTO it the reading you suppose; it takes the newest one's place",
        )
    return relation


def _relation(table: exp.Expression) -> Relation:
    name = table.name
    if name not in CATALOG:
        raise unknown("base relation", name, (relation.name for relation in CATALOG))
    return CATALOG.get(name)


def _unreadable(text: str, reason: str) -> CannotRead:
    return CannotRead(
        f"cannot suppose that: {reason}",
        found=text[:80],
        attempt="UPDATE door SET state = 'locked' WHERE door_id = '…'",
    )
