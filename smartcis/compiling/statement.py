"""Statement: what somebody submits is read once, and told apart: ask, ask once, declare, change."""

from __future__ import annotations

from aspen.streamsql.errors import NotAQuery, SyntaxRefused
from aspen.streamsql.parse import parse
from aspen.streamsql.script import parse_script
from aspen.streamsql.script_ast import ScriptStatement
from smartcis.errors import Invalid

SQL_LENGTH = 20_000


def read_statement(sql: str) -> ScriptStatement:
    """Read the one statement of a text.

    Raises:
        AspenError: what is wrong with it, and where.
    """
    if len(sql) > SQL_LENGTH:
        raise Invalid(
            "the query is too long",
            found=f"{len(sql)} characters",
            exists=[f"up to {SQL_LENGTH}"],
        )
    try:
        found: list[ScriptStatement] = [*parse(sql)]
    except NotAQuery:
        found = parse_script(sql)
    if len(found) != 1:
        raise SyntaxRefused(
            "one statement at a time",
            position=found[1].at,
            found=f"{len(found)} statements",
            attempt="submit them one by one",
        )
    return found[0]


def nothing_here(statement: ScriptStatement) -> NotAQuery:
    """Returns the refusal of what only scripts may say."""
    return NotAQuery(
        "every statement stands by itself here",
        position=statement.at,
        found=type(statement).__name__.upper(),
        attempt="CREATE TABLE t (a INT, b TEXT), INSERT INTO t VALUES (…), SELECT …",
    )
