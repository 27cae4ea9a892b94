"""Clock: time enters the log, one tick a second, in order and without a gap.

    wall clock   10  11  12  ▓▓▓ nobody ▓▓▓  19  20 ↶ 15      16      17
    ticks        10  11  12                 13 … 19  20   21      21.9    22.8  …
    ahead         0   0   0                       0   0    6       5.9     5.8

Law: ticks only ever grow. A gap is made good by the ticks that are missing, or as many evenly
     spread ones as are bearable, before the present one. Where the wall clock is set back, log
     time goes on from where it was, at nine tenths of the pace until both agree; what anybody
     appends meanwhile gets log time from `RedisLog.append`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import structlog

from aspen.log.entry import Tick
from aspen.log.redis_log import RedisLog

TICK_S = 1.0
MADE_GOOD = 600  # ticks; a night is made good by one every minute or so
SLOWED = 0.1  # of the pace, while log time is ahead

logger = structlog.get_logger(__name__)


class LogClock:
    """Ticks for one log; one process at a time is to use it.

    Args:
        log: where ticks go.
        wall: seconds since the epoch, as the machine believes.
        steady: seconds that nobody sets.
    """

    def __init__(
        self,
        log: RedisLog,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._log, self._wall, self._steady = log, wall, steady
        self._last_s: float | None = None
        self._ticked_at = steady()

    def tick(self) -> int:
        """Appends the tick that is due, after those that are missing; returns how many."""
        if self._last_s is None:
            self._last_s = self._log.last_tick_s()
        passed_s = min(self._steady() - self._ticked_at, TICK_S)
        wall_s, ahead_s = self._wall(), self._log.ahead_s()
        slowed_s = max(0.0, ahead_s - SLOWED * passed_s)
        last_s = wall_s - TICK_S if self._last_s is None else self._last_s
        if wall_s + slowed_s <= last_s:
            slowed_s = last_s + max(passed_s, 0.001) - wall_s
            logger.warning("clock_set_back", by_s=round(slowed_s - ahead_s, 3))
        if slowed_s != ahead_s:
            self._log.set_ahead_s(slowed_s)
        now_s = wall_s + slowed_s
        missing = missing_ticks(last_s, now_s)
        if missing:
            logger.warning("gap_in_time", s=round(now_s - last_s, 1), ticks=len(missing))
        self._log.append([*map(Tick, missing), Tick(now_s)])
        self._last_s, self._ticked_at = now_s, self._steady()
        return len(missing) + 1


def missing_ticks(last_s: float, now_s: float) -> list[float]:
    """Returns the times of the ticks that are missing between two.

    >>> missing_ticks(10.0, 13.5)
    [11.0, 12.0]
    >>> missing_ticks(10.0, 11.9)
    []
    """
    gap_s = now_s - last_s
    count = min(int(gap_s / TICK_S) - 1, MADE_GOOD)
    step_s = TICK_S if count < MADE_GOOD else gap_s / (count + 1)
    return [last_s + step_s * number for number in range(1, count + 1)]
