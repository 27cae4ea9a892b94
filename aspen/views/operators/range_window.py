"""RangeWindow: a window without ROWS, for streams of any rate.

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
from aspen.views.operators.window import Arrival, Arrivals, WindowOperator


class RangeWindow(WindowOperator):
    """The rows of one stream inside a window that only time limits."""

    def __init__(
        self,
        stream: str,
        shape: Callable[[Row], Row | None],
        range_s: float | None,
        slide_s: float | None,
    ) -> None:
        super().__init__(stream, shape, range_s, slide_s)
        self._ahead_s = 0.0
        self._panes: dict[float, list[Row]] = {}
        self._times: list[float] = []
        self._hypothetical_rows: Delta = {}

    def follow(self, now_s: float, arrived: Iterable[Arrivals], since_s: float) -> None:
        """Begin as if it had been there; of what has left by now nothing is seen."""
        begin_s = self._boundary_s(now_s) - self._range_s - self._ahead_s
        held = (one for one in arrived if one.at_s > begin_s)
        super().follow(now_s, held, since_s + self._ahead_s)

    def pend(self, delta: Delta) -> None:
        """Change rows in the coming epoch whatever has arrived; for hypothetical updates."""
        super().pend(delta)
        merge(self._hypothetical_rows, delta)

    def contents(self) -> Delta:
        """Returns the rows inside."""
        inside = delta_of((row, 1) for rows in self._panes.values() for row in rows)
        merge(inside, self._hypothetical_rows)
        return inside

    def kept(self) -> int:
        """Count the rows of the own state."""
        return sum(map(len, self._panes.values()))

    def _entered(self) -> Iterable[Arrival]:
        return ((at_s, row) for at_s, rows in self._panes.items() for row in rows)

    def _enter(self, at_s: float, rows: Sequence[Row]) -> None:
        if at_s <= self._now_s - self._range_s:
            return
        pane = self._panes.get(at_s)
        if pane is None:
            pane = self._panes[at_s] = []
            heappush(self._times, at_s)
        pane += rows
        self._weigh(rows, 1)

    def _expire(self, horizon_s: float) -> bool:
        times = self._times
        before = len(times)
        while times and times[0] <= horizon_s:
            self._weigh(self._panes.pop(heappop(times)), -1)
        return len(times) != before

    def _weigh(self, rows: Sequence[Row], change: int) -> None:
        pending = self._pending
        weigh = pending.get
        for row in rows:
            weight = weigh(row, 0) + change
            if weight:
                pending[row] = weight
            else:
                del pending[row]
