"""Scalar functions: name → arity, types, units and what they compute.

Every function is total: where the mathematics has no (finite) answer it gives null. Whole numbers
beyond 64 bits are refused by whoever calls it (`aspen.algebra.evaluate`).
"""

from __future__ import annotations

import hashlib
import math
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

from aspen.algebra import arrays, patterns, texts, times
from aspen.algebra.array_functions import ARRAY_FUNCTIONS, ARRAYS
from aspen.algebra.decimals import COMPUTED
from aspen.algebra.function import Function
from aspen.algebra.whole import fits
from aspen.model.arrays import Array
from aspen.model.schema import Type
from aspen.model.times import READERS

_NUMBERS = frozenset({Type.INT, Type.FLOAT})
_EXACT = _NUMBERS | {Type.DECIMAL}
_TEXT = frozenset({Type.TEXT})
_ANY = frozenset(Type)
_ROUND_DIGITS = 15
_YES = ("true", "t", "yes", "1")
_NO = ("false", "f", "no", "0")
_INT = frozenset({Type.INT})
_TIMES = frozenset(kind for kind in Type if kind.is_time)
_MOMENTS = frozenset({Type.TIMESTAMP, Type.TIMESTAMPTZ})
_DAYS = _MOMENTS | {Type.DATE}
_SCALARS = _ANY - _TIMES - ARRAYS


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
    decimals = int(digits)
    if abs(decimals) > _ROUND_DIGITS:
        return value
    scaled = abs(value) * 10.0**decimals
    if not math.isfinite(scaled):
        return value
    return math.copysign(math.floor(scaled + 0.5) / 10.0**decimals, value)


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
    """Cut the fraction off, as SQLite does."""
    try:
        return int(value)
    except ValueError:
        return _to_int(_to_float(value)) if isinstance(value, str) else None
    except (OverflowError, TypeError):
        return None


def _try_to_int(value: Any) -> int | None:
    made = _to_int(value)
    return made if made is not None and fits(made) else None


def _to_bool(value: Any) -> bool | None:
    if isinstance(value, str):
        word = value.strip().lower()
        return True if word in _YES else False if word in _NO else None
    return bool(value)


def quotient(left: int, right: int) -> int | None:
    """Divide whole numbers, cutting the fraction off, as SQLite and PostgreSQL do."""
    if not right:
        return None
    whole = abs(left) // abs(right)
    return whole if (left < 0) == (right < 0) else -whole


def _power(base: float, exponent: float) -> float | None:
    try:
        made = float(base) ** float(exponent)
    except (OverflowError, ZeroDivisionError):
        return None
    return _finite(made) if isinstance(made, float) else None


def _of_positive(compute: Callable[[float], float]) -> Callable[[float], float | None]:
    return lambda value: compute(value) if value > 0 else None


def _exp(value: float) -> float | None:
    try:
        return math.exp(value)
    except OverflowError:
        return None


def _angle(compute: Callable[[float], float]) -> Callable[[float], float | None]:
    """Returns a function of an angle or a share, null outside of what it is defined for."""

    def computed(value: float) -> float | None:
        try:
            return _finite(compute(value))
        except (ValueError, OverflowError):
            return None

    return computed


def _log(base: float, value: float) -> float | None:
    if base <= 0 or base == 1 or value <= 0:
        return None
    return math.log(value) / math.log(base)


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _to_text(value: Any) -> str | None:
    if isinstance(value, Array):
        return arrays.spelt(value)
    return str(value).upper() if isinstance(value, bool) else str(value)


def _part(value: Any, parts: int) -> int | None:
    """Returns the part of `parts` a value falls into: 0 … parts - 1, the same in every process.

    Law: equal values fall into one part, whatever their types; a null falls into part 0.
    """
    if not parts or parts < 1:
        return None
    if value is None:
        return 0
    value = _alike(value)
    if isinstance(value, Array):
        value = repr(value)
    spelt = value if isinstance(value, str) else repr(+value)
    # Mixed [MurmurHash3's last step]: short numbers' checksums have remainders far from even.
    mixed = zlib.crc32(spelt.encode())
    for factor, shift in ((0x85EBCA6B, 16), (0xC2B2AE35, 13)):
        mixed = ((mixed ^ mixed >> shift) * factor) & 0xFFFFFFFF
    return (mixed ^ mixed >> 16) % parts


def _fingerprint(*values: Any) -> str:
    """Returns a text that stands for values: equal values have one, others differ [BLAKE2]."""
    alike = [_alike(value) if value.__class__ in _SPELT_APART else value for value in values]
    return hashlib.blake2b(repr(alike).encode(), digest_size=16).hexdigest()


_SPELT_APART = frozenset({float, Array})
"""Types of which equal values may be spelt differently: 1 and 1.0."""


