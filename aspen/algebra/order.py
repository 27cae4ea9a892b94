"""The order of rows: what ORDER BY and TopK sort by.

A null is smaller than every value unless the key says otherwise; equal rows under the keys are
told apart by the whole row, so that every order is total and the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from aspen.algebra.plan import SortKey
from aspen.model.schema import Column, Row, Value


class _Falling:
    """A value that sorts the other way round."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Falling) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Falling) and bool(self.value == other.value)

    def __hash__(self) -> int:
        return hash(self.value)


def row_order(keys: Sequence[SortKey], columns: Sequence[Column]) -> Callable[[Row], Any]:
    """Returns the function from a row to what it is sorted by.

    Law: two rows have equal keys only if they are equal.
    Source: own.
    """
    names = [column.name for column in columns]
    steps = [(names.index(key.column), key.descending, key.nulls_last) for key in keys]

    def order(row: Row) -> Any:
        sorted_by = tuple(_key(row[index], down, last) for index, down, last in steps)
        return sorted_by, tuple(map(_whole, row))

    return order


def _key(value: Value, down: bool, last: bool) -> tuple[bool, Any]:  # noqa: FBT001  # called per row
    if value is None:
        return (last, 0)
    return (not last, _Falling(value) if down else value)


def _whole(value: Value) -> tuple[bool, Any]:
    return (value is not None, 0 if value is None else value)
