"""The socket: messages in, messages out; what they mean is the hub's business.

CONNECTING ──origin ok──► OPEN ──client leaves or fails, its session ends──► CLOSED
     └──────foreign origin──────────────────────────────────────────────────►┘
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from enum import Enum
from typing import Any

import redis
import structlog
from channels.consumer import get_handler_name
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import DatabaseError
from django.utils import timezone

from aspen.errors import AspenError
from smartcis import composition
from smartcis.access.grants import grant, is_staff, sessions_of
from smartcis.access.owner import Owner
from smartcis.address import address_of_socket
from smartcis.browser import browser_of, group_of
from smartcis.errors import LimitReached
from smartcis.language import language_of
from smartcis.live import protocol
from smartcis.live.allowance import FRAMES_PER_S, Allowance, TooMany
from smartcis.live.hub import Hub, hub_of
from smartcis.live.interest import SocketInterests
from smartcis.live.moment import Moment
from smartcis.live.origin import origin_allowed
from smartcis.live.pulse import EnginePulse
from smartcis.live.rights import group_of_session, group_of_user, user_of_session, watch_of
from smartcis.live.shared_rows import TAIL, encoded
from smartcis.live.subscription import Subscription
from smartcis.models import RouteRequest

HEARTBEAT_S = 4.0
SEEN_EVERY_S = 60.0
LAST_WORD_S = 1.0  # for a page to take what is taken back
SUBSCRIPTIONS = 64
REPLIES_WAITING = 1_000  # answers a client has not read: it asks and does not listen
FOREIGN_ORIGIN = 4403
SESSION_OVER = 4401
TOO_MUCH = 4429
COUNTED_BYTES = 10_000_000
logger = structlog.get_logger(__name__)


class SocketState(Enum):
    """Where a connection is in its life."""

    CONNECTING = "connecting"
    OPEN = "open"
    CLOSED = "closed"


class DatabaseAway(AspenError, code="smartcis.live.unavailable"):
    """What a subscription needs cannot be reached now."""


def make_hub() -> Hub:
    """Builds the hub of an event loop."""
    pulse = EnginePulse(settings.REDIS_URL, settings.RESULTS_NAME)
    return Hub(composition.async_results(), pulse, SocketInterests(composition.log().append))


class LiveConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels is untyped
    """One socket of one browser."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.state = SocketState.CONNECTING
        self.owner = Owner()
        self.allowance = Allowance(self.owner)
        self.session_key = ""
        self.language = settings.LANGUAGE_CODE
        self.user: AbstractBaseUser | AnonymousUser | None = None
        self.groups_joined: list[str] = []
        self.subscriptions: dict[int, Subscription] = {}
        self.starting: dict[int, tuple[protocol.Subscribe, asyncio.Task[None]]] = {}
        self.sent_bytes = 0
        self.replies: list[protocol.ServerMessage] = []
        self.news = asyncio.Event()
        self.pulse_due = False
        self.moment = Moment(self.subscriptions)
        self.sender: asyncio.Task[None] | None = None

    @property
    def account(self) -> object:
        """Whose socket it is, by the user's key; None for a visitor's."""
        return self.owner.user_id

    @property
    def staff(self) -> bool:
        """Whether it is somebody's who is staff."""
        return self.owner.staff

    @property
    def hub(self) -> Hub:
        """The event loop's hub."""
        return hub_of(make_hub)

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Handles an event; channels would visit the database's thread before each."""
        await getattr(self, get_handler_name(message))(message)

    async def connect(self) -> None:
        """Accepts or refuses the connection."""
        if not origin_allowed(dict(self.scope["headers"])):
            await self.close(FOREIGN_ORIGIN)
            return
        self.language = language_of(self.scope)
        await self.accept()
        await self._know_client()
        try:
            await asyncio.to_thread(self.allowance.open)
        except LimitReached as error:
            await self._refuse(error)
            return
        self.state = SocketState.OPEN
        await self._join()
        await self.hub.attach(self._beat)
        if self.account is not None:
            watch_of().add(self)
        status = self.hub.pulse.message
        welcome = protocol.Welcome(protocol.PROTOCOL, status.epoch, status.engine)
        self.replies += [welcome, status]
        self.news.set()
        self.sender = asyncio.create_task(self._send_for_ever(), name="sender")

    async def disconnect(self, code: int) -> None:
        """Returns everything back."""
        self.state = SocketState.CLOSED
        self.hub.detach(self._beat)
        watch_of().discard(self)
        tasks = [task for _, task in self.starting.values()]
        tasks += [self.sender] if self.sender else []
        self._let_go()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._let_go()
        for group in self.groups_joined:
            await self.channel_layer.group_discard(group, self.channel_name)
        self.allowance.turn.remember()
        await asyncio.to_thread(self.allowance.close)
        logger.debug("socket closed", code=code)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Answers one message; nonsense is answered too."""
        if self.state is not SocketState.OPEN:
            return
        if len(self.replies) >= REPLIES_WAITING:
            await self._close_for_good(TOO_MUCH)
            return
        try:
            self.allowance.frame(asyncio.get_running_loop().time())
        except LimitReached as error:
            self._reply(protocol.WireError.of(error, None))
            await asyncio.sleep(1 / FRAMES_PER_S)  # no other is read before
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
                if self._held >= SUBSCRIPTIONS:
                    full = TooMany(
                        f"a socket holds at most {SUBSCRIPTIONS} subscriptions",
                        attempt="unsubscribe from some",
                    )
                    self._reply(protocol.WireError.of(full, number))
                    return
                self._begin(message)

    async def routes_changed(self, _event: dict[str, Any]) -> None:
        """Another walk began or ended in this browser: show its rows."""
        allowed = await database_sync_to_async(sessions_of)(self.owner.browser)
        for subscription in self.subscriptions.values():
            subscription.allow(allowed)

    async def session_ended(self, _event: dict[str, Any]) -> None:
        """Closes: somebody logged out, and the page comes back as whoever it is then."""
        await self._close_for_good(retracted=self._retract())

    async def rights_changed(self, _event: dict[str, Any] | None = None) -> None:
        """Sees whose socket this is now, and takes back what it may follow no longer."""
        if not self.session_key or self.state is not SocketState.OPEN:
            return
        user = await database_sync_to_async(user_of_session)(self.session_key)
        if user is None or (self.account is not None and user.pk is None):
            # Whoever is deleted or switched off does not go on as a visitor.
            await self._close_for_good(retracted=self._retract())
            return
        before, self.user = self.account, user
        if (before, self.owner.staff) == (user.pk, is_staff(user)):
            return
        self.owner = replace(self.owner, user_id=user.pk, staff=is_staff(user))
        # Begun anew: what it may see of each view may have become less.
        for message in self._retract():
            self._reply(message)
            if isinstance(message, protocol.Closed):
                self._begin(protocol.Subscribe(message.id, message.view))

    def _retract(self) -> list[protocol.ServerMessage]:
        """Ends all subscriptions; returns what takes their rows off the page."""
        followed = {number: message.view for number, (message, _) in self.starting.items()}
        followed |= {number: one.asked for number, one in self.subscriptions.items()}
        self._let_go()
        return [message for pair in followed.items() for message in protocol.retraction(*pair)]

    async def _close_for_good(
        self, code: int = SESSION_OVER, retracted: Iterable[protocol.ServerMessage] = ()
    ) -> None:
        """Sends nothing more, and releases everything before the client has answered."""
        self.state = SocketState.CLOSED
        self._let_go()
        try:
            async with asyncio.timeout(LAST_WORD_S):
                for message in retracted:
                    await self.send(text_data=protocol.encode(message))
        except TimeoutError:
            logger.info("a page that does not listen was not told that its rows are gone")
        await self.close(code)

    def _let_go(self) -> None:
        for number in {*self.subscriptions, *self.starting}:
            self._end(number)

    async def _know_client(self) -> None:
        """Notes whose socket this is."""
        session = self.scope.get("session")
        browser, self.user = "", self.scope.get("user")
        if session is not None:
            browser = await database_sync_to_async(browser_of)(session)
            self.session_key = session.session_key or ""
        self.owner = Owner(
            browser,
            user_id=None if self.user is None else self.user.pk,
            staff=is_staff(self.user),
            address=address_of_socket(self.scope),
        )
        self.allowance = Allowance(self.owner)

    async def _join(self) -> None:
        """Hears what happens to the browser's walks, to its session and to its user."""
        groups = [group_of(self.owner.browser)] if self.owner.browser else []
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

    def _begin(self, message: protocol.Subscribe) -> None:
        self.allowance.begin(message.id)
        self.starting[message.id] = message, asyncio.create_task(self._start(message))

    async def _start(self, message: protocol.Subscribe) -> None:
        """Authorises one subscription and begins it."""
        try:
            async with self.allowance.turn:  # who starts many does not queue before everybody
                await self.allowance.subscribe(message.id, self._held)
                granted = await database_sync_to_async(grant)(
                    message.view, browser=self.owner.browser, user=self.user
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
            if message.since is not None:
                self.replies += protocol.retraction(message.id, message.view)
            self._reply(protocol.WireError.of(error, message.id))
        except DatabaseError as error:
            logger.warning("subscription not looked up", reason=str(error))
            away = DatabaseAway("the database does not answer", attempt="again in a few seconds")
            self._reply(protocol.WireError.of(away, message.id))
        else:
            self.subscriptions[message.id] = subscription
        finally:
            if self.starting.get(message.id, (None, None))[1] is asyncio.current_task():
                del self.starting[message.id]

    @property
    def _held(self) -> int:
        return len(self.subscriptions) + len(self.starting)

    def _end(self, number: int) -> None:
        self.allowance.forget(number)
        if number in self.starting:
            self.starting.pop(number)[1].cancel()
        if subscription := self.subscriptions.pop(number, None):
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
            await self._send_what_waits()
            if self.pulse_due and self.state is SocketState.OPEN:
                self.pulse_due = False
                await self._send(self.moment.status(self.hub.pulse.message))
                next_beat = loop.time() + HEARTBEAT_S
            if loop.time() >= next_seen and self.state is SocketState.OPEN:
                next_seen = loop.time() + SEEN_EVERY_S
                try:
                    await database_sync_to_async(self._keep_walks)()
                    await self.rights_changed()
                    await self._count()
                except DatabaseError as error:
                    logger.warning("walks not kept", reason=str(error))  # the next turn will

    async def _send_what_waits(self) -> None:
        """Sends replies, then what waits; the socket's own back-pressure holds this task."""
        replies, self.replies = self.replies, []
        for message in replies:
            await self._send(message)
        for message in self.moment.messages():
            await self._send(message)
        self.pulse_due |= self.moment.dangling

    async def _send(self, message: protocol.ServerMessage) -> None:
        if self.state is not SocketState.OPEN:
            return
        text, tail = await encoded(protocol.told(message, self.language))
        if self.state is not SocketState.OPEN:  # it may have closed meanwhile
            return
        if tail is None:
            await self.send(text_data=text)
        elif TAIL in self.scope.get("extensions", {}):
            await self.base_send({"type": "websocket.send", "text": text, TAIL: tail})
        else:
            await self.send(text_data=text + tail.text)
        self.sent_bytes += len(text) + (len(tail.text) if tail else 0)
        if self.sent_bytes > COUNTED_BYTES:
            await self._count()

    async def _count(self) -> None:
        """Renews what this socket holds, and counts what was sent; too much of that closes it."""
        sent, self.sent_bytes = self.sent_bytes, 0
        try:
            await asyncio.to_thread(self.allowance.sent, self._held, sent)
        except LimitReached as error:
            await self._refuse(error)

    async def _refuse(self, error: LimitReached) -> None:
        said = protocol.told(protocol.WireError.of(error, None), self.language)
        await self.send(text_data=protocol.encode(said))
        await self._close_for_good(TOO_MUCH)

    def _keep_walks(self) -> None:
        if browser := self.owner.browser:
            RouteRequest.objects.filter(browser=browser).update(last_seen=timezone.now())
