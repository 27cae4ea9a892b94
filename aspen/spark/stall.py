"""Stall: an engine with work and without progress, told from one that merely gets no processor.

    silent for   up to the limit        patience
                 longer                 stalled, if its processes hardly computed meanwhile
                 five times the limit   stalled, whatever they compute

To begin takes some twenty seconds of processor time; where many others compute, that is minutes. An
engine that was ended for it would begin again, and again be ended.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import psutil

LONGEST = 5  # limits
COMPUTING = 0.05  # of one processor; waiting for nothing takes a hundredth


def family_cpu_s() -> float:
    """Returns the processor time of this process and all that it started, in seconds."""
    ours = psutil.Process()
    used_s = 0.0
    for one in (ours, *ours.children(recursive=True)):
        with suppress(psutil.Error):
            times = one.cpu_times()
            used_s += times.user + times.system
    return used_s


class Stall:
    """Asked now and then whether there is one.

    Args:
        limit_s: how long an engine that does not compute may be silent.
        used_s: processor time of its processes.
    """

    def __init__(self, limit_s: float, used_s: Callable[[], float] = family_cpu_s) -> None:
        self._limit_s = limit_s
        self._used_s = used_s
        self._begun: tuple[float, float] | None = None  # silent for, processor time by then

    def after(self, silent_s: float) -> bool:
        """Whether an engine that has been silent for so long is stalled."""
        if silent_s < self._limit_s / 2:
            self._begun = None
        elif self._begun is None:
            self._begun = silent_s, self._used_s()
        if self._begun is None or silent_s <= self._limit_s:
            return False
        if silent_s > LONGEST * self._limit_s:
            return True
        since_s, used_s = self._begun
        return self._used_s() - used_s <= COMPUTING * (silent_s - since_s)
