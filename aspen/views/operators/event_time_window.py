"""EventTimeWindow: the rows of a stream that happened lately, whenever they came.

    log time     0      10     20     30     40       (RANGE 20 ON t LATENESS 5)
    arrives      a 0    b 13   c 4    d 12   e 11     each with its own time t
    contents     a      a      a b c  b d    ·        b waits until 13; c leaves with the tick at
                                                      24, d at 32; e would have left at 31

Law:        with b the greatest multiple of the slide not above the newest tick (without a slide:
            the tick): contents == the rows taken whose own times are later than b less the range
            and not later than b. A row is taken unless its own time is later than that of its
            arrival by more than the lateness. So rows that come in any order, none of them that
            much too early, give the same contents after the same tick.
            `late` counts those not taken, and those that come before the range by the lateness.
Algorithm:  RangeWindow's, by the rows' own times; what is ahead of the log waits for a tick, as
            under a slide.
State:      RangeWindow's, and the rows that wait.
Receives:   arrivals in log order, ticks.     Gives: weights +1 and -1 of the bag inside.
Ends:       always: every arrival enters once and leaves once, by the range and the lateness after
            it came at the latest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from aspen.algebra.times import epoch_us
from aspen.model.delta import Delta
from aspen.model.schema import Row
from aspen.views.operators.range_window import RangeWindow
from aspen.views.operators.window import Arrivals


class EventTimeWindow(RangeWindow):
    """The rows of one stream by the times they bring along.

    Args:
        lateness_s: seconds by which a row may be ahead of the log, and behind the range without
            being counted as late.
        on: index of the column with a row's own time, in s since 1970 or as a TIMESTAMPTZ.
    """

    def __init__(
        self,
        stream: str,
        shape: Callable[[Row], Row | None],
        range_s: float | None,
        slide_s: float | None,
        lateness_s: float,
        on: int,
    ) -> None:
        super().__init__(stream, shape, range_s, slide_s)
        self._ahead_s = lateness_s
        self._on = on
        self._waits = True

    def follow(self, now_s: float, arrived: Iterable[Arrivals], since_s: float) -> None:
        """Begin as if it had been there; late rows are counted from now on."""
        super().follow(now_s, arrived, since_s)
        self.late = 0

    def take(self, at_s: float, rows: Iterable[Row]) -> bool:
        """Take stream rows that came together, each by its own time.

        Returns:
            Whether anything changed.
        """
        oldest_s = self._now_s - self._range_s - self._ahead_s
        changed = False
        for row in rows:
            shaped = self._shape(row)
            if shaped is None:
                continue
            own_s = self._own_time_s(shaped)
            if own_s is None or not oldest_s < own_s <= at_s + self._ahead_s:
                self.late += 1
            else:
                changed = self._admit(own_s, (shaped,)) or changed
        return changed

    def hypothetical(self, row: Row, weight: int) -> Delta:
        """Returns what would come and go if a stream row arrived now (+1), or had not (-1)."""
        shaped = self._shape(row)
        if weight > 0 and shaped is not None:
            own_s = self._own_time_s(shaped)
            inside = own_s is not None and self._now_s - self._range_s < own_s <= self._now_s
            return {shaped: 1} if inside else {}
        return super().hypothetical(row, weight)

    def _own_time_s(self, row: Row) -> float | None:
        value = row[self._on]
        if isinstance(value, str):
            return epoch_us(value) / 1e6
        return value if isinstance(value, int | float) and math.isfinite(value) else None