def _alike(value: Any) -> Any:
    """Returns a value in the spelling that all values have which equal it."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return Array(map(_alike, value)) if isinstance(value, Array) else value


def _joined(between: str | None, *parts: str | None) -> str | None:
    return None if between is None else texts.joined(between, *parts)


def _text(  # a row of the table below
    name: str,
    least: int,
    most: int,
    result: Type,
    call: Callable[..., Any],
    each: tuple[frozenset[Type], ...] = (),
) -> Function:
    return Function(name, least, most, _TEXT, result, keeps_unit=False, call=call, each=each)


def _time(
    name: str, result: Type | None, call: Callable[..., Any], *each: frozenset[Type]
) -> Function:
    """A row of the table below; without a result, it gives the type of its first argument."""
    count = len(each)
    return Function(name, count, count, _ANY, result, False, call, each=each, total=False)


def _decimal(name: str, count: int, call: Callable[..., Any]) -> Function:
    result = {"decimal_float": Type.FLOAT, "decimal_text": Type.TEXT}.get(name, Type.INT)
    return Function(name, count, count, _ANY, result, True, call, total=False)


FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        Function("abs", 1, 1, _EXACT, None, True, abs),
        Function("ceil", 1, 1, _NUMBERS, Type.INT, True, math.ceil),
        Function("coalesce", 1, None, _ANY, None, True, _coalesce, strict=False),
        *(
            Function(name, 1, 1, _NUMBERS, Type.FLOAT, False, _angle(compute), total=False)
            for name, compute in (
                *(("acos", math.acos), ("asin", math.asin), ("atan", math.atan)),
                *(("cos", math.cos), ("sin", math.sin), ("tan", math.tan)),
                *(("degrees", math.degrees), ("radians", math.radians)),
            )
        ),
        Function("atan2", 2, 2, _NUMBERS, Type.FLOAT, False, math.atan2),
        Function("concat", 1, None, _TEXT, Type.TEXT, False, texts.concatenated),
        Function("contains", 2, 2, _TEXT, Type.BOOL, False, lambda text, part: part in text),
        Function("distance", 4, 4, _NUMBERS, Type.FLOAT, True, _distance, total=False),
        Function("fingerprint", 1, None, _ANY, Type.TEXT, False, _fingerprint, False, (_ANY,)),
        Function("floor", 1, 1, _NUMBERS, Type.INT, True, math.floor),
        Function("greatest", 1, None, _ANY, None, True, lambda *values: max(values)),
        Function("least", 1, None, _ANY, None, True, lambda *values: min(values)),
        Function("length", 1, 1, _TEXT | ARRAYS, Type.INT, False, len),
        Function("lower", 1, 1, _TEXT, Type.TEXT, False, str.lower),
        Function("ln", 1, 1, _NUMBERS, Type.FLOAT, False, _of_positive(math.log), total=False),
        Function("log", 2, 2, _NUMBERS, Type.FLOAT, False, _log, total=False),
        Function("log2", 1, 1, _NUMBERS, Type.FLOAT, False, _of_positive(math.log2), total=False),
        Function("log10", 1, 1, _NUMBERS, Type.FLOAT, False, _of_positive(math.log10), total=False),
        Function("exp", 1, 1, _NUMBERS, Type.FLOAT, False, _exp, total=False),
        Function("part", 2, 2, _ANY, Type.INT, False, _part, False, (_ANY, _INT), False),
        Function("power", 2, 2, _NUMBERS, Type.FLOAT, False, _power, total=False),
        Function("quotient", 2, 2, _INT, Type.INT, True, quotient, total=False),
        Function("round", 1, 2, _NUMBERS, None, True, _round),
        Function("sign", 1, 1, _EXACT, Type.INT, False, _sign),
        Function("sqrt", 1, 1, _NUMBERS, Type.FLOAT, False, _sqrt, total=False),
        Function("to_bool", 1, 1, _SCALARS, Type.BOOL, False, _to_bool, total=False),
        Function("to_float", 1, 1, _SCALARS, Type.FLOAT, True, _to_float, total=False),
        Function("to_int", 1, 1, _SCALARS, Type.INT, True, _to_int, total=False),
        Function("to_text", 1, 1, _ANY, Type.TEXT, False, _to_text),
        Function("try_to_int", 1, 1, _SCALARS, Type.INT, True, _try_to_int, total=False),
        Function("trunc", 1, 1, _NUMBERS, Type.INT, True, math.trunc),
        Function("upper", 1, 1, _TEXT, Type.TEXT, False, str.upper),
        Function("chr", 1, 1, _INT, Type.TEXT, False, texts.letter, total=False),
        Function("concat_ws", 2, None, _TEXT, Type.TEXT, False, _joined, False, total=False),
        _text("ascii", 1, 1, Type.INT, lambda text: ord(text[0]) if text else 0),
        _text("ends_with", 2, 2, Type.BOOL, str.endswith),
        _text("ilike", 2, 3, Type.BOOL, texts.ilike),
        _text("instr", 2, 2, Type.INT, lambda text, part: text.find(part) + 1),
        _text("left", 2, 2, Type.TEXT, lambda text, n: text[:n], (_TEXT, _INT)),
        _text("like", 2, 3, Type.BOOL, texts.like),
        _text("lpad", 3, 3, Type.TEXT, partial(texts.padded, left=True), (_TEXT, _INT, _TEXT)),
        _text("ltrim", 1, 2, Type.TEXT, lambda text, letters=" ": text.lstrip(letters)),
        _text("regexp_extract", 2, 3, Type.TEXT, patterns.extracted, (_TEXT, _TEXT, _INT)),
        _text("regexp_full_match", 2, 3, Type.BOOL, patterns.full_matches),
        _text("regexp_matches", 2, 3, Type.BOOL, patterns.matches),
        _text("regexp_replace", 3, 4, Type.TEXT, patterns.replaced),
        _text("repeat", 2, 2, Type.TEXT, texts.repeated, (_TEXT, _INT)),
        _text("replace", 3, 3, Type.TEXT, texts.replaced),
        _text("reverse", 1, 1, Type.TEXT, lambda text: text[::-1]),
        _text("right", 2, 2, Type.TEXT, lambda text, n: text[-n:] if n else "", (_TEXT, _INT)),
        _text("rpad", 3, 3, Type.TEXT, partial(texts.padded, left=False), (_TEXT, _INT, _TEXT)),
        _text("rtrim", 1, 2, Type.TEXT, lambda text, letters=" ": text.rstrip(letters)),
        _text("split_part", 3, 3, Type.TEXT, texts.part, (_TEXT, _TEXT, _INT)),
        _text("starts_with", 2, 2, Type.BOOL, str.startswith),
        _text("substr", 2, 3, Type.TEXT, texts.substr, (_TEXT, _INT)),
        _text("translate", 3, 3, Type.TEXT, texts.translated),
        _text("trim", 1, 2, Type.TEXT, lambda text, letters=" ": text.strip(letters)),
        _time("to_date", Type.DATE, READERS["DATE"], _DAYS | _TEXT),
        _time("to_time", Type.TIME, READERS["TIME"], _MOMENTS | {Type.TIME} | _TEXT),
        _time("to_datetime", Type.TIMESTAMP, READERS["TIMESTAMP"], _DAYS | _TEXT),
        _time("to_moment", Type.TIMESTAMPTZ, READERS["TIMESTAMPTZ"], _DAYS | _TEXT),
        _time("to_timestamp", Type.TIMESTAMPTZ, times.from_epoch, _NUMBERS),
        _time("add_days", Type.DATE, times.add_days, frozenset({Type.DATE}), _INT),
        _time("add_months", None, times.add_months, _MOMENTS, _INT),
        _time("add_seconds", None, times.add_seconds, _TIMES - {Type.DATE}, _NUMBERS),
        _time("date_diff", Type.INT, times.date_diff, _TEXT, _TIMES, _TIMES),
        _time("date_part", Type.INT, times.date_part, _TEXT, _TIMES),
        _time("date_sub", Type.INT, times.date_sub, _TEXT, _TIMES, _TIMES),
        _time("date_trunc", Type.TIMESTAMP, times.date_trunc, _TEXT, _DAYS),
        _time("dayname", Type.TEXT, times.dayname, _DAYS),
        _time("epoch", Type.FLOAT, lambda text: times.epoch_us(text) / 1e6, _TIMES),
        _time("epoch_ms", Type.INT, lambda text: times.epoch_us(text) // 1000, _TIMES),
        _time("epoch_us", Type.INT, times.epoch_us, _TIMES),
        _time("last_day", Type.DATE, times.last_day, _DAYS),
        _time("make_date", Type.DATE, times.make_date, *(_INT,) * 3),
        _time("make_time", Type.TIME, times.make_time, _INT, _INT, _NUMBERS),
        _time("make_timestamp", Type.TIMESTAMP, times.make_timestamp, *(_INT,) * 5, _NUMBERS),
        _time("monthname", Type.TEXT, times.monthname, _DAYS),
        _time("seconds_between", Type.FLOAT, times.seconds_between, _TIMES, _TIMES),
        _time("strftime", Type.TEXT, times.strftime, _DAYS, _TEXT),
        _time("time_bucket", Type.TIMESTAMP, times.time_bucket, _NUMBERS, _DAYS),
        _time("timezone", Type.TIMESTAMPTZ, times.in_zone, _TEXT, _DAYS),
        *(_decimal(name, count, compute) for name, (count, compute) in COMPUTED.items()),
        *ARRAY_FUNCTIONS,
    )
}
