"""HoppingRowsWindow: the newest rows of a stream, as of the last so-many-th of them.

    came         1   2   3   4   5   6   7          (ROWS 3 SLIDE 2)
    arrives      a   b   c   d   e   f   g
    contents         a b     b c d   d e f          c waits for d, e for f; g waits

Law:        with b the greatest multiple of the slide not above the number of rows that the stream
            has brought: contents == those of its rows b - n + 1 … b whose times are later than
            the newest tick less the range. Counted is from the stream's declaration on, whenever
            the window began.
Algorithm:  a table by number, one heap by time for RANGE.
State:      the rows inside and those that wait and will be, with their times and numbers.
Receives:   arrivals in log order, ticks.     Gives: weights +1 and -1 of the bag inside.
Ends:       always: every arrival enters once and leaves once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush

from aspen.model.delta import Delta, accumulate, merge
from aspen.model.schema import Row
from aspen.views.operators.window import Arrival, Arrivals, WindowOperator

_SMALL = 256  # below this many entries, evicted ones may lie in the heap


class HoppingRowsWindow(WindowOperator):
    """The newest rows of one stream, moved whenever so many have come.

    Args:
        rows: newest rows inside.
        slide_rows: rows between two positions of the window.
    """

    def __init__(
        self,
        stream: str,
        shape: Callable[[Row], Row | None],
        range_s: float | None,
        rows: int,
        slide_rows: int,
    ) -> None:
        super().__init__(stream, shape, range_s, None)
        self._rows = rows
        self._slide_rows = slide_rows
        self._kept: dict[int, Arrival] = {}
        self._expiry: list[tuple[float, int]] = []
        self._known_from = 1
        self._inside: Delta = {}

    def load(self, now_s: float, held: Iterable[Arrival], since_s: float | None = None) -> None:
        """Begin with what another one held."""
        super().load(now_s, held, since_s)
        self._known_from = min(self._kept, default=self.came + 1)

    def follow(self, now_s: float, arrived: Iterable[Arrivals], since_s: float) -> None:
        """Begin as if it had been there; `came` says how many rows came before these."""
        self._known_from = self.came + 1
        super().follow(now_s, arrived, since_s)

    def take(self, at_s: float, rows: Iterable[Row]) -> bool:
        """Take stream rows that came together, and move where enough have come."""
        newest, before = self.came, self._edge(self.came)
        numbered = list(enumerate(map(self._shape, rows), newest + 1))
        self.came += len(numbered)
        edge, slide, most = self._edge(self.came), self._slide_rows, self._rows
        merge(self._pending, self._moved(before, edge))
        for number in range(before - most + 1, min(newest, edge - most) + 1):
            self._kept.pop(number, None)
        fresh = [
            (*row, number)
            for number, row in numbered
            if row is not None and number > edge - most and -number % slide < most
        ]
        if self._known_from <= edge - most + 1:
            self._since_s = -math.inf
        self._admit(at_s, fresh)
        return bool(self._pending)

    def step(self) -> Delta:
        """Returns what came and went since the last epoch."""
        out = super().step()
        merge(self._inside, out)
        return out

    def kept(self) -> int:
        """Count the rows of the own state."""
        return len(self._kept)

    def contents(self) -> Delta:
        """Returns the rows inside."""
        return self._inside

    def _entered(self) -> Iterable[Arrival]:
        return ((at_s, (*row, number)) for number, (at_s, row) in self._kept.items())

    def _enter(self, at_s: float, rows: Sequence[Row]) -> None:
        """Let rows in that have their numbers behind them."""
        if at_s <= self._now_s - self._range_s:
            return
        edge = self._edge(self.came)
        for *values, number in rows:
            assert isinstance(number, int)
            row = tuple(values)
            self._kept[number] = (at_s, row)
            if number <= edge:
                accumulate(self._pending, row, 1)
            if self._range_s < math.inf:
                heappush(self._expiry, (at_s, number))
        if len(self._expiry) > 4 * len(self._kept) + _SMALL:
            # A sorted list is a heap.
            self._expiry = sorted(entry for entry in self._expiry if entry[1] in self._kept)

    def _expire(self, horizon_s: float) -> bool:
        before, edge = len(self._kept), self._edge(self.came)
        while self._expiry and self._expiry[0][0] <= horizon_s:
            number = heappop(self._expiry)[1]
            arrival = self._kept.pop(number, None)
            if arrival is not None and number <= edge:
                accumulate(self._pending, arrival[1], -1)
        return len(self._kept) != before

    def _arriving(self, row: Row) -> Delta:
        if (self.came + 1) % self._slide_rows:
            return {}
        out = self._moved(self._edge(self.came), self.came + 1)
        accumulate(out, row, 1)
        return out

    def _edge(self, came: int) -> int:
        return came - came % self._slide_rows

    def _moved(self, before: int, edge: int) -> Delta:
        """Returns which of the kept rows leave and enter when the window moves."""
        out: Delta = {}
        leaving = range(before - self._rows + 1, min(before, edge - self._rows) + 1)
        entering = range(max(before, edge - self._rows) + 1, edge + 1)
        for numbers, weight in ((leaving, -1), (entering, 1)):
            for number in numbers:
                if number in self._kept:
                    accumulate(out, self._kept[number][1], weight)
        return out
