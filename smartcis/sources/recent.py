"""Recent messages: the newest of each topic of a source, for whoever sets it up.

The listening process holds them, and leaves them in Redis once a second where they changed.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections import OrderedDict

import redis
import structlog
from django.conf import settings

from smartcis import composition
from smartcis.wrappers.payloads.protocol import Message
from smartcis.wrappers.protocol import HeardMessage

TOPICS = 100
TOPIC_LENGTH = 500
BEGINNING_BYTES = 8_000
KEEP_S = 3_600

logger = structlog.get_logger(__name__)


class RecentMessages:
    """The newest message of each of the topics heard last."""

    def __init__(self) -> None:
        self._newest: OrderedDict[str, HeardMessage] = OrderedDict()
        self._changed = False

    def add(self, message: HeardMessage) -> None:
        """Takes a message in."""
        self._newest.pop(message.topic, None)
        self._newest[message.topic] = message
        if len(self._newest) > TOPICS:
            self._newest.popitem(last=False)
        self._changed = True

    def keep(self, source: str) -> None:
        """Leaves them where pages find them; nothing waits for it."""
        if not self._changed:
            return
        self._changed = False
        newest = [
            (
                one.topic[:TOPIC_LENGTH].encode(errors="replace").decode(),
                b64encode(one.data[:BEGINNING_BYTES]).decode(),
                one.at_s,
                one.retained,
            )
            for one in list(self._newest.values())
        ]
        try:
            composition.server().set(_key(source), json.dumps(newest), ex=KEEP_S)
        except redis.RedisError as error:
            self._changed = True
            logger.warning("recent messages not kept", source=source, reason=str(error))


def recent_messages(source: str) -> list[Message]:
    """Returns the newest messages of a source, newest first; none where nobody listens."""
    try:
        kept = composition.server().get(_key(source))
    except redis.RedisError as error:
        logger.warning("recent messages not found", source=source, reason=str(error))
        kept = None
    found = json.loads(kept) if isinstance(kept, bytes | str) else []
    return [Message(topic, b64decode(data), at_s, kept) for topic, data, at_s, kept in found][::-1]


def _key(source: str) -> str:
    return f"{settings.NAME}:messages:{source}"
