"""Sight: what the rows of one key say under a rule, and which of them speaks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from json import dumps, loads
from typing import Any

from aspen.algebra.evaluate import compile_expr
from aspen.algebra.expr import Not, columns_in
from aspen.algebra.whole import OutOfRange
from aspen.model.schema import Column, Row, Type, Value
from aspen.streamsql.alarm_rule import AlarmRule, read_rule
from smartcis.deliveries.lifecycle import Seen

PLACES = ("rid", "mid", "door_id")
"""Columns by which a row says where it is: a room, a machine, a door."""
Columns = Sequence[Sequence[Any]]
"""As `MaintainedView.columns` keeps them: name, type, unit, whether it may be null."""


@dataclass(frozen=True, slots=True)
class AlarmReading:
    """What an alarm shows of the row that speaks for it."""

    value: float | None
    unit: str
    message: str
    places: Mapping[str, str]


class Eye:
    """Looks at rows of one query under one rule.

    Args:
        columns: those of the query, without what only its order needs.
    """

    def __init__(self, rule: AlarmRule, columns: Columns) -> None:
        self.rule = rule
        self._columns = [
            Column(name, Type(kind), unit, nullable) for name, kind, unit, nullable in columns
        ]
        self.names = [column.name for column in self._columns]
        at = {name: index for index, name in enumerate(self.names)}
        self._keys = [at[name] for name in rule.keys] or list(range(len(at)))
        self._places = {name: at[name] for name in PLACES if name in at}
        self._raises = self._compiled(rule.raise_when)
        clears = rule.clear_when
        if clears is None and rule.raise_when is not None:
            clears = Not(rule.raise_when)
        self._clears = self._compiled(clears)
        self._value = self._measured()

    def key(self, row: Row) -> Row:
        """Returns the values that say which thing a row is about."""
        return tuple(row[index] for index in self._keys)

    def see(self, rows: Sequence[Row]) -> Seen:
        """Returns what the rows of one key say: one that raises is enough, all must clear."""
        if self.rule.raise_when is None:
            return Seen.HOT if rows else Seen.GONE
        said = [(self._raises(row), self._clears(row)) for row in rows]
        known = [one for one in said if one != (None, None)]
        if not known:
            return Seen.GONE
        if any(raises is True for raises, _ in known):
            return Seen.HOT
        return Seen.COOL if all(clears is True for _, clears in known) else Seen.BETWEEN

    def speaker(self, rows: Sequence[Row]) -> Row | None:
        """Returns the row to show: one that raises before others, the same whatever their order."""

        def rank(row: Row) -> tuple[bool, str]:
            return self._raises(row) is not True, dumps(list(row))

        return min(rows, key=rank, default=None)

    def reading(self, row: Row) -> AlarmReading:
        """Returns what is shown of a row."""
        value = row[self._value] if self._value is not None else None
        unit = self._columns[self._value].unit if self._value is not None else ""
        said = [
            f"{name} {_spelt(one)}"
            for name, one in zip(self.names, row, strict=True)
            if one is not None
        ]
        number = None if value is None else float(value)
        places = {name: str(row[at]) for name, at in self._places.items() if row[at] is not None}
        return AlarmReading(number, unit, ", ".join(said), places)

    def _compiled(self, condition: Any) -> Callable[[Row], Value]:
        if condition is None:
            return lambda _row: True
        compute = compile_expr(condition, self._columns)

        def said(row: Row) -> Value:
            try:
                return compute(row)
            except OutOfRange:
                return None

        return said

    def _measured(self) -> int | None:
        """Returns which column is the value: the first number a threshold reads, or with a unit."""
        read = columns_in(self.rule.raise_when)
        free = [
            (index, column)
            for index, column in enumerate(self._columns)
            if column.type.numeric and column.name not in self.rule.keys
        ]
        named = [index for index, column in free if column.name in read]
        physical = [index for index, column in free if column.unit not in ("", "s")]
        return next(iter(named or physical), None)


@lru_cache(maxsize=256)
def _eye(rule: str, columns: str) -> Eye:
    return Eye(read_rule(loads(rule)), loads(columns))


def eye_of(rule: Mapping[str, Any], columns: Columns) -> Eye:
    """Returns the eye for a rule as JSON keeps it, made once."""
    return _eye(dumps(rule), dumps([list(column) for column in columns]))


def _spelt(value: Value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
