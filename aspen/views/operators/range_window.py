"""RangeWindow: a RANGE window without ROWS, for streams of any rate.

    log time     0     10     20     26         (RANGE 15)
    arrives      a b          c
    panes        0: a b       0: a b            rows of one time come and go together
                              20: c   20: c
    contents     a b          a b c   c

Law:        Window's; a row is inside iff its time is later than the newest tick less the range.
Algorithm:  J. Li et al., "No pane, no gain" (2005): rows of equal times, which is what a
            transaction brings, share a pane; times in a heap. No object is made per row.
State:      time -> the rows that came with it.
Receives:   arrivals in log order, ticks.     Gives: weights +1 and -1 of the bag inside.
Ends:       always: every arrival enters once and leaves once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush

from aspen.model.delta import Delta, delta_of, merge
from aspen.model.schema import Row
from aspen.views.operators.window import Arrival, WindowOperator


class RangeWindow(WindowOperator):
    """The rows of one stream inside a window that only time limits.

    Args:
        stream: name of the relation whose arrivals it sees.
        shape: what a stream row becomes before it enters, None where it does not.
        range_s: seconds of log time.
    """

    def __init__(self, stream: str, shape: Callable[[Row], Row | None], range_s: float) -> None:
        super().__init__(stream, shape, (), None, range_s)
        self._length_s = range_s
        self._panes: dict[float, list[Row]] = {}
        self._times: list[float] = []
        self._hypothetical_rows: Delta = {}

    def load(self, now_s: float, held: Iterable[Arrival]) -> None:
        """Begin with arrivals that came before."""
        self._now_s = now_s
        for at_s, row in held:
            self._put(at_s, (row,))
        self._pending = {}

    def arrive(self, at_s: float, row: Row) -> bool:
        """Take one stream row.

        Returns:
            Whether anything changed.
        """
        return self.take(at_s, (row,))

    def take(self, at_s: float, rows: Iterable[Row]) -> bool:
        """Take rows that came together.

        Returns:
            Whether anything changed.
        """
        shaped = [row for row in map(self._shape, rows) if row is not None]
        if shaped:
            self._put(at_s, shaped)
        return bool(shaped)

    def pend(self, delta: Delta) -> None:
        """Change rows in the coming epoch whatever has arrived; for hypothetical updates."""
        super().pend(delta)
        merge(self._hypothetical_rows, delta)

    def step(self) -> Delta:
        """Returns what came and went since the last epoch."""
        out, self._pending = self._pending, {}
        return out

    def contents(self) -> Delta:
        """Returns the rows inside."""
        inside = delta_of((row, 1) for rows in self._panes.values() for row in rows)
        merge(inside, self._hypothetical_rows)
        return inside

    def hypothetical(self, row: Row, weight: int) -> Delta:
        """What would come and go if a stream row arrived now (+1), or had not arrived (-1)."""
        shaped = self._shape(row)
        if weight > 0:
            return {} if shaped is None else {shaped: 1}
        inside = self.contents()
        found = row if row in inside else shaped
        return {found: -1} if found is not None and found in inside else {}

    def tick(self, now_s: float) -> bool:
        """Let panes expire.

        Returns:
            Whether anything changed.
        """
        if now_s <= self._now_s:
            return False
        self._now_s = now_s
        horizon_s = now_s - self._length_s
        times, pending = self._times, self._pending
        weigh = pending.get
        changed = False
        while times and times[0] <= horizon_s:
            changed = True
            for row in self._panes.pop(heappop(times)):
                weight = weigh(row, 0) - 1
                if weight:
                    pending[row] = weight
                else:
                    del pending[row]
        return changed

    def kept(self) -> int:
        """Count the rows of the own state."""
        return sum(map(len, self._panes.values()))

    def held(self) -> list[Arrival]:
        """Returns the arrivals that still count, for a snapshot."""
        return [(at_s, row) for at_s, rows in self._panes.items() for row in rows]

    def _put(self, at_s: float, rows: Sequence[Row]) -> None:
        if at_s <= self._now_s - self._length_s:
            return
        pane = self._panes.get(at_s)
        if pane is None:
            pane = self._panes[at_s] = []
            heappush(self._times, at_s)
        pane += rows
        pending = self._pending
        weigh = pending.get
        for row in rows:
            weight = weigh(row, 0) + 1
            if weight:
                pending[row] = weight
            else:
                del pending[row]
