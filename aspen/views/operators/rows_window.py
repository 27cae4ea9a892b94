"""RowsWindow: the newest rows of a stream, perhaps per partition, perhaps inside a RANGE too.

    log time     0     10     20     30     40     (ROWS 1 RANGE 15 per partition)
    arrives      a            b
    tick               ·      ·      ·      ·
    contents     a     a      b      b      ·      a leaves for b, b leaves by the tick at 40

Law:        Window's; a row is inside iff it is among the newest n arrivals of its partition and
            its time is later than the newest tick less the range.
Algorithm:  a queue per partition, one heap by time for RANGE.
State:      the arrivals that may still count, with their times.
Receives:   arrivals in log order, ticks.     Gives: weights +1 and -1 of the bag inside.
Ends:       always: every arrival enters once and leaves once.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush

from aspen.model.delta import Delta, accumulate, merge
from aspen.model.schema import Row
from aspen.views.node import Indices, Key, key_of
from aspen.views.operators.window import Arrival, WindowOperator

_SMALL = 256  # below this many entries, evicted ones may lie in the heap


class _Held:
    __slots__ = ("at_s", "inside", "row")

    def __init__(self, at_s: float, row: Row) -> None:
        self.at_s = at_s
        self.row = row
        self.inside = False


class RowsWindow(WindowOperator):
    """The newest rows of one stream.

    Args:
        rows: newest arrivals kept per partition.
        partition: indices of the partition columns.
    """

    def __init__(  # Window's and two more
        self,
        stream: str,
        shape: Callable[[Row], Row | None],
        range_s: float | None,
        slide_s: float | None,
        rows: int,
        partition: Indices,
    ) -> None:
        super().__init__(stream, shape, range_s, slide_s)
        self._rows = rows
        self._partition = key_of(partition)
        self._parted = bool(partition)
        self._parts: dict[Key, deque[_Held]] = {}
        self._expiry: list[tuple[float, int, _Held]] = []
        self._arrivals = 0
        self._inside: Delta = {}

    def step(self) -> Delta:
        """Returns what came and went since the last epoch."""
        out = super().step()
        merge(self._inside, out)
        return out

    def kept(self) -> int:
        """Count the rows of the own state."""
        return sum(map(len, self._parts.values()))

    def contents(self) -> Delta:
        """Returns the rows inside."""
        return self._inside

    def _entered(self) -> Iterable[Arrival]:
        return ((held.at_s, held.row) for part in self._parts.values() for held in part)

    def _arriving(self, row: Row) -> Delta:
        out = {row: 1}
        part = self._parts.get(self._partition(row)) or deque[_Held]()
        if len(part) == self._rows and part[0].inside:
            accumulate(out, part[0].row, -1)
        return out

    def _expire(self, horizon_s: float) -> bool:
        expiry, before = self._expiry, len(self._expiry)
        while expiry and expiry[0][0] <= horizon_s:
            held = heappop(expiry)[2]
            if held.inside:
                self._leave(held)
                self._trim(self._partition(held.row))
        return len(expiry) != before

    def _enter(self, at_s: float, rows: Sequence[Row]) -> None:
        for row in rows:
            self._enter_one(at_s, row)
        # Where there are partitions, another one may have had its rows before.
        if self._since_s > -math.inf and not self._parted and self.kept() == self._rows:
            self._since_s = -math.inf

    def _enter_one(self, at_s: float, row: Row) -> None:
        held, key = _Held(at_s, row), self._partition(row)
        self._arrivals += 1
        if at_s > self._now_s - self._range_s:
            held.inside = True
            accumulate(self._pending, row, 1)
            if self._range_s < math.inf:
                heappush(self._expiry, (at_s, self._arrivals, held))
        elif key not in self._parts:
            return
        part = self._parts.setdefault(key, deque())
        part.append(held)
        if len(part) > self._rows:
            evicted = part.popleft()
            if evicted.inside:
                self._leave(evicted)
            self._trim(key)
        self._shrink()

    def _leave(self, held: _Held) -> None:
        held.inside = False
        accumulate(self._pending, held.row, -1)

    def _trim(self, key: Key) -> None:
        """Drop expired rows that no other precedes; they would be the next to be pushed out.

        Until then a row holds its turn among the newest: times only nearly ascend.
        """
        part = self._parts[key]
        while part and not part[0].inside:
            part.popleft()
        if not part:
            del self._parts[key]

    def _shrink(self) -> None:
        """Drop evicted rows from the heap once they are the larger part of it."""
        if len(self._expiry) < _SMALL:
            return
        if len(self._expiry) > 4 * len(self._parts) * self._rows:
            # A sorted list is a heap.
            self._expiry = sorted(entry for entry in self._expiry if entry[2].inside)
