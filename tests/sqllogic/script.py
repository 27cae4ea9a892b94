"""Statements that only scripts have: CREATE TABLE with constraints, BEGIN, COMMIT, ROLLBACK."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sqlglot import exp

from aspen.model.schema import Column, Relation
from aspen.streamsql.dialect import StreamParser, StreamSql
from aspen.streamsql.parse import read_trees
from aspen.streamsql.positions import whole
from aspen.streamsql.sql_types import type_of
from aspen.streamsql.statement import Statement, statement_of, target_name
from aspen.streamsql.tree import unsupported

_GENERATED = (exp.GeneratedAsIdentityColumnConstraint, exp.ComputedColumnConstraint)


class ScriptParser(StreamParser):
    """The parser of scripts: sqlglot reads their CREATE TABLE, constraints and all."""

    DECLARED = ("STREAM",)


class ScriptSql(StreamSql):
    """StreamSQL beside statements that make tables."""

    Parser = ScriptParser


@dataclass(frozen=True, slots=True)
class CreateTable:
    """`CREATE TABLE name (…)`.

    Args:
        unique: column sets no two rows may share.
        defaults: what a column is filled with where an INSERT leaves it out.
        replace: `CREATE OR REPLACE`: what was there goes.
        query: what it is filled with, `CREATE TABLE t AS SELECT …`; its columns come from there.
    """

    relation: Relation
    unique: tuple[tuple[str, ...], ...] = ()
    query: exp.Expr | None = None
    if_not_exists: bool = False
    defaults: tuple[tuple[str, exp.Expr], ...] = ()
    replace: bool = False


class Step(Enum):
    """What a transaction statement does."""

    BEGIN = "BEGIN"
    COMMIT = "COMMIT"
    ROLLBACK = "ROLLBACK"


ScriptStatement = Statement | CreateTable | Step


def parse_script(text: str) -> list[ScriptStatement]:
    """Read the statements of a script, in order.

    Raises:
        SyntaxRefused: the text is no SQL.
        Unsupported: it is SQL that scripts leave out.
    """
    return [_statement(tree, text) for tree in read_trees(text, ScriptSql)]


def asked(query: exp.Expr) -> Statement:
    """Returns a query that is asked once."""
    return Statement("", "once", query, whole(query))


def _statement(tree: exp.Expr, text: str) -> ScriptStatement:
    match tree:
        case exp.Create() if tree.args.get("kind") == "TABLE":
            return _create_table(tree)
        case exp.Transaction() | exp.Commit() | exp.Rollback():
            return Step(type(tree).__name__.upper().replace("TRANSACTION", "BEGIN"))
    return statement_of(tree, text)


def _create_table(tree: exp.Create) -> CreateTable:
    exists, again = bool(tree.args.get("exists")), bool(tree.args.get("replace"))
    if isinstance(tree.expression, exp.Query):
        relation = Relation(target_name(tree.this), ())
        return CreateTable(relation, query=tree.expression, if_not_exists=exists, replace=again)
    if not isinstance(tree.this, exp.Schema):
        raise unsupported("CREATE TABLE without columns", tree, "CREATE TABLE t (a INTEGER)")
    columns: list[Column] = []
    unique: list[tuple[str, ...]] = []
    defaults: list[tuple[str, exp.Expr]] = []
    required: set[str] = set()
    for part in tree.this.expressions:
        if isinstance(part, exp.ColumnDef):
            column, alone = _column(part)
            columns.append(column)
            defaults += _default(part)
            unique += [(column.name,)] if alone else []
            continue
        names = _constraint(part)
        if names:
            unique.append(names)
        if isinstance(part, exp.PrimaryKey):
            required.update(names)
    columns = [
        Column(c.name, c.type, c.unit, nullable=False) if c.name in required else c for c in columns
    ]
    relation = Relation(target_name(tree.this.this), tuple(columns))
    return CreateTable(relation, tuple(unique), None, exists, tuple(defaults), again)


def _kinds(tree: exp.ColumnDef) -> list[exp.Expr]:
    return [constraint.args.get("kind") for constraint in tree.args.get("constraints") or ()]


def _default(tree: exp.ColumnDef) -> list[tuple[str, exp.Expr]]:
    for found in _kinds(tree):
        if isinstance(found, _GENERATED):
            raise unsupported("a generated column", tree, "a view")
    return [
        (tree.name, found.this)
        for found in _kinds(tree)
        if isinstance(found, exp.DefaultColumnConstraint)
    ]


def _column(tree: exp.ColumnDef) -> tuple[Column, bool]:
    """Returns a column, and whether no two rows may share its value."""
    kind = type_of(tree.args.get("kind") or exp.DataType.build("TEXT"), whole(tree))
    kinds = _kinds(tree)
    primary = any(isinstance(found, exp.PrimaryKeyColumnConstraint) for found in kinds)
    filled = primary or any(
        isinstance(found, exp.NotNullColumnConstraint) and not found.args.get("allow_null")
        for found in kinds
    )
    alone = primary or any(isinstance(found, exp.UniqueColumnConstraint) for found in kinds)
    return Column(tree.name, kind, "", not filled), alone


def _constraint(tree: exp.Expr) -> tuple[str, ...]:
    if isinstance(tree, exp.Constraint):
        return next((key for part in tree.expressions if (key := _constraint(part))), ())
    if isinstance(tree, exp.PrimaryKey):
        return tuple(part.find(exp.Identifier).name for part in tree.expressions)
    if isinstance(tree, exp.UniqueColumnConstraint):
        return tuple(part.name for part in tree.this.expressions)
    # Foreign keys and checks describe rows that are right; scripts bring right rows.
    return ()
