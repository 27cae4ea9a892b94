"""Rights: sockets hear when what their user may see has changed.

    a session ends (logout)       its sockets are closed; the page comes back as somebody else
    a user changes or is deleted  its sockets ask again what they may follow

Whatever changed without a word (another process, a shell) is found by asking now and then.
"""

from __future__ import annotations

import hashlib
from importlib import import_module
from typing import Any

import redis
import structlog
from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings
from django.contrib.auth import get_user, get_user_model
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.contrib.auth.signals import user_logged_out
from django.db import transaction
from django.db.models.signals import post_delete, post_save
from django.http import HttpRequest

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
