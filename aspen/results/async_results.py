"""The same store for asyncio readers, such as the web hub."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any, cast

import redis.asyncio

from aspen.redis_client import block_ms
from aspen.results.protocol import Epoch, EpochSnapshot
from aspen.results.redis_results import READ_AT_ONCE
from aspen.results.scripts import SINCE, SNAPSHOTS, ResultKeys
from aspen.results.wire import decode_epochs, decode_head, decode_snapshots


class AsyncResults:
    """Reads snapshots and follows epochs without blocking the event loop.

    Args:
        url: e.g. redis://127.0.0.1:6379/0.
        name: prefix of every key, one per building.
    """

    def __init__(self, url: str, name: str) -> None:
        self._redis = redis.asyncio.Redis.from_url(url, health_check_interval=30)
        self._keys = ResultKeys(name)
        self._snapshots = self._redis.register_script(SNAPSHOTS)
        self._since = self._redis.register_script(SINCE)

    async def head(self) -> tuple[int, int, float]:
        """Returns the newest epoch, its log position and its log time; zeroes before the first."""
        found = self._redis.hmget(self._keys.meta, "epoch", "position", "at_s")
        return decode_head(await cast("Any", found))

    async def snapshot(self, view: str) -> EpochSnapshot | None:
        """Returns a view's rows, None when no such view is maintained."""
        return (await self.snapshots([view])).get(view)

    async def snapshots(self, views: Sequence[str]) -> dict[str, EpochSnapshot]:
        """Returns the rows of several views as of one epoch; unknown ones are left out."""
        keys = self._keys
        reply = await self._snapshots(keys=[keys.meta, keys.views, keys.rows], args=list(views))
        # In a thread: the rows of a large view take longer than others may wait.
        return await asyncio.to_thread(decode_snapshots, views, cast("list[Any]", reply))

    async def epochs_since(self, number: int, wait_s: float = 0.0) -> list[Epoch]:
        """Returns up to 256 epochs after `number`, waiting up to `wait_s` for the first.

        Raises:
            EpochsForgotten: they are not all kept, or `number` lies in the future.
        """
        until_s = time.monotonic() + wait_s
        while not (epochs := await self._read_since(number)):
            left_s = until_s - time.monotonic()
            if left_s <= 0:
                break
            await self._redis.xread(
                {self._keys.epochs: f"{number}-0"}, count=1, block=block_ms(left_s)
            )
        return epochs

    async def follow(self, after: int, poll_s: float = 5.0) -> AsyncIterator[Epoch]:
        """Returns every epoch after `after`, in order, for ever.

        Args:
            after: the last epoch the caller has.
            poll_s: longest single wait at the server; no epoch comes later for it.

        Raises:
            EpochsForgotten: the follower fell behind what is kept, or a new generation began.
        """
        while True:
            for epoch in await self.epochs_since(after, poll_s):
                after = epoch.number
                yield epoch

    async def _read_since(self, number: int) -> list[Epoch]:
        keys = [self._keys.meta, self._keys.epochs]
        reply = await self._since(keys=keys, args=[number, READ_AT_ONCE])
        return decode_epochs(number, cast("list[Any]", reply))

    async def close(self) -> None:
        """Returns the connections back."""
        await self._redis.aclose()
