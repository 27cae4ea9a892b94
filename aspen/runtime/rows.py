"""RowCheck: refuse rows of another shape, fast where rows look like ones accepted before."""

from __future__ import annotations

from collections.abc import Sequence

from aspen.log.entry import Change
from aspen.model.schema import Relation, Row, Type


class RowCheck:
    """Checks rows against one relation.

    Law: accepts what `Relation.check` accepts; whole numbers in FLOAT columns become floats, and
    times get their one spelling, so that equal rows are spelt equally.
    """

    def __init__(self, relation: Relation) -> None:
        self._relation = relation
        self._floats = tuple(
            index for index, column in enumerate(relation.columns) if column.type is Type.FLOAT
        )
        self._times = any(column.type.is_time for column in relation.columns)
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
        if whole is None or self._times:
            self._relation.check(row)
            row = self._relation.kept(row)
            whole = tuple(index for index in self._floats if kinds[index] is int)
            self._seen[kinds] = whole
        if not whole:
            return row
        values = list(row)
        for index in whole:
            values[index] = float(values[index])  # type: ignore[arg-type]
        return tuple(values)

    def plain(self, changes: Sequence[Change]) -> list[Row] | None:
        """Returns the rows of insertions that can all be kept as they are; None if some cannot.

        It looks at whole columns instead of rows.
        """
        rows = [row for _, weight, row in changes if weight == 1]
        if self._times or len(rows) != len(changes):
            return None
        if set(map(len, rows)) != {len(self._kept)}:
            return None
        columns = zip(*rows, strict=True)
        fits = [kept.issuperset(map(type, c)) for kept, c in zip(self._kept, columns, strict=True)]
        return rows if all(fits) else None
