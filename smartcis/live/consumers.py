"""The socket: messages in, messages out; what they mean is the hub's business.

CONNECTING ──origin ok──► OPEN ──client leaves or fails, its session ends──► CLOSED
     └──────foreign origin──────────────────────────────────────────────────►┘
"""

from __future__ import annotations

import asyncio
from enum import Enum
from typing import Any
from urllib.parse import urlsplit

import redis
import structlog
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import DatabaseError
from django.http.request import split_domain_port, validate_host
from django.utils import timezone

from aspen.errors import AspenError
from smartcis import composition
from smartcis.access.grants import grant, is_staff, sessions_of
from smartcis.browser import browser_of, group_of
from smartcis.live import protocol
from smartcis.live.hub import Hub, hub_of
from smartcis.live.interest import SocketInterests
from smartcis.live.pulse import EnginePulse
from smartcis.live.rights import group_of_session, group_of_user, user_of_session
from smartcis.live.subscription import Subscription
from smartcis.models import RouteRequest

HEARTBEAT_S = 4.0
SEEN_EVERY_S = 60.0
SUBSCRIPTIONS = 64
REPLIES_WAITING = 1_000  # answers a client has not read: it asks and does not listen
FOREIGN_ORIGIN = 4403
SESSION_OVER = 4401
NOT_LISTENING = 4429
logger = structlog.get_logger(__name__)


class SocketState(Enum):
    """Where a connection is in its life."""

    CONNECTING = "connecting"
    OPEN = "open"
    CLOSED = "closed"


class TooMany(AspenError, code="smartcis.live.too_many_subscriptions"):
    """More subscriptions than one socket may hold."""


class Unavailable(AspenError, code="smartcis.live.unavailable"):
    """What a subscription needs cannot be reached now."""


def make_hub() -> Hub:
    """Builds the hub of an event loop."""
    pulse = EnginePulse(settings.REDIS_URL, settings.RESULTS_NAME)
    return Hub(composition.async_results(), pulse, SocketInterests(composition.log().append))


def origin_allowed(headers: dict[bytes, bytes]) -> bool:
    """Returns whether a socket may open: from the page's host, a trusted origin, or no browser."""
    host = headers.get(b"host", b"").decode("latin1")
    domain, _ = split_domain_port(host)
    hosts = settings.ALLOWED_HOSTS or (["localhost", "127.0.0.1"] if settings.DEBUG else [])
    if not domain or not validate_host(domain, hosts):
        return False
    origin = headers.get(b"origin", b"").decode("latin1")
    if not origin:
        return True  # browsers always send one; other programs have no one's cookies
    return origin in settings.CSRF_TRUSTED_ORIGINS or urlsplit(origin).netloc == host


class LiveConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels is untyped
    """One socket of one browser."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.state = SocketState.CONNECTING
        self.browser = ""
        self.session_key = ""
        self.user: AbstractBaseUser | AnonymousUser | None = None
        self.staff = False
        self.groups_joined: list[str] = []
        self.subscriptions: dict[int, Subscription] = {}
        self.starting: dict[int, asyncio.Task[None]] = {}
        self.replies: list[protocol.ServerMessage] = []
        self.news = asyncio.Event()
        self.pulse_due = False
        self.sender: asyncio.Task[None] | None = None

    @property
    def hub(self) -> Hub:
        """The event loop's hub."""
        return hub_of(make_hub)

    async def connect(self) -> None:
        """Accepts or refuses the connection."""
        if not origin_allowed(dict(self.scope["headers"])):
            await self.close(FOREIGN_ORIGIN)
            return
        await self.accept()
        self.state = SocketState.OPEN
        await self._know_client()
        await self._join()
        await self.hub.attach(self._beat)
        status = self.hub.pulse.message
        welcome = protocol.Welcome(protocol.PROTOCOL, status.epoch, status.engine)
        self.replies += [welcome, status]
        self.news.set()
        self.sender = asyncio.create_task(self._send_for_ever(), name="sender")

    async def disconnect(self, code: int) -> None:
        """Returns everything back."""
        self.state = SocketState.CLOSED
        self.hub.detach(self._beat)
        tasks = [*self.starting.values(), *([self.sender] if self.sender else [])]
        self._let_go()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._let_go()
        for group in self.groups_joined:
            await self.channel_layer.group_discard(group, self.channel_name)
        logger.debug("socket closed", code=code)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Answers one message; nonsense is answered too."""
        if self.state is not SocketState.OPEN:
            return
        if len(self.replies) >= REPLIES_WAITING:
            await self._close_for_good(NOT_LISTENING)
            return
        try:
            message = protocol.decode(text_data if text_data is not None else bytes_data or b"")
        except protocol.BadClientMessage as error:
            self._reply(protocol.WireError.of(error, None))
            return
        match message:
            case protocol.Ping(at):
                self._reply(protocol.Pong(at))
            case protocol.Unsubscribe(number):
                self._end(number)
            case protocol.Subscribe(number):
                self._end(number)
                if len(self.subscriptions) + len(self.starting) >= SUBSCRIPTIONS:
                    full = TooMany(
                        f"a socket holds at most {SUBSCRIPTIONS} subscriptions",
                        attempt="unsubscribe from some",
                    )
                    self._reply(protocol.WireError.of(full, number))
                    return
                task = asyncio.create_task(self._start(message))
                self.starting[number] = task

    async def routes_changed(self, _event: dict[str, Any]) -> None:
        """Another walk began or ended in this browser: show its rows."""
        allowed = await database_sync_to_async(sessions_of)(self.browser)
        for subscription in self.subscriptions.values():
            subscription.allow(allowed)

    async def session_ended(self, _event: dict[str, Any]) -> None:
        """Closes: somebody logged out, and the page comes back as whoever it is then."""
        await self._close_for_good()

    async def rights_changed(self, _event: dict[str, Any] | None = None) -> None:
        """Sees whose socket this is now, and ends what it may follow no longer."""
        if not self.session_key:
            return
        user = await database_sync_to_async(user_of_session)(self.session_key)
        if user is None:
            await self._close_for_good()
            return
        before, self.user = self.user, user
        if before is not None and (before.pk, self.staff) == (user.pk, is_staff(user)):
            return
        self.staff = is_staff(user)
        for number, subscription in tuple(self.subscriptions.items()):
            # Begun anew: what it may see of the view may have become less.
            self._end(number)
            self._reply(protocol.Closed(number, subscription.asked))
            again = protocol.Subscribe(number, subscription.asked)
            self.starting[number] = asyncio.create_task(self._start(again))

    async def _close_for_good(self, code: int = SESSION_OVER) -> None:
        """Sends nothing more, and releases everything before the client has answered."""
        self.state = SocketState.CLOSED
        self._let_go()
        await self.close(code)

    def _let_go(self) -> None:
        for number in {*self.subscriptions, *self.starting}:
            self._end(number)

    async def _know_client(self) -> None:
        """Notes whose socket this is."""
        session = self.scope.get("session")
        if session is not None:
            self.browser = await database_sync_to_async(browser_of)(session)
            self.session_key = session.session_key or ""
        self.user = self.scope.get("user")
        self.staff = is_staff(self.user)

    async def _join(self) -> None:
        """Hears what happens to the browser's walks, to its session and to its user."""
        groups = [group_of(self.browser)] if self.browser else []
        if self.session_key:
            groups.append(group_of_session(self.session_key))
        if self.user is not None and self.user.pk is not None:
            groups.append(group_of_user(self.user.pk))
        if self.channel_layer is None:
            return
        try:
            for group in groups:
                await self.channel_layer.group_add(group, self.channel_name)
                self.groups_joined.append(group)
        except (redis.RedisError, OSError) as error:
            # The socket still tells that the engine is away, and the client will come back.
            logger.warning("channel layer unreachable", reason=str(error))

    async def _start(self, message: protocol.Subscribe) -> None:
        """Authorises one subscription and begins it."""
        try:
            granted = await database_sync_to_async(grant)(
                message.view, browser=self.browser, user=self.user
            )
            subscription = await self.hub.subscribe(
                message.id,
                message.view,
                granted.view,
                allowed=granted.allowed,
                since=message.since,
                wake=self.news.set,
                on_demand=granted.on_demand,
            )
        except AspenError as error:
            self._reply(protocol.WireError.of(error, message.id))
        except DatabaseError as error:
            logger.warning("subscription not looked up", reason=str(error))
            away = Unavailable("the database does not answer", attempt="again in a few seconds")
            self._reply(protocol.WireError.of(away, message.id))
        else:
            self.subscriptions[message.id] = subscription
        finally:
            if self.starting.get(message.id) is asyncio.current_task():
                del self.starting[message.id]

    def _end(self, number: int) -> None:
        task = self.starting.pop(number, None)
        if task is not None:
            task.cancel()
        subscription = self.subscriptions.pop(number, None)
        if subscription is not None:
            self.hub.unsubscribe(subscription)

    def _reply(self, message: protocol.ServerMessage) -> None:
        self.replies.append(message)
        self.news.set()

    def _beat(self) -> None:
        self.pulse_due = True
        self.news.set()

    async def _send_for_ever(self) -> None:
        """Sends what waits; at least every 4 s sends how the engine is."""
        loop = asyncio.get_running_loop()
        next_beat = loop.time() + HEARTBEAT_S
        next_seen = loop.time() + SEEN_EVERY_S
        while self.state is SocketState.OPEN:
            try:
                async with asyncio.timeout_at(next_beat):
                    await self.news.wait()
            except TimeoutError:
                pass
            self.pulse_due |= loop.time() >= next_beat
            self.news.clear()
            # The socket's own back-pressure holds this task; meanwhile subscriptions sum up.
            for message in self._taken():
                if self.state is SocketState.OPEN:
                    await self.send(text_data=protocol.encode(message))
            if self.pulse_due and self.state is SocketState.OPEN:
                self.pulse_due = False
                await self.send(text_data=protocol.encode(self.hub.pulse.message))
                next_beat = loop.time() + HEARTBEAT_S
            if loop.time() >= next_seen and self.state is SocketState.OPEN:
                next_seen = loop.time() + SEEN_EVERY_S
                try:
                    await database_sync_to_async(self._seen)()
                    await self.rights_changed()
                except DatabaseError as error:
                    logger.warning("walks not kept", reason=str(error))  # the next turn will

    def _taken(self) -> list[protocol.ServerMessage]:
        replies, self.replies = self.replies, []
        for subscription in tuple(self.subscriptions.values()):
            if subscription.waits:
                replies += subscription.take()
        return replies

    def _seen(self) -> None:
        """Keeps this browser's walks from being swept."""
        if self.browser:
            RouteRequest.objects.filter(browser=self.browser).update(last_seen=timezone.now())
