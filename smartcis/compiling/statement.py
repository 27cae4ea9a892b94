"""Submitted statements: read once, at the edge, for everything that is done with them."""

from __future__ import annotations

from aspen.streamsql.statement import Statement, read_statement
from smartcis.errors import Invalid

SQL_LENGTH = 20_000


def submitted(sql: str) -> Statement:
    """Reads the one statement that somebody submits.

    Raises:
        AspenError: what is wrong with it, and where.
    """
    if len(sql) > SQL_LENGTH:
        raise Invalid(
            "the query is too long",
            found=f"{len(sql)} characters",
            exists=[f"up to {SQL_LENGTH}"],
        )
    return read_statement(sql)
