"""Check a statement: what it is, and what comes of a query, without doing anything."""

from __future__ import annotations

from aspen.streamsql import Compiled
from aspen.streamsql.statement import Statement
from smartcis.access.owner import Owner
from smartcis.actions.support.compile_for import compile_for
from smartcis.actions.support.own_relations import account_of


def check_statement(statement: Statement, owner: Owner) -> tuple[str, Compiled | None]:
    """Say what a statement is, and what comes of a query, without doing anything.

    Returns:
        `query`, `once` or the statement's name; and the query, compiled.

    Raises:
        AspenError: what is wrong with it, and where.
    """
    if statement.asks:
        once = not statement.maintained
        return statement.kind, compile_for(statement, owner, once=once)
    account_of(owner)
    return statement.kind, None
