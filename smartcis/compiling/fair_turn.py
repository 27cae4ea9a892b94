"""Fair turns: a text that takes long to compile lets every other request go first.

    text of 3 joins     ██ 10 ms                              never waits
    text of 200 joins   ████████ 100 ms · █ · · · █ · · · █   then works a tenth of the time
    another of those    ████████ 100 ms ─────────────── █     one at a time

Law:    what is compiled does not depend on turns.
Source: own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from aspen.effort import MOST_STEPS, effort, too_complex
from smartcis.errors import ComeBack

QUICK_S = 0.1
"""Processor time a text may take as it comes; own choice: 64 joined tables take half of it."""
LONGEST_S = 3.0
"""Processor time after which a text is refused, however many steps it has left; own choice."""
PATIENCE_S = 10.0
_SHARE = 0.1  # of the time, for what takes long
_LONG = BoundedSemaphore(1)


class Busy(ComeBack, code="smartcis.compiling.busy"):
    """Another long text is being compiled, and it takes its time."""


@contextmanager
def fair_turn(most_steps: int = MOST_STEPS) -> Iterator[None]:
    """Compile what stands within, no more than so many steps of it, and let others go first.

    Raises:
        TooComplex: it takes more.
        Busy: it takes long, and others that do came before.
    """
    turn = _Turn()
    try:
        with effort(most_steps, turn.pause):
            yield
    finally:
        turn.end()


class _Turn:
    def __init__(self) -> None:
        self._began = self._last = time.thread_time()
        self._long = False

    def pause(self) -> None:
        now = time.thread_time()
        if now - self._began < QUICK_S:
            return
        if now - self._began > LONGEST_S:
            raise too_complex(
                f"it takes more than {LONGEST_S:g} s to plan", f"{now - self._began:.1f} s"
            )
        if not self._long:
            if not _LONG.acquire(timeout=PATIENCE_S):
                raise Busy(
                    "other long queries are being compiled just now",
                    retry_s=PATIENCE_S,
                    found="a query that takes long to compile",
                    attempt="try again in some seconds, or ask for less at once",
                )
            self._long, self._last = True, now
        time.sleep((now - self._last) * (1 - _SHARE) / _SHARE)
        self._last = now

    def end(self) -> None:
        if self._long:
            _LONG.release()
