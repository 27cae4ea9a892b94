"""Arrays: values of one type, one behind the other, as one value of a row.

Law: arrays of one type are ordered totally: value by value, a null inside behind every value and
    equal to another one, and the shorter first where it begins the longer. DuckDB's order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Element = str | int | float | bool | None


class Array(tuple[Element, ...]):
    """An array; JSON writes it as one, and `row_in` reads it back."""

    __slots__ = ()

    def __lt__(self, other: tuple[Any, ...]) -> bool:
        if None in self or None in other:
            return _nulls_last(self) < _nulls_last(other)
        return super().__lt__(other)

    def __gt__(self, other: tuple[Any, ...]) -> bool:
        return Array(other) < self

    def __le__(self, other: tuple[Any, ...]) -> bool:
        return not self > other

    def __ge__(self, other: tuple[Any, ...]) -> bool:
        return not self < other


def row_in(values: Iterable[Any]) -> tuple[Any, ...]:
    """Returns a row that JSON gave back: its lists are arrays."""
    row = tuple(values)
    if list in map(type, row):
        return tuple(Array(value) if isinstance(value, list) else value for value in row)
    return row


def _nulls_last(values: Iterable[Element]) -> tuple[tuple[bool, Any], ...]:
    return tuple((value is None, value) for value in values)
