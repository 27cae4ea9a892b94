"""Check a statement: what it is, and what comes of a query, without doing anything."""

from __future__ import annotations

from aspen.streamsql import Compiled
from aspen.streamsql.ast import CreateView, Select
from aspen.streamsql.script_ast import (
    CreateTable,
    Transact,
)
from smartcis.access.owner import Owner
from smartcis.actions.support.compile_for import compile_for
from smartcis.actions.support.own_relations import account_of
from smartcis.compiling.statement import nothing_here, read_statement


def check_statement(sql: str, owner: Owner) -> tuple[str, Compiled | None]:
    """Say what a text is, and what comes of a query, without doing anything.

    Returns:
        `query`, `once` or the statement's name; and the query, compiled.

    Raises:
        AspenError: what is wrong with it, and where.
    """
    statement = read_statement(sql)
    match statement:
        case Select(once=True):
            return "once", compile_for(sql, owner, once=True)
        case Select() | CreateView():
            return "query", compile_for(sql, owner)
        case CreateTable() | Transact():
            raise nothing_here(statement)
    account_of(owner)
    return type(statement).__name__.upper(), None
