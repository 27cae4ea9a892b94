"""Scalar functions: name → arity, types, units and what they compute.

Every function is total: where the mathematics has no (finite) answer it gives null.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aspen.model.schema import Type

_NUMBERS = frozenset({Type.INT, Type.FLOAT})
_TEXT = frozenset({Type.TEXT})
_ANY = frozenset(Type)
_ROUND_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Function:
    """One scalar function.

    Args:
        name: as StreamSQL spells it, in lower case.
        least: fewest arguments.
        most: most arguments, None for any number.
        accepts: types every argument may have; all arguments share one type, INT mixing with FLOAT.
        result: the type given, None for the arguments' common type.
        keeps_unit: whether the result carries the arguments' unit (which then must agree).
        strict: whether a null argument gives null without a call.
        call: what is computed.
    """

    name: str
    least: int
    most: int | None
    accepts: frozenset[Type]
    result: Type | None
    keeps_unit: bool
    call: Callable[..., Any]
    strict: bool = True


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _distance(x1: float, y1: float, x2: float, y2: float) -> float | None:
    try:
        return _finite(math.hypot(x2 - x1, y2 - y1))
    except OverflowError:
        return None


def _round(value: float, digits: float = 0) -> float | None:
    """Round half away from zero, as SQL does and Python does not."""
    if isinstance(value, int):
        return value
    places = int(digits)
    if abs(places) > _ROUND_DIGITS:
        return value
    scaled = abs(value) * 10.0**places
    if not math.isfinite(scaled):
        return value
    return math.copysign(math.floor(scaled + 0.5) / 10.0**places, value)


def _coalesce(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _sqrt(value: float) -> float | None:
    try:
        return math.sqrt(value) if value >= 0 else None
    except OverflowError:
        return None


def _to_float(value: Any) -> float | None:
    try:
        return _finite(float(value))
    except (ValueError, OverflowError):
        return None


def _to_int(value: Any) -> int | None:
    try:
        return int(value)
    except (ValueError, OverflowError):
        return None


def _to_text(value: Any) -> str:
    return str(value).upper() if isinstance(value, bool) else str(value)


FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        Function("abs", 1, 1, _NUMBERS, None, True, abs),
        Function("ceil", 1, 1, _NUMBERS, Type.INT, True, math.ceil),
        Function("coalesce", 1, None, _ANY, None, True, _coalesce, strict=False),
        Function("concat", 1, None, _TEXT, Type.TEXT, False, lambda *parts: "".join(parts)),
        Function("contains", 2, 2, _TEXT, Type.BOOL, False, lambda text, part: part in text),
        Function("distance", 4, 4, _NUMBERS, Type.FLOAT, True, _distance),
        Function("floor", 1, 1, _NUMBERS, Type.INT, True, math.floor),
        Function("greatest", 1, None, _ANY, None, True, lambda *values: max(values)),
        Function("least", 1, None, _ANY, None, True, lambda *values: min(values)),
        Function("length", 1, 1, _TEXT, Type.INT, False, len),
        Function("lower", 1, 1, _TEXT, Type.TEXT, False, str.lower),
        Function("round", 1, 2, _NUMBERS, None, True, _round),
        Function("sqrt", 1, 1, _NUMBERS, Type.FLOAT, False, _sqrt),
        Function("to_float", 1, 1, _ANY, Type.FLOAT, True, _to_float),
        Function("to_int", 1, 1, _ANY, Type.INT, True, _to_int),
        Function("to_text", 1, 1, _ANY, Type.TEXT, False, _to_text),
        Function("upper", 1, 1, _TEXT, Type.TEXT, False, str.upper),
    )
}
