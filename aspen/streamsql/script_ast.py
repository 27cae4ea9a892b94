"""Statements of scripts: what changes tables. StreamSQL texts only ask; scripts also fill."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from aspen.errors import Position
from aspen.model.schema import Relation
from aspen.streamsql.ast import NOWHERE, Expression, Query, Statement


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
    query: Query | None = None
    if_not_exists: bool = False
    defaults: tuple[tuple[str, Expression], ...] = ()
    replace: bool = False
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Insert:
    """`INSERT INTO table (columns) query`; no columns: all, in order."""

    table: str
    columns: tuple[str, ...]
    query: Query
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Delete:
    """`DELETE FROM table WHERE …`."""

    table: str
    where: Expression | None
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Update:
    """`UPDATE table SET column = value, … WHERE …`."""

    table: str
    values: tuple[tuple[str, Expression], ...]
    where: Expression | None
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Drop:
    """`DROP TABLE | VIEW name`."""

    name: str
    if_exists: bool
    at: Position = field(default=NOWHERE, compare=False, repr=False)


class Step(Enum):
    """What a transaction statement does."""

    BEGIN = "BEGIN"
    COMMIT = "COMMIT"
    ROLLBACK = "ROLLBACK"


@dataclass(frozen=True, slots=True)
class Transact:
    """`BEGIN`, `COMMIT`, `ROLLBACK`."""

    step: Step
    at: Position = field(default=NOWHERE, compare=False, repr=False)


ScriptStatement = Statement | CreateTable | Insert | Delete | Update | Drop | Transact
