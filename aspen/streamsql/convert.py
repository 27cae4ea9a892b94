"""Values on their way into a column: what SQL converts without being asked."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from aspen.errors import AspenError
from aspen.model.arrays import Array
from aspen.model.schema import INT_LEAST, INT_MOST, Column, Type, Value


class BadValue(AspenError, code="aspen.bind.bad_value"):
    """A value that no column of that type can hold."""


def converted(value: Value, column: Column) -> Value:
    """Returns a value as a column's type.

    Raises:
        BadValue: a text that is no number, and the like.
    """
    if value is None:
        return None
    if column.type.element is not None:
        if not isinstance(value, Array):
            raise _bad(value, column)
        inner = replace(column, type=column.type.element)
        return cast("Value", Array(converted(one, inner) for one in value))
    if column.respelt:
        found = column.kept(str(value) if column.type.is_time else value)
        if found is None:
            raise _bad(value, column)
        return found
    try:
        match column.type:
            case Type.FLOAT:
                return float(value)
            case Type.INT:
                return _whole(value)
            case Type.BOOL:
                return _truth(value)
            case _:
                return str(value).lower() if isinstance(value, bool) else str(value)
    except (ValueError, OverflowError) as error:
        raise _bad(value, column) from error


def _bad(value: Value, column: Column) -> BadValue:
    return BadValue(f"column {column.name} holds {column.type.value}", found=repr(value)[:40])


def _whole(value: str | float) -> int:
    if isinstance(value, str):
        value = float(value) if not value.strip().lstrip("+-").isdigit() else int(value)
    if isinstance(value, float):
        # A fraction is rounded, half away from zero.
        value = int(value + (0.5 if value >= 0 else -0.5))
    value = int(value)
    if not INT_LEAST <= value <= INT_MOST:
        raise OverflowError(value)
    return value


def _truth(value: str | float) -> bool:
    if isinstance(value, str):
        known = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}
        if value.strip().lower() not in known:
            raise ValueError(value)
        return known[value.strip().lower()]
    return bool(value)
