"""DECIMAL: what two numbers share, how one becomes the other, and the digits of what comes out.

    a DECIMAL(10,2), b DECIMAL(5,1)     a + b  DECIMAL(11,2)    a * b  DECIMAL(15,3)    a / b  FLOAT

The digits are DuckDB's, up to the most there are; where the exact result may have more of them,
the expression refuses those rows of which it has.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from aspen.algebra.expr import Call, Const, Expr, Op
from aspen.errors import Position
from aspen.model.decimals import MOST_DIGITS
from aspen.model.schema import Type
from aspen.streamsql.decimals import call_of, converted, digits, scaled, text
from aspen.streamsql.errors import TypeMismatch
from aspen.streamsql.sql_types import TO_DECIMAL
from aspen.streamsql.typing_rules import Typed, beside_decimals, is_decimal

_CHECKED = {"+": "decimal_plus", "-": "decimal_minus", "*": "decimal_times"}
_AS_THEY_ARE = frozenset({"abs", "coalesce", "greatest", "least", "sign", "to_bool"})
"""Functions that do to units what they do to numbers."""
_WHOLE = {"ceil": "decimal_ceil", "floor": "decimal_floor"}
_CUT = frozenset({"trunc", "to_int", "try_to_int"})


def cast(name: str, arguments: Sequence[Typed], at: Position) -> Typed:
    """Type CAST(value AS DECIMAL(…)), or TRY_CAST.

    Args:
        name: one of TO_DECIMAL.
        arguments: the value, how many digits there are, and how many of them behind the point.

    Raises:
        TypeMismatch: a time, which is no number.
    """
    value, *given = arguments
    precision, scale = (
        one.expr.value if isinstance(one.expr, Const) and type(one.expr.value) is int else 0
        for one in given
    )
    wanted, kind = Type.decimal(precision, scale), value.type
    if kind is not None and kind.is_time:
        raise TypeMismatch(
            f"CAST AS {wanted.value} takes no {kind.value}",
            position=value.at,
            found=kind.value,
            exists=("BOOL", "DECIMAL", "FLOAT", "INT", "TEXT"),
            attempt="epoch(time) gives seconds",
        )
    if is_decimal(value):
        expr = scaled(value.expr, digits(kind or wanted)[1], scale)
    else:
        expr = call_of("decimal_units", value.expr, scale)
    if name == TO_DECIMAL[0]:
        expr = call_of("decimal_within", expr, precision, scale)
    else:
        expr = call_of("try_decimal_within", expr, precision)
    return Typed(expr, wanted, value.unit, True, at)


def levelled(symbol: str, left: Typed, right: Typed) -> tuple[Typed, Typed]:
    """Returns two numbers as an operator computes with them: in equal units, or both as FLOAT.

    A number with a point that is written beside a DECIMAL is one, with the digits it is written
    with. Nothing is out of range yet.
    """
    if not (is_decimal(left) or is_decimal(right)):
        return left, right
    left, right = beside_decimals((left, right))
    if symbol == "/" or Type.FLOAT in (left.type, right.type):
        return as_float(left), as_float(right)
    kinds = (left.type, right.type)
    if None in kinds or symbol == "*" or not all(kind.numeric for kind in kinds if kind):
        return left, right
    scale = max(digits(kind)[1] for kind in kinds if kind is not None)
    return _on_scale(left, scale), _on_scale(right, scale)


def computed(symbol: str, left: Typed, right: Typed, at: Position) -> tuple[Expr, Type]:
    """Returns `left symbol right` and its type, where one side is a DECIMAL.

    Args:
        symbol: one of `+ - * %`.

    Raises:
        TypeMismatch: a product of more digits behind the point than there are.
    """
    (p, s), (q, t) = digits(left.type or Type.INT), digits(right.type or Type.INT)
    if symbol == "*":
        precision, scale = p + q, s + t
    elif symbol == "%":
        precision, scale = max(p, q), max(s, t)
    elif left.expr == Const(0):
        precision, scale = q, t
    else:
        precision, scale = max(p - s, q - t) + max(s, t) + 1, max(s, t)
    if scale > MOST_DIGITS:
        raise TypeMismatch(
            f"the product has {scale} digits behind the point, more than a DECIMAL",
            position=at,
            found=f"DECIMAL({p},{s}) * DECIMAL({q},{t})",
            exists=(f"{MOST_DIGITS} digits",),
            attempt="CAST one of them to fewer digits: CAST(x AS DECIMAL(10, 2))",
        )
    if symbol == "%" or precision <= MOST_DIGITS:
        return Op(symbol, left.expr, right.expr), Type.decimal(min(precision, MOST_DIGITS), scale)
    exact = Call(_CHECKED[symbol], (left.expr, right.expr))
    checked = call_of("decimal_within", exact, MOST_DIGITS, scale)
    return checked, Type.decimal(MOST_DIGITS, scale)


def as_float(value: Typed) -> Typed:
    """Returns a DECIMAL as a FLOAT, and anything else as it is."""
    if not is_decimal(value) or value.type is None:
        return value
    return replace(value, expr=converted(value.expr, value.type, Type.FLOAT), type=Type.FLOAT)


def called(
    name: str, arguments: Sequence[Typed], accepts: Sequence[Collection[Type]], at: Position
) -> Sequence[Typed] | Typed:
    """Returns a call's arguments with decimals as it takes them, or what the whole call gives.

    Args:
        accepts: the types that each argument may have.
    """
    if not any(map(is_decimal, arguments)):
        return arguments
    made = _rounded(arguments, at) if name == "round" else _cast_from(name, arguments[0], at)
    if made is not None:
        return made
    if name in _AS_THEY_ARE:
        return beside_decimals(arguments)
    pairs = zip(arguments, accepts, strict=True)
    return [as_float(one) if Type.FLOAT in kinds else one for one, kinds in pairs]


def _cast_from(name: str, value: Typed, at: Position) -> Typed | None:
    scale = digits(value.type or Type.INT)[1]
    expr: Expr
    if name == "to_text":
        return Typed(text(value.expr, value.type), Type.TEXT, "", value.nullable, at)
    if name == "to_float":
        return replace(as_float(value), at=at)
    if name in _WHOLE:
        expr = call_of(_WHOLE[name], value.expr, scale)
    elif name in _CUT:
        expr = call_of("quotient", value.expr, 10**scale)
    else:
        return None
    return Typed(expr, Type.INT, value.unit, value.nullable, at)


def _rounded(arguments: Sequence[Typed], at: Position) -> Typed | None:
    """Types round(x) and round(x, 2); None where the digits are computed for each row."""
    value = arguments[0]
    given = arguments[1].expr if arguments[1:] else Const(0)
    if value.type is None or not isinstance(given, Const) or type(given.value) is not int:
        return None
    precision, scale = digits(value.type)
    kept = min(given.value, scale)
    if kept >= 0:
        made = Type.decimal(precision, kept)
        return Typed(scaled(value.expr, scale, kept), made, value.unit, value.nullable, at)
    expr = scaled(scaled(value.expr, scale, max(kept, -MOST_DIGITS)), max(kept, -MOST_DIGITS), 0)
    return Typed(expr, Type.decimal(precision, 0), value.unit, value.nullable, at)


def _on_scale(value: Typed, scale: int) -> Typed:
    precision, own = digits(value.type or Type.INT)
    if own == scale and value.type is not Type.INT:
        return value
    wider = Type.decimal(min(precision - own + scale, MOST_DIGITS), scale)
    return replace(value, expr=scaled(value.expr, own, scale), type=wider)
