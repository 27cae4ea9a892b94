"""INTERVAL: a span of time as the seconds, and the months, that the text says.

INTERVAL '5 minutes'   INTERVAL 5 MINUTE   INTERVAL '1' HOUR   INTERVAL '1 day 02:30:00'
INTERVAL (n) DAYS      INTERVAL '1 month', which only a date can be moved by
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sqlglot import exp

from aspen.algebra.times import MONTHS, PARTS, SECONDS
from aspen.streamsql.errors import TypeMismatch
from aspen.streamsql.positions import whole

_PIECE = re.compile(
    r"\s*(?:(?P<amount>[+-]?\d+(?:\.\d+)?)\s*(?P<unit>[A-Za-z]+)"
    r"|(?P<sign>[+-]?)(?P<hours>\d+):(?P<minutes>\d{1,2})(?::(?P<seconds>\d{1,2}(?:\.\d+)?))?)",
    re.ASCII,
)


class Span(NamedTuple):
    """What an INTERVAL says.

    Args:
        counted: what is computed and counted in this span; None where all is written.
    """

    months: int = 0
    seconds: float = 0.0
    counted: exp.Expr | None = None


def span_of(tree: exp.Interval) -> Span:
    """Returns what an INTERVAL says.

    Raises:
        TypeMismatch: no span of time.
    """
    unit = str(getattr(tree.args.get("unit"), "name", "") or "")
    said = tree.this
    if isinstance(said, exp.Literal):
        found = _written(f"{said.name} {unit}")
    else:
        found = _of_unit(1.0, unit)
        found = None if found is None else found._replace(counted=said)
    if found is None:
        raise TypeMismatch(
            "this is no span of time",
            position=whole(tree),
            found=tree.sql(),
            exists=sorted(SECONDS.keys() | MONTHS.keys()),
            attempt="INTERVAL '5 minutes', INTERVAL 5 MINUTE, INTERVAL '1 day 02:30:00'",
        )
    return found


def _written(text: str) -> Span | None:
    whole_span, end = Span(), 0
    while text[end:].strip():
        found = _PIECE.match(text, end)
        if found is None:
            return None
        piece = _of_clock(found) if found["unit"] is None else _of_piece(found)
        if piece is None:
            return None
        whole_span = Span(whole_span.months + piece.months, whole_span.seconds + piece.seconds)
        end = found.end()
    return whole_span if end else None


def _of_piece(found: re.Match[str]) -> Span | None:
    return _of_unit(float(found["amount"]), found["unit"])


def _of_clock(found: re.Match[str]) -> Span:
    seconds = float(found["seconds"] or 0)
    seconds += 3600.0 * int(found["hours"]) + 60.0 * int(found["minutes"])
    return Span(0, -seconds if found["sign"] == "-" else seconds)


def _of_unit(amount: float, unit: str) -> Span | None:
    part = PARTS.get(unit.lower(), "")
    if part in SECONDS:
        return Span(0, amount * SECONDS[part])
    months = amount * MONTHS.get(part, 0)
    return Span(int(months)) if part in MONTHS and months.is_integer() else None
