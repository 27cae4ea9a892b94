"""What OVER computes over the sorted rows of one partition."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from aspen.algebra.plan import Frame, Framed, OverFunction, Pick, PickFunction, Rank, RankFunction
from aspen.model.schema import Column, Row, Value
from aspen.views.accumulators import accumulator, weighed
from aspen.views.node import Indices, row_of


class SortedRows:
    """The rows of a partition in their order, each as often as it is there.

    Args:
        keys: indices of the columns they are sorted by.
        falling: whether the first key falls.
    """

    def __init__(self, rows: Sequence[Row], keys: Indices, *, falling: bool) -> None:
        self.rows = rows
        self._key = row_of(keys)
        self._sign = -1 if falling else 1

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def firsts(self) -> list[int]:
        """Of each row, the index of the first that is equal to it under the order."""
        keys = [self._key(row) for row in self.rows]
        found: list[int] = []
        for index, key in enumerate(keys):
            found.append(found[-1] if index and keys[index - 1] == key else index)
        return found

    @cached_property
    def lasts(self) -> list[int]:
        """Of each row, the index of the last that is equal to it under the order."""
        found = list(range(len(self.rows)))
        for index in range(len(found) - 2, -1, -1):
            if self.firsts[index] == self.firsts[index + 1]:
                found[index] = found[index + 1]
        return found

    @cached_property
    def numbers(self) -> tuple[int, list[Any]]:
        """The rising values of the only key, and the index of the first row that has one."""
        keys = [self._key(row)[0] for row in self.rows]
        known = [self._sign * key for key in keys if key is not None]
        return (len(keys) - len(known) if keys and keys[0] is None else 0), known

    def frames(self, frame: Frame) -> Iterator[tuple[int, int]]:
        """Returns of each row where its frame begins, and where it has ended.

        Law: neither ever falls from one row to the next.
        """
        count = len(self.rows)
        for index in range(count):
            yield (
                0 if frame.start is None else self._begin(index, frame.start, rows=frame.rows),
                count if frame.end is None else self._end(index, frame.end, rows=frame.rows),
            )

    def _begin(self, index: int, offset: float, *, rows: bool) -> int:
        if rows:
            return min(max(index + int(offset), 0), len(self.rows))
        value = self._value(index) if offset else None
        if value is None:
            return self.firsts[index]
        first, known = self.numbers
        return first + bisect_left(known, value + offset)

    def _end(self, index: int, offset: float, *, rows: bool) -> int:
        if rows:
            return min(max(index + int(offset) + 1, 0), len(self.rows))
        value = self._value(index) if offset else None
        if value is None:
            return self.lasts[index] + 1
        first, known = self.numbers
        return first + bisect_right(known, value + offset)

    def _value(self, index: int) -> Any:
        key = self._key(self.rows[index])[0]
        return None if key is None else self._sign * key


Compute = Callable[[SortedRows], Sequence[Value]]


def computation(function: OverFunction, columns: Sequence[Column]) -> Compute:
    """Returns what computes a function's value beside each row.

    Args:
        columns: of the rows.
    """
    names = [column.name for column in columns]
    match function:
        case Rank():
            return lambda rows: _ranks(function, rows)
        case Pick():
            at = names.index(function.argument)
            return lambda rows: _picked(function, at, rows)
        case Framed():
            read = tuple(names.index(name) for name in function.aggregate.reads)
            kind = columns[read[0]].type if read else None
            return lambda rows: _aggregated(function, read, kind, rows)


def _ranks(function: Rank, rows: SortedRows) -> list[Value]:
    count = len(rows)
    match function.function:
        case RankFunction.ROW_NUMBER:
            return [*range(1, count + 1)]
        case RankFunction.RANK:
            return [first + 1 for first in rows.firsts]
        case RankFunction.DENSE_RANK:
            places = {first: place for place, first in enumerate(dict.fromkeys(rows.firsts), 1)}
            return [places[first] for first in rows.firsts]
        case RankFunction.PERCENT_RANK:
            return [first / (count - 1) if count > 1 else 0.0 for first in rows.firsts]
        case RankFunction.CUME_DIST:
            return [(last + 1) / count for last in rows.lasts]
        case RankFunction.NTILE:
            least, larger = divmod(count, function.parts)
            edge = larger * (least + 1)
            return [
                index // (least + 1) + 1 if index < edge else (index - edge) // least + larger + 1
                for index in range(count)
            ]


def _picked(function: Pick, at: int, rows: SortedRows) -> list[Value]:
    values = [row[at] for row in rows.rows]
    places: Sequence[int] = range(len(values))
    if function.ignores_nulls:
        places = [index for index in places if values[index] is not None]

    def nth(number: int, least: int, end: int, missing: Value = None) -> Value:
        return values[places[number]] if least <= number < end else missing

    offset, missing = function.offset, function.default
    match function.function:
        case PickFunction.LAG:
            befores = (bisect_left(places, index) for index in range(len(values)))
            return [nth(before - offset, 0, len(places), missing) for before in befores]
        case PickFunction.LEAD:
            behinds = (bisect_right(places, index) for index in range(len(values)))
            return [nth(behind + offset - 1, 0, len(places), missing) for behind in behinds]
    inside = (
        (bisect_left(places, begin), bisect_left(places, end))
        for begin, end in rows.frames(function.frame)
    )
    match function.function:
        case PickFunction.FIRST_VALUE:
            return [nth(begin, begin, end) for begin, end in inside]
        case PickFunction.LAST_VALUE:
            return [nth(end - 1, begin, end) for begin, end in inside]
        case _:
            return [nth(begin + offset - 1, begin, end) for begin, end in inside]


def _aggregated(function: Framed, read: Indices, kind: Any, rows: SortedRows) -> list[Value]:
    state = accumulator(function.aggregate, kind)
    given: list[Value] = []
    at, upto = 0, 0
    for begin, end in rows.frames(function.frame):
        if (begin, end) == (at, upto) and given:
            given.append(given[-1])
            continue
        state.take(weighed([(row, 1) for row in rows.rows[upto:end]], read))
        state.take(weighed([(row, -1) for row in rows.rows[at:begin]], read))
        at, upto = begin, end
        given.append(state.value())
    return given
