"""A page that follows views, loses its socket now and then, and remembers all it ever showed."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass

from live.page import Page
from live.sockets import PATIENCE_S, opened

from aspen.model.delta import Delta


@dataclass
class Reader(Page):
    """Follows views over the socket as a page does.

    Args:
        stays: messages after which it loses its connection, on average; 0 for never.
    """

    views: tuple[str, ...]
    seed: int = 0
    stays: int = 0
    headers: tuple = ()
    over: bool = False

    async def run(self) -> None:
        """Follow until `over`."""
        draw = random.Random(self.seed)
        while not self.over:
            socket = await opened(*self.headers)
            for number, view in enumerate(self.views):
                since = {"since": self.epochs[view]} if view in self.epochs else {}
                await socket.say(type="subscribe", id=number, view=view, **since)
            left = draw.randint(1, 2 * self.stays) if self.stays else -1
            while not self.over and left:
                left -= self._take(await socket.receive())  # the heart beats: it never waits long
            await socket.leave(draw.choice([1001, 1006]))

    async def settle(self, expected: dict[str, Delta]) -> None:
        """Wait until the page shows what there is, then end."""
        async with asyncio.timeout(PATIENCE_S):
            while any(self.rows.get(view, {}) != expected[view] for view in self.views):  # noqa: ASYNC110 - it hears from a socket
                await asyncio.sleep(0.02)
        self.over = True

    def _take(self, message: dict) -> bool:
        """Fold a message in; whether it changed what is shown."""
        if message["type"] not in ("snapshot", "delta"):
            assert message["type"] in ("welcome", "status"), message
            return False
        self.fold(self.views[message["id"]], message)
        return True
