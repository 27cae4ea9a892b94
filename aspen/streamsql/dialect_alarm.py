"""The clauses of OUTPUT TO ALARM: KEY, RAISE, CLEAR, NO DATA, SEVERITY, NOTIFY."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

if TYPE_CHECKING:
    from aspen.streamsql.dialect import StreamParser

SEVERITIES = ("info", "warning", "critical")
NOTIFIED = ("EMAIL", "WEBHOOK")
CLAUSES = ("KEY", "RAISE", "CLEAR", "NO DATA", "SEVERITY", "NOTIFY")
_BEGINNINGS = frozenset(clause.split()[0] for clause in CLAUSES)


def begins_clause(token: Any) -> bool:
    """Returns whether a token stands for a clause and not for an alarm's name."""
    bare = token is not None and token.token_type is not TokenType.STRING
    return bare and token.text.upper() in _BEGINNINGS


def parse_alarm(parser: StreamParser) -> dict[str, Any]:
    """Read `KEY (rid) RAISE WHEN celsius >= 26 FOR 30 SECONDS …`, in any order."""
    found: dict[str, Any] = {}
    while parser.here and parser.here.token_type is not TokenType.COMMA:
        start = parser.here
        if parser.says("KEY"):
            _once(parser, found, "keys", "KEY", start)
            found["keys"] = parser.names()
            if not found["keys"]:
                parser.raise_error("expected a column, as in KEY (rid)")
        elif parser.says("RAISE"):
            _once(parser, found, "raise", "RAISE", start)
            _threshold(parser, found, "raise")
        elif parser.says("CLEAR"):
            _once(parser, found, "clear", "CLEAR", start)
            _threshold(parser, found, "clear")
        elif parser.says("NO", "DATA"):
            _once(parser, found, "silent_s", "NO DATA", start)
            if not parser.says("AFTER"):
                parser.raise_error("expected AFTER and a span of time")
            found["silent_s"] = parser.parse_seconds()
        elif parser.says("SEVERITY"):
            _once(parser, found, "severity", "SEVERITY", start)
            found["severity"] = _severity(parser)
        elif parser.says("NOTIFY"):
            found.setdefault("notify", []).append(_notified(parser))
        else:
            parser.raise_error(f"expected {', '.join(CLAUSES[:-1])} or {CLAUSES[-1]}")
    return found


def _once(parser: StreamParser, found: dict[str, Any], name: str, clause: str, start: Any) -> None:
    if any(key in found for key in (name, f"{name}_when", f"{name}_s")):
        parser.raise_error(f"{clause} is said twice", start)


def _threshold(parser: StreamParser, found: dict[str, Any], name: str) -> None:
    if parser.says("WHEN"):
        found[f"{name}_when"] = parser.condition()
    if parser.says("FOR"):
        found[f"{name}_s"] = parser.parse_seconds()
    if f"{name}_when" not in found and f"{name}_s" not in found:
        parser.raise_error("expected WHEN and a condition, or FOR and a span of time")


def _severity(parser: StreamParser) -> str:
    start = parser.here
    word = parser.argument().lower()
    if word not in SEVERITIES:
        parser.raise_error("expected info, warning or critical", start)
    return word


def _notified(parser: StreamParser) -> exp.Expr:
    start = parser.here
    kind = parser.word()
    if kind not in NOTIFIED:
        parser.raise_error("expected EMAIL or WEBHOOK", start)
    target = Notified(kind=kind, this=parser.text())
    target.meta.update(start=start.start, end=start.end)
    return target


class Notified(exp.Expression):
    """`NOTIFY EMAIL 'house@example.org'`."""

    arg_types = {"kind": True, "this": True}  # noqa: RUF012  # sqlglot's protocol
