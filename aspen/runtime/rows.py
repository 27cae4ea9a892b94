"""RowCheck: refuse rows of another shape, fast where rows look like ones accepted before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aspen.log.entry import Change
from aspen.model.schema import INT_LEAST, INT_MOST, Relation, Row, Type


class RowCheck:
    """Checks rows against one relation.

    Law: accepts what `Relation.check` accepts; whole numbers in FLOAT columns become floats, and
    times, decimals and arrays get their one spelling, so that equal rows are spelt equally.
    """

    def __init__(self, relation: Relation) -> None:
        self._relation = relation
        self._floats = tuple(
            index for index, column in enumerate(relation.columns) if column.type is Type.FLOAT
        )
        self._ints = tuple(
            index for index, column in enumerate(relation.columns) if column.type is Type.INT
        )
        self._respelt = any(column.respelt for column in relation.columns)
        self._seen: dict[tuple[type, ...], tuple[int, ...]] = {}
        self._kept = [
            {column.type.python, *([type(None)] if column.nullable else ())}
            for column in relation.columns
        ]

    def __call__(self, row: Row) -> Row:
        """Returns the row as it is kept.

        Raises:
            SchemaError: wrong number of values, or a value of the wrong type.
        """
        kinds = tuple(map(type, row))
        whole = self._seen.get(kinds)
        if whole is None or self._respelt:
            self._relation.check(row)
            row = self._relation.kept(row)
            whole = tuple(index for index in self._floats if kinds[index] is int)
            self._seen[kinds] = whole
        else:
            for index in self._ints:
                value = row[index]
                if value is not None and not INT_LEAST <= value <= INT_MOST:  # type: ignore[operator]
                    self._relation.check(row)
        if not whole:
            return row
        values = list(row)
        try:
            for index in whole:
                values[index] = float(values[index])  # type: ignore[arg-type]
        except OverflowError:
            self._relation.check(row)
        return tuple(values)

    def plain(self, changes: Sequence[Change]) -> list[Row] | None:
        """Returns the rows of insertions that can all be kept as they are; None if some cannot.

        It looks at whole columns instead of rows.
        """
        rows = [row for _, weight, row in changes if weight == 1]
        if self._respelt or len(rows) != len(changes):
            return None
        if set(map(len, rows)) != {len(self._kept)}:
            return None
        columns = list(zip(*rows, strict=True))
        fits = [kept.issuperset(map(type, c)) for kept, c in zip(self._kept, columns, strict=True)]
        if not all(fits) or any(_wide(columns[index]) for index in self._ints):
            return None
        return rows


def _wide(column: Sequence[Any]) -> bool:
    if None in column:
        column = [value for value in column if value is not None]
    return max(column, default=0) > INT_MOST or min(column, default=0) < INT_LEAST
