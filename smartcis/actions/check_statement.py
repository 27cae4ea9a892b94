"""Check a statement: what it is, and what comes of a query, without doing anything."""

from __future__ import annotations

from aspen.streamsql import Compiled
from aspen.streamsql.statement import Statement
from smartcis.access.owner import Owner
from smartcis.actions.support.compile_for import compile_for
from smartcis.actions.support.own_relations import account_of
from smartcis.compiling.doubts import Doubt, doubts_about
from smartcis.compiling.live_catalog import live_catalog


def check_statement(statement: Statement, owner: Owner) -> tuple[str, Compiled | None, list[Doubt]]:
    """Say what a statement is, and what comes of a query, without doing anything.

    Returns:
        `query`, `once` or the statement's name; the query, compiled; and what speaks against
        running it as it stands.

    Raises:
        AspenError: what is wrong with it, and where.
    """
    if statement.asks:
        once = not statement.maintained
        catalog = live_catalog()
        compiled = compile_for(statement, owner, catalog, once=once)
        return statement.kind, compiled, doubts_about(statement, compiled, catalog)
    account_of(owner)
    return statement.kind, None, []
