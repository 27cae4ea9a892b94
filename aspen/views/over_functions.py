"""What OVER computes over the sorted rows of one partition."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import repeat
from typing import Any

from aspen.algebra.plan import (
    Exclusion,
    Frame,
    Framed,
    FrameUnit,
    OverFunction,
    Pick,
    PickFunction,
    Rank,
    RankFunction,
)
from aspen.algebra.times import epoch_us
from aspen.model.schema import Column, Row, Value
from aspen.views.accumulators import accumulator, weighed
from aspen.views.node import Indices, row_of

Piece = tuple[int, int]
"""Where rows that stand behind each other begin, and where they have ended."""


class SortedRows:
    """The rows of a partition in their order, each as often as it is there.

    Args:
        keys: indices of the columns they are sorted by.
        falling: whether the first key falls.
        timed: whether the first key is a time.
    """

    def __init__(self, rows: Sequence[Row], keys: Indices, *, falling: bool, timed: bool) -> None:
        self.rows = rows
        self._key = row_of(keys)
        self._sign = -1 if falling else 1
        self._timed = timed

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
    def groups(self) -> tuple[list[int], list[int]]:
        """The place of each row's group of equals, and where the groups begin and the last ends."""
        begins = list(dict.fromkeys(self.firsts))
        places = {first: place for place, first in enumerate(begins)}
        return [places[first] for first in self.firsts], [*begins, len(self.rows)]

    def after(self, index: int) -> int:
        """Returns where the rows end that are equal to one under the order."""
        places, begins = self.groups
        return begins[places[index] + 1]

    @cached_property
    def _numbers(self) -> list[float | None]:
        """Of each row the only key as a number that rises; null where it is."""
        keys: list[Any] = [self._key(row)[0] for row in self.rows]
        if self._timed:
            keys = [None if key is None else epoch_us(key) for key in keys]
        return [None if key is None else self._sign * key for key in keys]

    @cached_property
    def _known(self) -> tuple[int, list[float]]:
        """The numbers there are, and the index of the first row that has one."""
        known = [number for number in self._numbers if number is not None]
        nulls_first = self._numbers[0] is None
        return (len(self.rows) - len(known) if nulls_first else 0), known

    def frames(self, frame: Frame) -> Iterator[tuple[Piece, ...]]:
        """Returns the pieces of each row's frame, as many of each.

        Law: of no piece does either end fall from one row to the next.
        """
        count = len(self.rows)
        for index in range(count):
            begin = 0 if frame.start is None else self._edge(frame.unit, index, frame.start, 0)
            end = count if frame.end is None else self._edge(frame.unit, index, frame.end, 1)
            match frame.without:
                case Exclusion.NO_OTHERS:
                    yield ((begin, end),)
                    continue
                case Exclusion.CURRENT_ROW:
                    cuts = [index, index + 1]
                case Exclusion.GROUP:
                    cuts = [self.firsts[index], self.after(index)]
                case Exclusion.TIES:
                    cuts = [self.firsts[index], index, index + 1, self.after(index)]
            edges = [begin, *(min(max(cut, begin), end) for cut in cuts), end]
            yield tuple(zip(edges[::2], edges[1::2], strict=True))

    def _edge(self, unit: FrameUnit, index: int, offset: float, behind: int) -> int:
        """Returns where a frame begins; where it has ended, if `behind` is 1."""
        match unit:
            case FrameUnit.ROWS:
                return min(max(index + int(offset) + behind, 0), len(self.rows))
            case FrameUnit.GROUPS:
                places, begins = self.groups
                return begins[min(max(places[index] + int(offset) + behind, 0), len(begins) - 1)]
        number = self._numbers[index] if offset else None
        if number is None:
            return self.after(index) if behind else self.firsts[index]
        first, known = self._known
        return first + (bisect_right if behind else bisect_left)(known, number + offset)


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
            places, _ = rows.groups
            return [place + 1 for place in places]
        case RankFunction.PERCENT_RANK:
            return [first / (count - 1) if count > 1 else 0.0 for first in rows.firsts]
        case RankFunction.CUME_DIST:
            return [rows.after(index) / count for index in range(count)]
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

    def at_place(number: int) -> Value:
        return values[places[number]] if 0 <= number < len(places) else missing

    def nth(number: int, pieces: Sequence[Piece]) -> Value:
        for begin, end in pieces:
            if number < end - begin:
                return values[places[begin + number]]
            number -= end - begin
        return None

    offset, missing = function.offset, function.default
    match function.function:
        case PickFunction.LAG:
            befores = (bisect_left(places, index) for index in range(len(values)))
            return [at_place(before - offset) for before in befores]
        case PickFunction.LEAD:
            behinds = (bisect_right(places, index) for index in range(len(values)))
            return [at_place(behind + offset - 1) for behind in behinds]
    inside = (
        [(bisect_left(places, begin), bisect_left(places, end)) for begin, end in pieces]
        for pieces in rows.frames(function.frame)
    )
    match function.function:
        case PickFunction.FIRST_VALUE:
            return [nth(0, pieces) for pieces in inside]
        case PickFunction.LAST_VALUE:
            counted = ((sum(end - begin for begin, end in pieces), pieces) for pieces in inside)
            return [nth(count - 1, pieces) if count else None for count, pieces in counted]
        case _:
            return [nth(offset - 1, pieces) for pieces in inside]


def _aggregated(function: Framed, read: Indices, kind: Any, rows: SortedRows) -> list[Value]:
    state = accumulator(function.aggregate, kind)
    given: list[Value] = []
    before: Iterable[Piece] = repeat((0, 0))
    for pieces in rows.frames(function.frame):
        if pieces == before:
            given.append(given[-1])
            continue
        for (begin, end), (at, upto) in zip(pieces, before, strict=False):
            state.take(weighed([(row, 1) for row in rows.rows[upto:end]], read))
            state.take(weighed([(row, -1) for row in rows.rows[at:begin]], read))
        before = pieces
        given.append(state.value())
    return given
