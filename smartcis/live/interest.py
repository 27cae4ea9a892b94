"""Interest: this process tells the engine which views kept on demand its sockets follow.

    wanted   {q1, q2}      {q1}              what the hub's subscriptions need now
    written  q1 q2         q1, q2 lingers    what was written to the log, and when
    log      Interest …    … Uninterest q2   and each again before it runs out

One task makes `written` equal to `wanted`; whatever the log does not take is tried again.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence

import redis
import structlog

from aspen.log.entry import Entry, Interest, Uninterest

KEEP_S = 120.0
AGAIN_S = KEEP_S / 3
LINGER_S = 5.0
"""How long a view stays after its last follower: pages that reload come back at once."""

_LOOK_S = 1.0
_RETRY_S = 0.5
Append = Callable[[Sequence[Entry]], object]
logger = structlog.get_logger(__name__)


class SocketInterests:
    """See the module's head.

    Args:
        append: puts entries into the log; called in a thread.
        clock_s: the wall clock, seconds since the epoch.
    """

    def __init__(self, append: Append, clock_s: Callable[[], float] = time.time) -> None:
        self._append = append
        self._clock_s = clock_s
        self._holder = f"live-{secrets.token_hex(6)}"
        self._wanted: dict[str, int] = {}
        self._told_s: dict[str, float] = {}
        self._left_s: dict[str, float] = {}
        self._news = asyncio.Event()

    def take(self, view: str) -> None:
        """Adds a subscription to a view."""
        self._wanted[view] = self._wanted.get(view, 0) + 1
        self._left_s.pop(view, None)
        if view not in self._told_s:
            self._news.set()

    def drop(self, view: str) -> None:
        """Removes a subscription."""
        self._wanted[view] -= 1
        if not self._wanted[view]:
            del self._wanted[view]
            self._left_s[view] = self._clock_s()

    async def run(self) -> None:
        """Writes interests to the log until cancelled."""
        while True:
            try:
                async with asyncio.timeout(_LOOK_S):
                    await self._news.wait()
            except TimeoutError:
                pass
            self._news.clear()
            entries = self._due()
            if not entries:
                continue
            try:
                await asyncio.to_thread(self._append, entries)
            except (redis.RedisError, OSError) as error:
                logger.warning("interest not written", reason=str(error))
                await asyncio.sleep(_RETRY_S)
                self._news.set()
            else:
                self._note(entries)

    def _due(self) -> list[Entry]:
        now_s = self._clock_s()
        # Who left before the log was written need not be taken back.
        self._left_s = {view: s for view, s in self._left_s.items() if view in self._told_s}
        due: list[Entry] = [
            Interest(now_s, view, self._holder, KEEP_S)
            for view in self._wanted
            if now_s - self._told_s.get(view, float("-inf")) > AGAIN_S
        ]
        due += [
            Uninterest(now_s, view, self._holder)
            for view, left_s in self._left_s.items()
            if now_s - left_s > LINGER_S
        ]
        return due

    def _note(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if isinstance(entry, Interest):
                self._told_s[entry.view] = entry.at_s
            elif isinstance(entry, Uninterest):
                self._told_s.pop(entry.view, None)
                if entry.view in self._wanted:
                    self._news.set()  # somebody came while the log was written
                else:
                    self._left_s.pop(entry.view, None)
