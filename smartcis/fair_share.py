"""Fair share: an ASGI wrapper; nobody's requests take the processor from everybody else's.

    ann      █ 4 ms        █ 4 ms        █ 4 ms           start at once
    bob      ████████ 400 ms · · · · · · · · · ████ 90 ms  a tenth of a core, while ann is there

What a request costs is known when it is over: the processor time of the thread that answered it.
Until then it counts as what the same person's requests cost lately, so that six large ones do not
begin at once. What is refused counts several times: whoever asks again and again for what he
cannot have leaves more to the others than who is answered.

Whoever owes more than a moment waits until that is paid back, out of a share of one core by who it
is. A share binds only while somebody else is there; who is alone may have all.

    account   a token or login that was good before; with a socket open, one is there, too
    browser   a session that was good before; all of an address without one are one browser
    address   all browsers there, while there are other addresses

Law:    what a request answers does not depend on shares.
Source: own; a debt instead of a token bucket, since the price is known afterwards.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from smartcis.address import address_of_socket
from smartcis.body_limit import App, Message, Receive, Send, refuse
from smartcis.browser import browser_of
from smartcis.errors import ComeBack

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

AHEAD_S = 2.5
"""So far ahead of a share one may be: a browser by a page and the two dozen requests it makes."""
PATIENCE_S = 10.0
AT_ONCE, IN_LINE = 6, 32
"""Requests of one person in work, and waiting; browsers have six connections."""
HOLD_BACK_S = 1.0
"""A refusal comes so late, as long as few wait for one: who tries again at once is slow, too."""
FLOOR_S, BYTE_S = 0.001, 10e-9
"""What a request and a byte of its body cost the event loop beside its thread; own measurement."""
REFUSED = frozenset({400, 403, 409, 413, 429})
REFUSAL_WEIGHT = 5
"""So many times what it cost is owed for a refusal; own choice."""
RECENT = 0.25
"""How much of what requests usually cost is what the last one did."""
HERE_S = 10.0
"""Whoever sent nothing for so long, and has no socket, is not there."""
KEPT_S = 60.0
"""So long it is known what somebody's requests cost."""
MOST_KNOWN = 10_000
ANY = 1.0
"""The share of who is alone: what is owed is paid back so fast, and nobody waits for it."""
ADDRESS = "address"
Key = tuple[str, str]
"""A scope, and who or where."""


class BeyondShare(ComeBack, code="smartcis.fair_share.beyond"):
    """Requests that took more than their share of the processor, while others waited."""


@dataclass(slots=True)
class Price:
    """What one request was found to be.

    Args:
        used_s: processor time of its thread.
        received_bytes: of its body.
        refused: whether it was.
        standing: account, browser, or "" for somebody nobody knows.
    """

    used_s: float = 0.0
    received_bytes: int = 0
    refused: bool = False
    standing: str = ""

    @property
    def owed_s(self) -> float:
        """What is owed for it, processor time."""
        cost_s = self.used_s + FLOOR_S + self.received_bytes * BYTE_S
        return cost_s * REFUSAL_WEIGHT if self.refused else cost_s


_PRICE: ContextVar[Price | None] = ContextVar("price", default=None)


def metered(app: WSGIApplication) -> WSGIApplication:
    """Returns an application whose threads' processor time is counted to its requests."""

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterator[bytes]:
        began_s = time.thread_time()
        try:
            with closing(cast("HttpResponseBase", app(environ, start_response))) as response:
                yield from response
        finally:
            price = _PRICE.get()
            if price is not None:
                price.used_s += time.thread_time() - began_s

    return answer


class Standing:
    """Middleware that notes who a request turned out to be from."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answers the request; nothing is looked up that it did not need."""
        response = self.get_response(request)
        price = _PRICE.get()
        if price is not None:
            price.standing = _standing(request)
        return response


