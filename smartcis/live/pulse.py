"""Pulse: how the engine is, read once a second for all sockets of a process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, cast

import redis
import redis.asyncio

from aspen.results.engine_status import EngineStatus, decode_status, status_key
from smartcis.live.protocol import Engine, Status

PERIOD_S = 1.0


def status_message(status: EngineStatus, now_s: float) -> Status:
    """Returns the heartbeat for an engine's status.

    `lag_s` is 0 while the views have all of the log, else the seconds since they last had.
    """
    engine = cast("Engine", status.summary(now_s))
    behind = engine != "live" or status.position < status.head
    since = max(status.progress_s, status.started_s)
    lag_s = max(0.0, now_s - since) if behind and since else 0.0
    return Status(engine, status.epoch, status.position, round(lag_s, 3), now_s, more=False)


class EnginePulse:
    """Reads the engine's status.

    Args:
        url: the Redis server.
        name: the building's name there.
    """

    def __init__(self, url: str, name: str) -> None:
        self._redis = redis.asyncio.Redis.from_url(url)
        self._key = status_key(name)
        self._status = EngineStatus()

    @property
    def message(self) -> Status:
        """The heartbeat as of now."""
        return status_message(self._status, time.time())

    async def read(self) -> None:
        """Reads the status once; a server that does not answer leaves the engine to go stale."""
        try:
            found = await cast("Any", self._redis.hgetall(self._key))
        except (redis.RedisError, OSError):
            return
        self._status = decode_status(found)

    async def run(self, on_change: Callable[[], None]) -> None:
        """Reads for ever, and notifies when the engine's state changes."""
        before = self.message.engine
        while True:
            await asyncio.sleep(PERIOD_S)
            await self.read()
            now = self.message.engine
            if now != before:
                before = now
                on_change()

    async def close(self) -> None:
        """Returns the connection back."""
        await self._redis.aclose()
