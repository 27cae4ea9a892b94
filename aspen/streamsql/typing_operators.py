"""Types and units of operators; a value that meets a time is read as one."""

from __future__ import annotations

from dataclasses import replace

from aspen import units
from aspen.algebra.expr import COMPARISONS, Call, Const, Expr, Op, columns_in, outer_in
from aspen.errors import Position
from aspen.model.schema import Type
from aspen.streamsql.decimals import read
from aspen.streamsql.errors import TypeMismatch
from aspen.streamsql.typing_decimals import computed, levelled
from aspen.streamsql.typing_rules import Typed, as_time, is_decimal, meet, meeting, require, widened
from aspen.streamsql.typing_times import moved


def operator(symbol: str, left: Typed, right: Typed, at: Position) -> Typed:
    """Type a binary operator."""
    if symbol in COMPARISONS:
        left, right = _as_number(left, right), _as_number(right, left)
    nullable = left.nullable or right.nullable
    if symbol in ("+", "-"):
        found = moved(symbol, left, right, at)
        if found is not None:
            return found
    if symbol in COMPARISONS:
        left, right = as_time(left, right), as_time(right, left)
        kind, fits = meet(left.type, right.type)
        if fits and kind is not None and kind.is_time:
            sides = (widened(side.expr, side.type, kind) for side in (left, right))
            return Typed(Op(symbol, *sides), Type.BOOL, "", nullable, at)
    left, right = levelled(symbol, left, right)
    expr: Expr = Op(symbol, left.expr, right.expr)
    if symbol in ("AND", "OR"):
        require(left, (Type.BOOL,), symbol)
        require(right, (Type.BOOL,), symbol)
        return Typed(expr, Type.BOOL, "", nullable, at)
    if symbol in COMPARISONS:
        kind, _ = meeting(left, right, "compare")
        if kind is Type.BOOL and symbol not in ("=", "<>"):
            raise TypeMismatch(
                f"truth values have no order for {symbol}",
                position=at,
                found="BOOL",
                exists=("=", "<>"),
                attempt="use the value itself, or NOT it",
            )
        return Typed(expr, Type.BOOL, "", nullable, at)
    for side in (left, right):
        require(side, (Type.INT, Type.FLOAT, Type.DECIMAL), symbol)
    if symbol in ("*", "/"):
        left, right = _scaled(left, right)
    if symbol == "/" and left.type is Type.INT and right.type is Type.INT:
        # Whole numbers divide to a whole number, as in SQLite, PostgreSQL and the SQL standard.
        unit = units.quotient(left.unit, right.unit)
        return Typed(Call("quotient", (left.expr, right.expr)), Type.INT, unit, True, at)
    if symbol in ("*", "/"):
        unit = (units.product if symbol == "*" else units.quotient)(left.unit, right.unit)
        kind = Type.FLOAT if symbol == "/" else meet(left.type, right.type)[0]
        if is_decimal(left) or is_decimal(right):
            expr, kind = computed(symbol, left, right, at)
        return Typed(expr, kind, unit, nullable or symbol == "/", at)
    doing = {"+": "add", "-": "subtract", "%": "divide"}[symbol]
    kind, unit = meeting(left, right, doing)
    if is_decimal(left) or is_decimal(right):
        expr, kind = computed(symbol, left, right, at)
    return Typed(expr, kind, unit, nullable or symbol == "%", at)


def _scaled(left: Typed, right: Typed) -> tuple[Typed, Typed]:
    """Takes the unit off what is multiplied with a written number: W / 1000 may be kW."""
    if _is_written(left) == _is_written(right):
        return left, right
    return replace(left, unit=""), replace(right, unit="")


def _is_written(value: Typed) -> bool:
    return not columns_in(value.expr) and not outer_in(value.expr)


def _as_number(value: Typed, other: Typed) -> Typed:
    """Read a quoted number as one where it meets a number, as SQL reads untyped literals."""
    if value.type is not Type.TEXT or not (
        isinstance(value.expr, Const) and isinstance(value.expr.value, str)
    ):
        return value
    if other.type is None or not other.type.numeric:
        return value
    if is_decimal(other) and (written := read(value.expr.value)) is not None:
        return replace(value, expr=written[0], type=written[1])
    try:
        number: int | float = int(value.expr.value)
    except ValueError:
        try:
            number = float(value.expr.value)
        except ValueError:
            return value
    if number - number:
        return value
    kind = Type.INT if isinstance(number, int) else Type.FLOAT
    return replace(value, expr=Const(number), type=kind)
