"""Window: the part of a stream that counts now.

    log time     0     10     20     30     40     (ROWS 1 RANGE 15 per partition)
    arrives      a            b
    tick               ·      ·      ·      ·
    contents     a     a      b      b      ·      a leaves for b, b leaves by the tick at 40

Law:        a row is inside iff it is among the newest n arrivals of its partition and its time
            is later than the newest tick less the range. Nothing but ticks lets rows expire.
Algorithm:  a queue per partition for ROWS, one heap by time for RANGE.
State:      the arrivals that may still count, with their times.
Receives:   arrivals in log order, ticks.     Gives: weights +1 and -1 of the bag inside.
Ends:       always: every arrival enters once and leaves once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from heapq import heappop, heappush

from aspen.model.delta import Delta, accumulate, merge
from aspen.model.schema import Row
from aspen.views.node import Key, Node, Places, key_of

Arrival = tuple[float, Row]

_SMALL = 256  # below this many entries, evicted ones may lie in the heap


class _Held:
    __slots__ = ("at_s", "inside", "row")

    def __init__(self, at_s: float, row: Row) -> None:
        self.at_s = at_s
        self.row = row
        self.inside = False


class WindowOperator(Node):
    """The rows of one stream inside a window.

    Args:
        stream: name of the relation whose arrivals it sees.
        shape: what a stream row becomes before it enters, None where it does not.
        partition: places of the partition columns.
        rows: newest arrivals kept per partition, None for no limit.
        range_s: seconds of log time, None for ever.
    """

    def __init__(
        self,
        stream: str,
        shape: Callable[[Row], Row | None],
        partition: Places,
        rows: int | None,
        range_s: float | None,
    ) -> None:
        super().__init__()
        self.stream = stream
        self._shape = shape
        self._partition = key_of(partition)
        self._rows = rows
        self._range_s = range_s
        self._now_s = float("-inf")
        self._parts: dict[Key, deque[_Held]] = {}
        self._expiry: list[tuple[float, int, _Held]] = []
        self._arrivals = 0
        self._inside: Delta = {}
        self._pending: Delta = {}

    def load(self, now_s: float, held: Iterable[Arrival]) -> None:
        """Begin with arrivals that came before, oldest first per partition."""
        self._now_s = now_s
        for at_s, row in held:
            self._enter(at_s, row)
        self._inside, self._pending = self._pending, {}

    def arrive(self, at_s: float, row: Row) -> bool:
        """Take one stream row.

        Returns:
            Whether anything changed.
        """
        shaped = self._shape(row)
        if shaped is None:
            return False
        self._enter(at_s, shaped)
        return True

    def take(self, at_s: float, rows: Iterable[Row]) -> bool:
        """Take rows that came together.

        Returns:
            Whether anything changed.
        """
        changed = [self.arrive(at_s, row) for row in rows]
        return any(changed)

    def tick(self, now_s: float) -> bool:
        """Let rows expire.

        Returns:
            Whether anything changed.
        """
        if now_s <= self._now_s:
            return False
        self._now_s = now_s
        if self._range_s is None:
            return False
        horizon_s = now_s - self._range_s
        expiry, before = self._expiry, len(self._expiry)
        while expiry and expiry[0][0] <= horizon_s:
            held = heappop(expiry)[2]
            if held.inside:
                self._leave(held)
                self._forget(held)
        return len(expiry) != before

    def hypothetical(self, row: Row, weight: int) -> Delta:
        """Returns what would come and go if a stream row arrived now (+1), or had not arrived (-1).

        Rows that a row pushed out when it came do not come back.
        """
        if weight < 0:
            shaped = row if row in self._inside else self._shape(row)
            return {shaped: -1} if shaped is not None and shaped in self._inside else {}
        shaped = self._shape(row)
        if shaped is None:
            return {}
        out = {shaped: 1}
        part = self._parts.get(self._partition(shaped)) or deque[_Held]()
        if self._rows is not None and len(part) == self._rows and part[0].inside:
            accumulate(out, part[0].row, -1)
        return out

    def pend(self, delta: Delta) -> None:
        """Change rows in the coming epoch whatever has arrived; for hypothetical updates."""
        merge(self._pending, delta)

    def step(self) -> Delta:
        """Returns what came and went since the last epoch."""
        out, self._pending = self._pending, {}
        merge(self._inside, out)
        return out

    def kept(self) -> int:
        """Count the rows of the own state."""
        return sum(map(len, self._parts.values()))

    def contents(self) -> Delta:
        """Returns the rows inside."""
        return self._inside

    def base_row(self, row: Row) -> tuple[str, Row] | None:
        """Returns the reading, under the stream's name."""
        return (self.stream, row)

    def held(self) -> list[Arrival]:
        """Returns the arrivals that may still count, oldest first, for a snapshot."""
        return [(held.at_s, held.row) for part in self._parts.values() for held in part]

    def _enter(self, at_s: float, row: Row) -> None:
        held = _Held(at_s, row)
        self._arrivals += 1
        if self._range_s is None or at_s > self._now_s - self._range_s:
            held.inside = True
            accumulate(self._pending, row, 1)
            if self._range_s is not None:
                heappush(self._expiry, (at_s, self._arrivals, held))
        elif self._rows is None or self._partition(row) not in self._parts:
            return
        part = self._parts.setdefault(self._partition(row), deque())
        part.append(held)
        if self._rows is not None and len(part) > self._rows:
            evicted = part.popleft()
            if evicted.inside:
                self._leave(evicted)
            self._trim(part, row)
        self._shrink()

    def _leave(self, held: _Held) -> None:
        held.inside = False
        accumulate(self._pending, held.row, -1)

    def _forget(self, held: _Held) -> None:
        """Drop a row that expired; of ROWS, when all that came before it has expired too.

        Until then it holds its place among the newest: times only nearly ascend.
        """
        part = self._parts[self._partition(held.row)]
        if self._rows is None and part[0] is not held:
            part.remove(held)
            return
        self._trim(part, held.row)

    def _trim(self, part: deque[_Held], row: Row) -> None:
        """Drop expired rows that no other precedes; they would be the next to be pushed out."""
        while part and not part[0].inside:
            part.popleft()
        if not part:
            del self._parts[self._partition(row)]

    def _shrink(self) -> None:
        """Drop evicted rows from the heap once they are the larger part of it."""
        if self._rows is None or len(self._expiry) < _SMALL:
            return
        if len(self._expiry) > 4 * len(self._parts) * self._rows:
            # A sorted list is a heap.
            self._expiry = sorted(entry for entry in self._expiry if entry[2].inside)
