"""SlidingWindow: a RANGE window that moves only at multiples of its slide.

    log time     0     7     10    14    20    26    (RANGE 20 SLIDE 10)
    arrives      a     b           c
    tick               ·     ·     ·     ·     ·
    contents                 a b   a b   b c   b c   what came since 10 waits until 20

Law:        after a tick at t, with b the greatest multiple of the slide not above t: contents ==
            the rows of times in (b - range, b] that have arrived by now.
Algorithm:  arrivals of later times wait; a tick that passes a boundary moves the window there and
            lets them in.
State:      Window's, and the arrivals that wait.
Receives:   arrivals in log order, ticks.     Gives: weights +1 and -1 of the bag inside.
Ends:       always: every arrival enters once and leaves once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from aspen.model.delta import Delta
from aspen.model.schema import Row
from aspen.views.node import Places
from aspen.views.operators.window import Arrival, WindowOperator


class SlidingWindow(WindowOperator):
    """The rows of one stream inside a window that moves in steps.

    Args:
        slide_s: seconds of log time between two positions of the window.
    """

    def __init__(  # Window's and one more
        self,
        stream: str,
        shape: Callable[[Row], Row | None],
        partition: Places,
        rows: int | None,
        range_s: float | None,
        slide_s: float,
    ) -> None:
        super().__init__(stream, shape, partition, rows, range_s)
        self._slide_s = slide_s
        self._waiting: list[Arrival] = []

    def load(self, now_s: float, held: Iterable[Arrival]) -> None:
        """Begin with arrivals that came before."""
        boundary_s = self._boundary_s(now_s)
        arrivals = list(held)
        super().load(boundary_s, [a for a in arrivals if a[0] <= boundary_s])
        self._waiting = [a for a in arrivals if a[0] > boundary_s]

    def arrive(self, at_s: float, row: Row) -> bool:
        """Take one stream row, and let it wait if its time is behind the window.

        Returns:
            Whether anything changed.
        """
        if at_s <= self._now_s:
            return super().arrive(at_s, row)
        shaped = self._shape(row)
        if shaped is not None:
            self._waiting.append((at_s, shaped))
        return False

    def tick(self, now_s: float) -> bool:
        """Move the window, if a boundary is passed.

        Returns:
            Whether anything changed.
        """
        boundary_s = self._boundary_s(now_s)
        if boundary_s <= self._now_s:
            return False
        changed = super().tick(boundary_s)
        waiting, self._waiting = self._waiting, []
        for at_s, row in waiting:
            if at_s <= boundary_s:
                self._enter(at_s, row)
                changed = True
            else:
                self._waiting.append((at_s, row))
        return changed

    def hypothetical(self, row: Row, weight: int) -> Delta:
        """What would come and go: a row that arrived now would wait for the next boundary."""
        return super().hypothetical(row, weight) if weight < 0 else {}

    def held(self) -> list[Arrival]:
        """Returns the arrivals that may still count, for a snapshot."""
        return [*super().held(), *self._waiting]

    def _boundary_s(self, now_s: float) -> float:
        if math.isinf(now_s):
            return now_s
        return math.floor(now_s / self._slide_s) * self._slide_s
