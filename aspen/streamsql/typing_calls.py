"""Types and units of scalar functions; every refusal names what would have fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from aspen.algebra.array_functions import ARRAY_FUNCTIONS
from aspen.algebra.expr import Call, Const
from aspen.algebra.function import Function
from aspen.algebra.functions import FUNCTIONS
from aspen.algebra.patterns import is_pattern
from aspen.algebra.plan import AggregateFunction, PickFunction, RankFunction
from aspen.errors import Position
from aspen.model.schema import Type
from aspen.streamsql.decimals import text
from aspen.streamsql.errors import (
    TypeMismatch,
    UnknownFunction,
    WrongArity,
    nearest,
    suggestion,
)
from aspen.streamsql.sql_types import CASTS, TO_DECIMAL, TRIES
from aspen.streamsql.typing_arrays import array_name, fitted, listed
from aspen.streamsql.typing_decimals import called, cast
from aspen.streamsql.typing_rules import Typed, joined, require, widened
from aspen.streamsql.typing_times import is_span, shaped

_SHAPES = {"distance": "distance(x1, y1, x2, y2)", "round": "round(x) or round(x, digits)"}
_SHOWN = 16
_DIGITS_AND_VALUE = 3
_OF_ARRAYS = frozenset(function.name for function in ARRAY_FUNCTIONS)
NOW = {
    "now": Type.TIMESTAMPTZ,
    "current_timestamp": Type.TIMESTAMPTZ,
    "get_current_timestamp": Type.TIMESTAMPTZ,
    "transaction_timestamp": Type.TIMESTAMPTZ,
    "localtimestamp": Type.TIMESTAMP,
    "current_date": Type.DATE,
    "today": Type.DATE,
    "current_time": Type.TIME,
    "localtime": Type.TIME,
}
"""What tells the log's time, in UTC, and its type."""
_SPOKEN = {
    name: f"{spelt} AS {kind.value}"
    for spelt, names in (("TRY_CAST", TRIES), ("CAST", CASTS))
    for kind, name in names.items()
}
_IN_SECONDS = frozenset({"epoch", "seconds_between"})


def call(name: str, arguments: Sequence[Typed], at: Position) -> Typed:
    """Type a scalar function.

    Raises:
        UnknownFunction: no such function.
        WrongArity: too few or too many arguments.
    """
    if name in TO_DECIMAL and len(arguments) == _DIGITS_AND_VALUE:
        return cast(name, arguments, at)
    name = array_name(name, arguments)
    known = FUNCTIONS.get(name)
    if known is None:
        names = (*FUNCTIONS, *NOW, *(one.value.lower() for one in AggregateFunction))
        over = name.upper() in {*RankFunction.__members__, *PickFunction.__members__}
        behind = f"{name}(…) OVER (ORDER BY column)" if over else suggestion(name, names)
        raise UnknownFunction(
            f"{name} needs OVER" if over else f"there is no function {name!r}",
            position=at,
            found=name,
            exists=nearest(name, names)[:_SHOWN],
            attempt=behind,
        )
    if len(arguments) < known.least or (known.most is not None and len(arguments) > known.most):
        raise WrongArity(
            f"{name} takes {_count(known)}, not {len(arguments)}",
            position=at,
            found=str(len(arguments)),
            exists=(_count(known),),
            attempt=_SHAPES.get(name, f"{name}(…) with {_count(known)}"),
        )
    if name in ("concat", "concat_ws"):
        arguments = [_as_text(argument) for argument in arguments]
    if name.startswith("regexp_"):
        _check_pattern(arguments[1])
    if name == "epoch" and is_span(arguments[0]):
        return replace(arguments[0], unit="s")
    if name == "list_value":
        return listed(arguments, at)
    accepts = [
        known.each[min(i, len(known.each) - 1)] if known.each else known.accepts
        for i in range(len(arguments))
    ]
    by_array = name in _OF_ARRAYS
    found = arguments if by_array else called(name, arguments, accepts, at)
    if isinstance(found, Typed):
        return found
    arguments, result = fitted(name, found) if by_array else shaped(name, found)
    for argument, kinds in zip(arguments, accepts, strict=True):
        require(argument, sorted(kinds, key=lambda kind: kind.value), _SPOKEN.get(name, name))
    # The digits of round(x, digits) are a bare number.
    measured = arguments[:1] if name == "round" or known.each else arguments
    shared = reduce(lambda one, other: joined(one, other, f"give {name}"), measured)
    nullable = any(argument.nullable for argument in arguments)
    if name == "coalesce":
        nullable = all(argument.nullable for argument in arguments)
    nullable = nullable or not known.total
    unit = shared.unit if known.keeps_unit else "s" if name in _IN_SECONDS else ""
    kind = (known.result or result if by_array else result or known.result) or shared.type
    # Functions that give their arguments' type must not let an INT out where FLOAT is promised.
    widen = known.result is None and name != "round" and not by_array
    exprs = tuple(widened(a.expr, a.type, kind) if widen else a.expr for a in arguments)
    return Typed(Call(name, exprs), kind, unit, nullable, at)


def time_of(name: str, moment: Typed) -> Typed:
    """Type a function of the log's time.

    Args:
        name: one of NOW.
        moment: the log's time.
    """
    kind = NOW[name]
    return moment if moment.type is kind else call(CASTS[kind], [moment], moment.at)


def _check_pattern(given: Typed) -> None:
    pattern = given.expr.value if isinstance(given.expr, Const) else None
    if isinstance(pattern, str) and not is_pattern(pattern):
        raise TypeMismatch(
            "this text is no regular expression",
            position=given.at,
            found=pattern,
            exists=("RE2's syntax",),
            attempt=r"letters stand for themselves; \. for a full stop, [0-9]+ for digits",
        )


def _as_text(value: Typed) -> Typed:
    """Spell a value that is joined with texts."""
    if value.type in (None, Type.TEXT):
        return value
    return replace(value, expr=text(value.expr, value.type), type=Type.TEXT, unit="")


def _count(known: Function) -> str:
    if known.most is None:
        return f"at least {known.least} argument(s)"
    if known.least == known.most:
        return f"{known.least} argument(s)"
    return f"{known.least} to {known.most} arguments"
