"""Types of what is computed of arrays: all values of one are of one type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from aspen.algebra.array_functions import ARRAYS
from aspen.algebra.evaluate import compile_expr
from aspen.algebra.expr import Call, Const, Expr
from aspen.errors import Position
from aspen.model.schema import Type
from aspen.streamsql.errors import TypeMismatch
from aspen.streamsql.typing_rules import Typed, as_time, joined, meeting, spelt, widened

_OF_TEXTS = {"concat": "list_joined", "contains": "list_contains", "reverse": "list_reverse"}
"""Functions of texts that arrays have under another name."""
_VALUE_AT = {
    **dict.fromkeys(("equals_any", "list_append", "list_contains", "list_position"), 1),
    "list_prepend": 0,
}
"""Which argument is a value beside an array of its kind."""
_ALIKE = ("list_concat", "list_joined", "list_has_all", "list_has_any", "list_intersect")
_HELD = tuple(kind.value for kind in Type if kind.array is not None)
_ELEMENT = ("list_extract", "list_max", "list_min", "list_sum")


def array_name(name: str, arguments: Sequence[Typed]) -> str:
    """Returns what a function is called where it is given arrays."""
    if name in _OF_TEXTS and any(one.type in ARRAYS for one in arguments):
        return _OF_TEXTS[name]
    return name


def cast_array(value: Typed, kind: Type) -> Typed:
    """Type a value that CAST says is an array.

    Raises:
        TypeMismatch: it is of another type.
    """
    if value.type not in (None, kind):
        raise TypeMismatch(
            f"CAST does not make {kind.value} of {spelt(value.type)}",
            position=value.at,
            found=spelt(value.type),
            exists=(kind.value,),
            attempt="CAST each value before it is put into an array",
        )
    return replace(value, type=kind)


def listed(arguments: Sequence[Typed], at: Position, holds: Type | None = None) -> Typed:
    """Type an array of values as they are written.

    Args:
        holds: the type of its values, where something says it.

    Raises:
        TypeMismatch: values of several types, or of none, or arrays.
    """
    known = next((one for one in arguments if one.type is not None and one.type.is_time), None)
    given = arguments if known is None else [as_time(one, known) for one in arguments]
    null = Typed(Const(None), holds, "", False, at)
    shared = reduce(lambda one, other: joined(one, other, "put into one array"), given, null)
    if shared.type is None:
        raise TypeMismatch(
            "nothing says what this array holds",
            position=at,
            exists=_HELD,
            attempt="CAST([] AS INT[])",
        )
    if shared.type.array is None:
        raise TypeMismatch(
            f"an array holds no {shared.type.value}",
            position=at,
            found=shared.type.value,
            exists=_HELD,
            attempt="a row for each, or list_concat(a, b) of arrays",
        )
    exprs = tuple(widened(one.expr, one.type, shared.type) for one in given)
    expr: Expr = Call("list_value", exprs)
    if all(isinstance(one, Const) for one in exprs):
        expr = Const(compile_expr(expr, ())(()))
    return Typed(expr, shared.type.array, shared.unit, expr == Const(None), at)


def fitted(name: str, arguments: Sequence[Typed]) -> tuple[list[Typed], Type | None]:
    """Returns a function's arguments as it takes them, and its result's type where they say it.

    Raises:
        TypeMismatch: an array and a value, or two arrays, of different types.
    """
    given = list(arguments)
    if name in _VALUE_AT:
        place = _VALUE_AT[name]
        given[place], given[1 - place] = _met(name, given[place], given[1 - place])
        return given, given[1 - place].type
    if name in _ALIKE:
        for one in given[1:]:
            meeting(given[0], one, f"give {name}")
    kind = next((one.type for one in given if one.type in ARRAYS), None)
    if name in _ELEMENT and kind is not None:
        return given, kind.element
    return given, kind or (given[0].type if name in ("list_extract", "list_slice") else None)


def _met(name: str, value: Typed, array: Typed) -> tuple[Typed, Typed]:
    """Returns a value as an array holds it, and the array with its type."""
    if array.type not in ARRAYS:
        kind = None if value.type is None else value.type.array
        return value, replace(array, type=kind) if array.type is None else array
    holds = replace(array, type=array.type.element)
    value = as_time(value, holds)
    kind, _ = meeting(holds, value, f"give {name}")
    compared = kind is Type.FLOAT and name not in ("list_append", "list_prepend")
    if kind is not holds.type and not compared:
        raise TypeMismatch(
            f"{name} cannot put {spelt(value.type)} into {array.type.value}",
            position=value.at,
            found=spelt(value.type),
            exists=(spelt(holds.type),),
            attempt=f"CAST(… AS {spelt(holds.type)})",
        )
    if kind is holds.type:
        value = replace(value, expr=widened(value.expr, value.type, kind), type=kind)
    return value, array