def _standing(request: HttpRequest) -> str:
    if getattr(request, "auth", None) is not None:
        return "account"
    if not request.session.accessed:
        return ""
    if "_auth_user_id" in request.session:
        return "account"
    return "browser" if browser_of(request.session) else ""


@dataclass(slots=True)
class Debtor:
    """What somebody owes.

    Args:
        scope: account, browser or address.
        owed_s: processor time, as of `at_s`.
        usual_s: what is owed for a request of theirs, lately.
        here_s: when a request of theirs began or ended last.
        in_line: requests that wait.
        sockets: open ones; whoever listens is there.
    """

    scope: str
    owed_s: float = 0.0
    at_s: float = 0.0
    usual_s: float = 0.0
    here_s: float = -inf
    in_line: int = 0
    sockets: int = 0
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def here(self, now_s: float) -> bool:
        """Tells whether somebody is there."""
        return bool(self.sockets or self.in_line) or now_s - self.here_s <= HERE_S

    def owes(self, now_s: float, share: float) -> float:
        """Returns what is owed now, paid back with a share of the time since."""
        self.owed_s = max(0.0, self.owed_s - share * (now_s - self.at_s))
        self.at_s = now_s
        return self.owed_s


class FairShare:
    """Wraps an ASGI application that answers in threads.

    Args:
        app: the application, `metered` inside.
        shares: of one core by scope, percent; 0 for any.
        clock: seconds.
    """

    def __init__(
        self, app: App, shares: Mapping[str, int], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.app = app
        self._shares = {scope: percent / 100 for scope, percent in shares.items()}
        self._clock = clock
        self._debtors: dict[Key, Debtor] = {}
        self._known: OrderedDict[str, str] = OrderedDict()
        self._held_back = 0
        self._persons = self._addresses = 0
        self._looked_s = -inf

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Passes a request on when it is its turn, or refuses it; a socket, at once."""
        shown, address = _shown(scope), address_of_socket(scope)
        standing = self._known.get(shown, "")
        person = (standing, shown) if standing else ("browser", f"unknown at {address}")
        keys = [person] if standing == "account" else [person, (ADDRESS, address)]
        if scope["type"] == "websocket":
            with self._listening(keys):
                await self.app(scope, receive, send)
            return
        price = Price()

        async def weighed() -> Message:
            message = await receive()
            price.received_bytes += len(message.get("body", b""))
            return message

        async def answered(message: Message) -> None:
            if message["type"] == "http.response.start":
                price.refused = message["status"] in REFUSED
            await send(message)

        token = _PRICE.set(price)
        try:
            async with self._turn(keys, price):
                await self.app(scope, weighed, answered)
        except BeyondShare as error:
            await self._refuse(error, scope, send)
        finally:
            _PRICE.reset(token)
        if shown and price.standing:
            self._known[shown] = price.standing
            self._known.move_to_end(shown)
            if len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)

    @contextmanager
    def _listening(self, keys: list[Key]) -> Iterator[None]:
        debtors = self._come(keys)
        for debtor in debtors:
            debtor.sockets += 1
        try:
            yield
        finally:
            for debtor in debtors:
                debtor.sockets -= 1

    def _come(self, keys: list[Key]) -> list[Debtor]:
        """Notes that somebody is there; returns what stands for him and his address."""
        now_s = self._clock()
        debtors = [self._debtors.setdefault(key, Debtor(key[0], at_s=now_s)) for key in keys]
        came = not all(debtor.here(now_s) for debtor in debtors)
        for debtor in debtors:
            debtor.here_s = now_s
        self._look_round(now_s, came=came)
        return debtors

    @asynccontextmanager
    async def _turn(self, keys: list[Key], price: Price) -> AsyncIterator[None]:
        """Waits for a person's turn, and counts afterwards what it cost.

        Raises:
            BeyondShare: it would take too long.
        """
        debtors = self._come(keys)
        person = debtors[0]
        if person.in_line >= IN_LINE:
            raise self._beyond(debtors)
        person.in_line += 1
        try:
            async with asyncio.timeout(PATIENCE_S), person.turn:
                await person.slots.acquire()
                try:
                    await self._paid_back(debtors)
                except BaseException:
                    person.slots.release()
                    raise
        except TimeoutError:
            raise self._beyond(debtors) from None
        finally:
            person.in_line -= 1
        expected_s = person.usual_s
        self._charge(debtors, expected_s)
        try:
            yield
        finally:
            person.slots.release()
            self._charge(debtors, price.owed_s - expected_s)
            person.usual_s += RECENT * (price.owed_s - person.usual_s)

    async def _paid_back(self, debtors: list[Debtor]) -> None:
        while (wait_s := self._wait_s(debtors)) > FLOOR_S:  # noqa: ASYNC110  # no event
            await asyncio.sleep(min(wait_s, HOLD_BACK_S))  # a debt has no event

    def _wait_s(self, debtors: list[Debtor]) -> float:
        """Returns how long until nobody of these owes more than a moment."""
        now_s = self._clock()
        self._look_round(now_s)
        waits = (
            debtor.owes(now_s, share) / share - AHEAD_S
            for debtor in debtors
            if (share := self._share(debtor)) < ANY
        )
        return max(waits, default=0.0)

    def _share(self, debtor: Debtor) -> float:
        """Returns how much of a core somebody may have now: all, where nobody else is there."""
        company = self._addresses if debtor.scope == ADDRESS else self._persons
        return (self._shares[debtor.scope] or ANY) if company > 1 else ANY

    def _charge(self, debtors: list[Debtor], more_s: float) -> None:
        now_s = self._clock()
        for debtor in debtors:
            debtor.owes(now_s, self._share(debtor))
            debtor.owed_s += more_s
            debtor.here_s = now_s

    def _look_round(self, now_s: float, *, came: bool = False) -> None:
        """Counts who is there, once a second or when somebody came; forgets who owes nothing."""
        if now_s - self._looked_s < 1.0 and not came:
            return
        self._looked_s = now_s
        for key, debtor in list(self._debtors.items()):
            gone = not debtor.here(now_s) and now_s - debtor.here_s > KEPT_S
            if gone and not debtor.owes(now_s, self._share(debtor)):
                del self._debtors[key]
        here = [debtor for debtor in self._debtors.values() if debtor.here(now_s)]
        self._addresses = sum(debtor.scope == ADDRESS for debtor in here)
        self._persons = len(here) - self._addresses

    def _beyond(self, debtors: list[Debtor]) -> BeyondShare:
        wait_s = max(self._wait_s(debtors), HOLD_BACK_S)
        owed_s = max(debtor.owed_s for debtor in debtors)
        return BeyondShare(
            "your requests take more of the server than their share, and others wait",
            retry_s=wait_s,
            found=f"{owed_s:.1f} s of processor time owed, {debtors[0].in_line} requests waiting",
            exists=[f"{self._share(one):.0%} of a core for one {one.scope}" for one in debtors],
            attempt=f"again in {wait_s:.0f} s, with fewer requests at once or smaller ones",
        )

    async def _refuse(self, error: BeyondShare, scope: Message, send: Send) -> None:
        if self._held_back < IN_LINE * 4:
            self._held_back += 1
            try:
                await asyncio.sleep(HOLD_BACK_S)
            finally:
                self._held_back -= 1
        await refuse(error, scope, send)


_SESSION = re.compile(
    rb"(?:^|;)\s*" + re.escape(settings.SESSION_COOKIE_NAME.encode()) + rb"=([^;]+)"
)


def _shown(scope: Mapping[str, Any]) -> str:
    """Returns what a request shows of who sends it: a token, or a session."""
    cookie = ""
    for name, value in scope["headers"]:
        if name == b"authorization":
            return str(value.decode("latin1"))
        if name == b"cookie" and (found := _SESSION.search(value)):
            cookie = found[1].decode("latin1")
    return cookie
