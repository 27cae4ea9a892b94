"""Types of what is computed of times: what + and - mean, and which part, zone or format there is.

A span of time is a FLOAT in s, so two timestamps differ by one, and one moves a timestamp.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aspen import units
from aspen.algebra import times
from aspen.algebra.expr import Call, Const, Expr, Op
from aspen.errors import Position
from aspen.model.schema import Type
from aspen.model.times import zone_named
from aspen.streamsql.errors import TypeMismatch, UnitMismatch, nearest, suggestion
from aspen.streamsql.typing_decimals import as_float
from aspen.streamsql.typing_rules import DAYS, Typed, as_time, meeting, spelt, widened

_SPAN = "INTERVAL '5 minutes'"
_HOUR = "EXTRACT(HOUR FROM time), date_trunc('hour', time)"
_OF_CLOCKS = ("hour", "minute", "second", "millisecond", "microsecond", "epoch")
_NOT_TRUNCATED = ("dow", "isodow", "doy", "isoyear", "yearweek", "epoch")
_PARTS_FIRST = ("date_part", "date_trunc", "date_diff", "date_sub")
_ALIKE = ("coalesce", "greatest", "least")


def moved(symbol: str, left: Typed, right: Typed, at: Position) -> Typed | None:
    """Type + or - where one side is a time, None where neither is.

    Raises:
        TypeMismatch: a time and something that neither moves it nor is one.
        UnitMismatch: a time and a quantity other than seconds.
    """
    left, right = as_time(left, right), as_time(right, left)
    if _is_time(left) and _is_time(right):
        return _of_two(symbol, left, right, at)
    if _is_time(right) and symbol == "+":
        left, right = right, left
    if not _is_time(left):
        if _is_time(right):
            raise _refused(symbol, left, right, f"time - {_SPAN}")
        return None
    return _shifted(symbol, left, as_float(right), at)


def _is_time(value: Typed) -> bool:
    return value.type is not None and value.type.is_time


def _of_two(symbol: str, left: Typed, right: Typed, at: Position) -> Typed:
    if symbol == "+":
        if {left.type, right.type} != {Type.DATE, Type.TIME}:
            raise _refused(symbol, left, right, f"time + {_SPAN}")
        day, clock = (left, right) if left.type is Type.DATE else (right, left)
        expr: Expr = Call("concat", (day.expr, Const(" "), clock.expr))
        return Typed(expr, Type.TIMESTAMP, "", day.nullable or clock.nullable, at)
    if left.type is right.type is Type.DATE:
        expr = Call("date_diff", (Const("day"), right.expr, left.expr))
        return Typed(expr, Type.INT, "", True, at)
    kind, _ = meeting(left, right, "subtract")
    ends = (widened(side.expr, side.type, kind) for side in (right, left))
    return Typed(Call("seconds_between", tuple(ends)), Type.FLOAT, "s", True, at)


def _shifted(symbol: str, left: Typed, right: Typed, at: Position) -> Typed:
    """Types a time and a number: days for a date and a bare INT, else seconds."""
    if right.type is not None and not right.type.numeric:
        raise _refused(symbol, left, right, f"time {symbol} {_SPAN}")
    if units.common(right.unit, "s") is None:
        raise UnitMismatch(
            f"a time moves by seconds, not by {right.unit}",
            position=right.at,
            found=right.unit,
            exists=("s",),
            attempt=f"time {symbol} {_SPAN}",
        )
    amount = right.expr if symbol == "+" else Op("-", Const(0), right.expr)
    bare = not right.unit
    if left.type is Type.DATE and bare and right.type in (Type.INT, None):
        return Typed(Call("add_days", (left.expr, amount)), Type.DATE, "", True, at)
    if bare and (right.type is Type.INT or isinstance(right.expr, Const)):
        raise _refused(symbol, left, right, f"time {symbol} INTERVAL '5 seconds'")
    kind = Type.TIMESTAMP if left.type is Type.DATE else left.type
    expr = Call("add_seconds", (widened(left.expr, left.type, kind), amount))
    return Typed(expr, kind, "", True, at)


def months_moved(left: Typed, months: Expr, at: Position) -> Typed:
    """Type a time and months, which the calendar says the length of.

    Raises:
        TypeMismatch: no time that has a date.
    """
    if left.type not in (None, *DAYS):
        raise TypeMismatch(
            f"months are added to a date, not to {spelt(left.type)}",
            position=left.at,
            found=spelt(left.type),
            exists=[kind.value for kind in DAYS],
            attempt="CAST(x AS TIMESTAMP) + INTERVAL '1 month'",
        )
    kind = Type.TIMESTAMPTZ if left.type is Type.TIMESTAMPTZ else Type.TIMESTAMP
    return Typed(
        Call("add_months", (widened(left.expr, left.type, kind), months)), kind, "", True, at
    )


def _refused(symbol: str, left: Typed, right: Typed, attempt: str) -> TypeMismatch:
    return TypeMismatch(
        f"there is no {spelt(left.type)} {symbol} {spelt(right.type)}",
        position=right.at,
        found=spelt(right.type),
        exists=("a span of time in s",),
        attempt=attempt,
    )


def shaped(name: str, arguments: Sequence[Typed]) -> tuple[list[Typed], Type | None]:
    """Returns a function's arguments as it takes them, and its result's type where they say it.

    Args:
        arguments: as many as it takes.

    Raises:
        TypeMismatch: no such part, zone or format, or a written text that is no time.
    """
    given = list(arguments)
    if name in _ALIKE:
        known = next(filter(_is_time, given), None)
        return [one if known is None else as_time(one, known) for one in given], None
    if name == "strftime" and _is_time(given[1]):
        given.reverse()
    if name in _PARTS_FIRST:
        given[1:] = _alike(given[1:])
        given[0] = _part(name, given[0], given[1].type)
    if name == "strftime":
        _check_format(given[1])
    if name == "timezone":
        _check_zone(given[0])
    if name.startswith("to_") and isinstance(given[0].expr, Const):
        wanted = {"to_date": "DATE", "to_time": "TIME", "to_datetime": "TIMESTAMP"}.get(name)
        kind = Type(wanted) if wanted else Type.TIMESTAMPTZ if name == "to_moment" else None
        if kind is not None and given[0].type is Type.TEXT:
            return [as_time(given[0], replace(given[0], type=kind))], kind
    if name in ("date_trunc", "timezone", "time_bucket"):
        return _dated(name, given)
    return given, None


def is_span(value: Typed) -> bool:
    """Whether a value is a span of time."""
    return value.type is Type.FLOAT and units.common(value.unit, "s") is not None


def _dated(name: str, given: list[Typed]) -> tuple[list[Typed], Type | None]:
    """Returns the arguments of what gives the kind of time that it takes, and which it gives."""
    kind = given[1].type
    if kind is Type.DATE and name != "time_bucket":
        kind = Type.TIMESTAMP
    given[1] = replace(given[1], expr=widened(given[1].expr, given[1].type, kind), type=kind)
    if name == "timezone":
        kind = Type.TIMESTAMP if kind is Type.TIMESTAMPTZ else Type.TIMESTAMPTZ
    return given, kind


def _alike(values: list[Typed]) -> list[Typed]:
    if len(values) == 1:
        return values
    one, other = as_time(values[0], values[1]), as_time(values[1], values[0])
    kind, _ = meeting(one, other, "compare")
    return [replace(v, expr=widened(v.expr, v.type, kind), type=kind) for v in (one, other)]


def _written(value: Typed, what: str, attempt: str) -> str:
    if isinstance(value.expr, Const) and isinstance(value.expr.value, str):
        return value.expr.value
    raise TypeMismatch(
        f"{what} is written in the query",
        position=value.at,
        found=spelt(value.type),
        exists=("a text in quotes",),
        attempt=attempt,
    )


def _part(name: str, value: Typed, kind: Type | None) -> Typed:
    word = _written(value, "the part of a time", _HOUR).lower()
    fit = [
        part
        for part in dict.fromkeys(times.PARTS.values())
        if (name == "date_part" or part not in _NOT_TRUNCATED)
        and (kind is not Type.TIME or part in _OF_CLOCKS)
    ]
    part = times.PARTS.get(word)
    if part not in fit:
        raise TypeMismatch(
            f"there is no part {word!r} of {spelt(kind)} here",
            position=value.at,
            found=word,
            exists=nearest(word, fit),
            attempt=suggestion(word, fit) or _HOUR,
        )
    return replace(value, expr=Const(part))


def _check_format(value: Typed) -> None:
    fault = times.format_fault(_written(value, "a format", "strftime(time, '%d.%m.%Y')"))
    if fault:
        raise TypeMismatch(
            f"{fault} stands for nothing in a format",
            position=value.at,
            found=fault,
            exists=[f"%{code}" for code in times.CODES],
            attempt="strftime(time, '%d.%m.%Y %H:%M')",
        )


def _check_zone(value: Typed) -> None:
    zone = value.expr.value if isinstance(value.expr, Const) else None
    if isinstance(zone, str) and zone_named(zone) is None:
        raise TypeMismatch(
            f"there is no time zone {zone!r}",
            position=value.at,
            found=zone,
            exists=("the tz database's names",),
            attempt="AT TIME ZONE 'Europe/Berlin', or 'UTC'",
        )
