"""Statements sqlglot does not know: ONCE, CREATE STREAM, OUTPUT TO, CREATE RECURSIVE VIEW."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from aspen.streamsql.dialect_alarm import begins_clause, parse_alarm

if TYPE_CHECKING:
    from aspen.streamsql.dialect import StreamParser

OUTPUTS = ("DISPLAY", "ALARM", "WEBHOOK")


class DeclaredColumn(exp.Expression):
    """`weight_kg FLOAT UNIT 'kg' NOT NULL` in a declaration."""

    arg_types = {"this": True, "kind": True, "unit": False, "filled": False, "key": False}  # noqa: RUF012  # sqlglot's protocol


class DeclaredRelation(exp.Expression):
    """`CREATE STREAM | TABLE name (…) FROM DEVICE … SAMPLE EVERY … TTL … NETWORK BY …`."""

    arg_types = {  # noqa: RUF012  # sqlglot's protocol
        "this": True,
        "kind": True,
        "columns": True,
        "keys": False,
        "device": False,
        "period_s": False,
        "ttl_s": False,
        "static": False,
        "network": False,
        "comment": False,
    }


class OutputTarget(exp.Expression):
    """`OUTPUT TO DISPLAY lobby`; an alarm's clauses besides (`dialect_alarm.py`)."""

    arg_types = {  # noqa: RUF012  # sqlglot's protocol
        "kind": True,
        "this": False,
        "keys": False,
        "raise_when": False,
        "raise_s": False,
        "clear_when": False,
        "clear_s": False,
        "silent_s": False,
        "severity": False,
        "notify": False,
    }


def parse_declaration(parser: StreamParser) -> DeclaredRelation:
    """Read `STREAM name (…) …` or `TABLE name (…) …`, behind CREATE."""
    kind = parser.word()
    name = parser.identifier()
    columns: list[DeclaredColumn] = []
    keys: list[exp.Expr] = []
    if not parser.matches(TokenType.L_PAREN):
        parser.raise_error("expected ( and the columns")
    while True:
        if parser.matches(TokenType.PRIMARY_KEY) or parser.says("KEY"):
            keys += parser.names()
        else:
            columns.append(_column(parser))
        if parser.matches(TokenType.R_PAREN):
            break
        if not parser.matches(TokenType.COMMA):
            parser.raise_error("expected , or )")
    found: dict[str, Any] = {"this": name, "kind": kind, "columns": columns, "keys": keys}
    _options(parser, found)
    return DeclaredRelation(**found)


def _column(parser: StreamParser) -> DeclaredColumn:
    name = parser.identifier()
    found: dict[str, Any] = {"this": name, "kind": parser.type_name()}
    while True:
        if parser.says("UNIT"):
            found["unit"] = parser.text()
        elif parser.says("NOT", "NULL"):
            found["filled"] = True
        elif parser.matches(TokenType.PRIMARY_KEY):
            found["key"] = True
        elif not parser.says("NULL"):
            return DeclaredColumn(**found)


def _options(parser: StreamParser, found: dict[str, Any]) -> None:
    while True:
        if parser.says("FROM", "DEVICE") or parser.says("DEVICE"):
            found["device"] = parser.identifier()
        elif parser.says("SAMPLE", "EVERY"):
            found["period_s"] = parser.parse_seconds()
        elif parser.says("TTL"):
            found["ttl_s"] = parser.parse_seconds()
        elif parser.says("STATIC"):
            found["static"] = True
        elif parser.says("NETWORK", "BY"):
            found["network"] = parser.identifier()
        elif parser.says("COMMENT"):
            found["comment"] = parser.text()
        else:
            return


def parse_outputs(parser: StreamParser) -> list[OutputTarget]:
    """Read `OUTPUT TO DISPLAY lobby, ALARM RAISE FOR 5 SECONDS` at the end of a statement."""
    targets: list[OutputTarget] = []
    while not targets or parser.matches(TokenType.COMMA):
        start = parser.here
        kind = parser.word()
        if kind not in OUTPUTS:
            parser.raise_error("expected DISPLAY, ALARM or WEBHOOK", start)
        if kind == "ALARM":
            named = "" if begins_clause(parser.here) else parser.argument()
            target = OutputTarget(kind=kind, this=named, **parse_alarm(parser))
        else:
            target = OutputTarget(kind=kind, this=parser.argument())
        target.meta.update(start=start.start, end=start.end)
        targets.append(target)
    return targets
