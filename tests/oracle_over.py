"""What OVER computes, from its definition: for each row, look at every row of its partition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from aspen.algebra.order import row_order
from aspen.algebra.plan import (
    Aggregate,
    Exclusion,
    Frame,
    Framed,
    FrameUnit,
    Over,
    Pick,
    PickFunction,
    Rank,
    RankFunction,
)
from aspen.model.delta import Delta, delta_of
from aspen.model.schema import Column, Row

Compute = Callable[[Aggregate, tuple[Column, ...], Delta], Any]


def over_rows(plan: Over, rows: Delta, compute: Compute) -> Delta:
    """Returns a plan's rows, given those of its child.

    Args:
        compute: an aggregate of some rows.
    """
    names = [column.name for column in plan.child.columns]
    apart = [names.index(name) for name in plan.partition_by]
    every = [row for row, weight in rows.items() for _ in range(weight)]
    every.sort(key=row_order(plan.keys, plan.child.columns))
    found: list[tuple[Row, int]] = []
    for key in dict.fromkeys(tuple(row[p] for p in apart) for row in every):
        part = [row for row in every if tuple(row[p] for p in apart) == key]
        looked = _Part(plan, part, compute)
        found += [((*row, *looked.values(index)), 1) for index, row in enumerate(part)]
    return delta_of(found)


class _Part:
    def __init__(self, plan: Over, rows: Sequence[Row], compute: Compute) -> None:
        self.plan = plan
        self.rows = rows
        self.compute = compute
        self.names = [column.name for column in plan.child.columns]
        places = [self.names.index(key.column) for key in plan.keys]
        self.keys: list[Any] = [tuple(row[place] for place in places) for row in rows]

    def values(self, index: int) -> list[Any]:
        return [self._value(one, index) for one in self.plan.functions]

    def _value(self, one: Any, index: int) -> Any:
        match one:
            case Rank():
                return self._rank(one, index)
            case Pick(PickFunction.LAG | PickFunction.LEAD):
                return self._shifted(one, index)
            case Pick():
                return self._picked(one, index)
            case Framed(aggregate, frame):
                members = [(self.rows[j], 1) for j in self._inside(frame, index)]
                return self.compute(aggregate, self.plan.child.columns, delta_of(members))

    def _rank(self, one: Rank, index: int) -> Any:
        peers = [j for j, key in enumerate(self.keys) if key == self.keys[index]]
        count = len(self.rows)
        match one.function:
            case RankFunction.ROW_NUMBER:
                return index + 1
            case RankFunction.RANK:
                return peers[0] + 1
            case RankFunction.DENSE_RANK:
                return len(set(self.keys[: peers[0]])) + 1
            case RankFunction.PERCENT_RANK:
                return peers[0] / (count - 1) if count > 1 else 0.0
            case RankFunction.CUME_DIST:
                return (peers[-1] + 1) / count
            case RankFunction.NTILE:
                sizes = [count // one.parts + (n < count % one.parts) for n in range(one.parts)]
                return next(n for n in range(1, one.parts + 1) if index < sum(sizes[:n]))

    def _shifted(self, one: Pick, index: int) -> Any:
        place = self.names.index(one.argument)
        step = -1 if one.function is PickFunction.LAG else 1
        wanted, j = one.offset, index
        while wanted:
            j += step
            if not 0 <= j < len(self.rows):
                return one.default
            wanted -= not one.ignores_nulls or self.rows[j][place] is not None
        return self.rows[j][place]

    def _picked(self, one: Pick, index: int) -> Any:
        place = self.names.index(one.argument)
        values = [self.rows[j][place] for j in self._inside(one.frame, index)]
        if one.ignores_nulls:
            values = [value for value in values if value is not None]
        number = {PickFunction.FIRST_VALUE: 1, PickFunction.LAST_VALUE: len(values)}
        chosen = number.get(one.function, one.offset)
        return values[chosen - 1] if 1 <= chosen <= len(values) else None

    def _inside(self, frame: Frame, index: int) -> list[int]:
        inside = [j for j in range(len(self.rows)) if self._is_inside(frame, index, j)]
        return [j for j in inside if not self._is_left_out(frame.without, index, j)]

    def _is_left_out(self, without: Exclusion, index: int, j: int) -> bool:
        match without:
            case Exclusion.NO_OTHERS:
                return False
            case Exclusion.CURRENT_ROW:
                return j == index
            case Exclusion.GROUP:
                return bool(self.keys[j] == self.keys[index])
            case Exclusion.TIES:
                return j != index and bool(self.keys[j] == self.keys[index])

    def _is_inside(self, frame: Frame, index: int, j: int) -> bool:
        if frame.unit is FrameUnit.ROWS:
            distance: float = j - index
        elif frame.unit is FrameUnit.GROUPS:
            between = len(set(self.keys[min(index, j) : max(index, j) + 1])) - 1
            distance = between if j > index else -between
        elif self.keys[j] == self.keys[index]:
            distance = 0
        elif not {frame.start, frame.end} - {None, 0}:
            distance = j - index
        elif self.keys[index][0] is None or self.keys[j][0] is None:
            return (frame.start if j < index else frame.end) is None
        else:
            sign = -1 if self.plan.keys[0].descending else 1
            distance = sign * _apart(self.keys[index][0], self.keys[j][0])
        before = frame.start is None or frame.start <= distance
        return before and (frame.end is None or distance <= frame.end)


def _apart(one: Any, other: Any) -> float:
    """Returns the difference of two keys; of times, in µs."""
    if not isinstance(one, str):
        return float(other - one)
    texts = (f"1970-01-01 {key}" if key[2] == ":" else key for key in (one, other))
    earlier, later = map(datetime.fromisoformat, texts)
    return (later - earlier) / timedelta(microseconds=1)
