"""Allowance: what one socket may hold, ask and be sent; counted with its owner's other ones."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import replace
from weakref import WeakValueDictionary

from aspen.errors import AspenError
from smartcis.access.limits import hold, hold_each, spend
from smartcis.access.owner import Owner
from smartcis.errors import LimitReached

FRAMES, FRAMES_PER_S = 300, 20.0  # a page begins with some dozens at once
STARTS, STARTS_PER_S = 32, 10.0  # subscriptions; more than a page at once


class Turn:
    """Whoever begins subscriptions begins them one after the other, and many of them slowly."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._until_s = 0.0

    async def __aenter__(self) -> None:
        await self._lock.acquire()
        loop = asyncio.get_running_loop()
        until_s = max(loop.time(), self._until_s) + 1 / STARTS_PER_S
        try:
            await asyncio.sleep(until_s - loop.time() - STARTS / STARTS_PER_S)
        except asyncio.CancelledError:
            self._lock.release()
            raise
        self._until_s = until_s

    async def __aexit__(self, *_: object) -> None:
        self._lock.release()

    def remember(self) -> None:
        """Outlives the last socket until all it began is forgiven: coming anew helps nobody."""
        loop = asyncio.get_running_loop()
        loop.call_at(self._until_s, lambda: self)


_TURNS: WeakValueDictionary[tuple[int, Owner], Turn] = WeakValueDictionary()


class TooMany(AspenError, code="smartcis.live.too_many_subscriptions"):
    """More subscriptions than one socket may hold."""


class Allowance:
    """One socket's share of its owner's limits; what is no coroutine belongs into a thread.

    A socket without a cookie is a program's, which counts for its address and for itself.

    Args:
        owner: whose socket it was when it was opened.
    """

    def __init__(self, owner: Owner) -> None:
        self._name = secrets.token_hex(8)
        self._owner = replace(owner, browser=owner.browser or self._name)
        self._frames_until_s = 0.0
        self._begun: set[int] = set()
        self._uncounted: set[int] = set()
        loop = id(asyncio.get_running_loop())
        self.turn = _TURNS.setdefault((loop, owner), Turn())
        """What is begun for an owner, whatever his sockets, is begun in turn."""

    def open(self) -> None:
        """Counts the socket.

        Raises:
            LimitReached: too many were opened in this minute, or are open.
        """
        spend("sockets", self._owner)
        hold("sockets", self._owner, self._name, 1)

    def begin(self, number: int) -> None:
        """Notes a subscription that is to begin, and to be counted."""
        self._begun.add(number)
        self._uncounted.add(number)

    def forget(self, number: int) -> None:
        """Lets a subscription go, counted or not."""
        self._begun.discard(number)
        self._uncounted.discard(number)

    async def subscribe(self, number: int, held: int) -> None:
        """Counts a subscription, and with it all that wait for their turn.

        Each count is a write that Redis puts on disk.

        Args:
            number: the subscription whose turn it is.
            held: how many the socket has with those that wait.

        Raises:
            LimitReached: it may not begin; whether another may is seen when its turn comes.
        """
        if number not in self._uncounted:
            return
        begun, self._uncounted = self._uncounted, set()
        try:
            await asyncio.to_thread(self._subscribe, held, len(begun))
        except LimitReached:
            self._uncounted |= begun & self._begun - {number}
            if len(begun) == 1:
                raise
            await asyncio.to_thread(self._subscribe, held, 1)

    def _subscribe(self, held: int, begun: int) -> None:
        spend("subscriptions", self._owner, begun)
        hold("subscriptions", self._owner, self._name, held)

    def sent(self, held: int, sent_bytes: int) -> None:
        """Counts what was sent, and says what is still held.

        Raises:
            LimitReached: more was sent in this minute than may be.
        """
        hold_each({"sockets": 1, "subscriptions": held}, self._owner, self._name)
        spend("bytes", self._owner, 0)
        spend("bytes", self._owner, sent_bytes, afterwards=True)

    def close(self) -> None:
        """Gives everything back."""
        hold_each({"subscriptions": 0, "sockets": 0}, self._owner, self._name)

    def frame(self, now_s: float) -> None:
        """Counts a message of the client.

        Raises:
            LimitReached: it comes too soon.
        """
        until_s = max(now_s, self._frames_until_s) + 1 / FRAMES_PER_S
        wait_s = until_s - now_s - FRAMES / FRAMES_PER_S
        if wait_s > 0:
            raise LimitReached(
                "too many messages from this socket",
                retry_s=wait_s,
                exists=[f"up to {FRAMES} at once, and {FRAMES_PER_S:g} a second"],
                attempt="send this one again later; it was not read",
            )
        self._frames_until_s = until_s
