"""Rights: sockets hear when what their user may see has changed.

    a session ends (logout)            its sockets are closed; the page comes back as somebody else
    a user is deleted or switched off  the same
    a user becomes staff, or no staff  its sockets ask again what they may follow

What they showed is taken off the page first. Whatever changed without a word (an update of the
table, another program) is found by asking: for all sockets together, every second.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable
from importlib import import_module
from typing import Any, Protocol

import redis
import structlog
from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from django.conf import settings
from django.contrib.auth import get_user, get_user_model
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.contrib.auth.signals import user_logged_out
from django.db import DatabaseError, transaction
from django.db.models.signals import post_delete, post_save
from django.http import HttpRequest

from smartcis.access.seen_as import is_as_visitor
from smartcis.models.source import PKS_AT_ONCE, batched

LOOK_S = 1.0
SESSION_ENDED = "session.ended"
RIGHTS_CHANGED = "rights.changed"

User = AbstractBaseUser | AnonymousUser
logger = structlog.get_logger(__name__)


def group_of_session(key: str) -> str:
    """The channel group of all sockets of a session; its name does not give the key away."""
    return f"session.{hashlib.sha256(key.encode()).hexdigest()[:32]}"


def group_of_user(user_id: object) -> str:
    """Returns the channel group of all sockets of a user."""
    return f"user.{user_id}"


def user_of_session(key: str) -> User | None:
    """Returns whose session it is now, None when it is over."""
    session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    if not session.exists(key):
        return None
    if is_as_visitor(session):
        return AnonymousUser()
    request = HttpRequest()
    request.session = session
    return get_user(request)


def install() -> None:
    """Notifies sockets of what happens to sessions and users in this process."""
    user_logged_out.connect(_logged_out, dispatch_uid="smartcis.live.rights")
    for signal in (post_save, post_delete):
        signal.connect(_user_changed, get_user_model(), dispatch_uid="smartcis.live.rights")


def _logged_out(request: HttpRequest | None, **_: Any) -> None:
    key = None if request is None else request.session.session_key
    if key:
        _announce(group_of_session(key), SESSION_ENDED)


def _user_changed(instance: Any, update_fields: frozenset[str] | None = None, **_: Any) -> None:
    if update_fields == frozenset({"last_login"}):
        return  # every login notes its time
    group = group_of_user(instance.pk)
    transaction.on_commit(lambda: _announce(group, RIGHTS_CHANGED), robust=True)


def _announce(group: str, kind: str) -> None:
    layer = get_channel_layer()
    if layer is None:
        return
    try:
        async_to_sync(layer.group_send)(group, {"type": kind})
    except (redis.RedisError, OSError) as error:
        # The sockets find out by themselves, a little later.
        logger.warning("change of rights not announced", reason=str(error))


class SignedIn(Protocol):
    """A socket that belongs to somebody."""

    @property
    def staff(self) -> bool:
        """Whether it was somebody's who is staff."""

    @property
    def account(self) -> Any:
        """The user's key."""

    async def rights_changed(self, event: dict[str, Any] | None = None) -> None:
        """Sees whose socket this is now."""


class RightsWatch:
    """Asks for all sockets of an event loop what their users are; runs while there are any."""

    def __init__(self) -> None:
        self._sockets: set[SignedIn] = set()
        self._task: asyncio.Task[None] | None = None

    def add(self, socket: SignedIn) -> None:
        """Watches a socket's user."""
        self._sockets.add(socket)
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="rights")

    def discard(self, socket: SignedIn) -> None:
        """Ends that."""
        self._sockets.discard(socket)
        if not self._sockets and self._task is not None:
            self._task.cancel()
            self._task = None

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            asked = {socket: socket.account for socket in self._sockets}
            try:
                staff = await database_sync_to_async(_staff_by_user)(asked.values())
            except DatabaseError as error:
                logger.warning("rights not looked up", reason=str(error))
                continue
            others = [one for one, account in asked.items() if staff.get(account) != one.staff]
            # At once: a page that does not listen holds up no other.
            told = await asyncio.gather(
                *(one.rights_changed() for one in others), return_exceptions=True
            )
            for fault in filter(None, told):
                logger.warning("change of rights not told", reason=str(fault))


def _staff_by_user(ids: Iterable[object]) -> dict[object, bool]:
    """Returns whether users are staff; those deleted or switched off are left out."""
    users = get_user_model()._default_manager  # noqa: SLF001  # public despite its name
    found: dict[object, bool] = {}
    for keys in batched(set(ids), PKS_AT_ONCE):
        active = users.filter(pk__in=keys, is_active=True)
        found |= dict(active.values_list("pk", "is_staff"))
    return found


_WATCHES: dict[asyncio.AbstractEventLoop, RightsWatch] = {}


def watch_of() -> RightsWatch:
    """Returns the running event loop's watch."""
    loop = asyncio.get_running_loop()
    for closed in [other for other in _WATCHES if other.is_closed()]:
        del _WATCHES[closed]
    return _WATCHES.setdefault(loop, RightsWatch())
