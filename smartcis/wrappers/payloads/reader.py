"""Reader: a source's messages, read by its mappings, else by the family that recognises them.

message ── a mapping of its topic ── one value, or a family ──┐
└─── no mapping ── the family that recognises it ───────┼─> batch
└── none does: our own readings ─────────┘
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from zoneinfo import ZoneInfo

from smartcis.wrappers.errors import BadBrokerMessage
from smartcis.wrappers.payloads.families import CLASSES, FIELDS, OWN, families
from smartcis.wrappers.payloads.mapping import FieldReader
from smartcis.wrappers.payloads.own import readings_of
from smartcis.wrappers.payloads.protocol import Message
from smartcis.wrappers.protocol import Measured, Measurements, PayloadMapping, Readings


class PayloadReader:
    """Reads the messages of one source.

    Args:
        mappings: of some topics.
        topic: what the operator subscribes to besides; empty for nothing, or, without mappings,
            for where all families usually publish.
        zone: of devices that send local time.

    Raises:
        BadConfig: a mapping that cannot be.
    """

    def __init__(
        self, mappings: Sequence[PayloadMapping], topic: str = "", zone: ZoneInfo | None = None
    ) -> None:
        self._mappings = [FieldReader(one) for one in mappings]
        self._families = families(zone)
        given = [topic] if topic else []
        chosen = [*given, *(one.pattern.filter for one in self._mappings)]
        self.asked = bool(chosen)  # somebody named them; otherwise any may be missing
        usual = [one for family in CLASSES for one in family.filters]
        self.filters = tuple(dict.fromkeys(chosen or usual))

    @property
    def follows(self) -> AbstractSet[str]:
        """Topics that devices named."""
        found = [one.follows for one in self._families.values() if one.follows]
        return found[0] if len(found) == 1 else frozenset[str]().union(*found)

    def family_of(self, message: Message) -> str:
        """Returns who reads a message: `fields` for mappings of one value, else a family."""
        if named := self._named(message):
            return named[0].said.family
        for one in self._families.values():
            if one.recognises(message):
                return one.key
        return OWN

    def read(self, message: Message) -> Readings | Measurements:
        """Reads one message.

        Raises:
            BadJSON: it is no JSON where JSON is expected.
            BadBrokerMessage: it is not as its family's messages are.
        """
        named, family = self._named(message), self.family_of(message)
        if family == OWN:
            return readings_of(message.topic, message.data)
        if family == FIELDS:
            found = [value for one in named for value in one.read(message)]
            if not found:
                raise BadBrokerMessage(
                    "no mapping finds a value in it",
                    found=message.topic[:80],
                    exists=[one.said.path or "the payload" for one in named],
                )
        else:
            found = list(self._families[family].read(message))
        return Measurements(_key(message, found), found, message.at_s, message.retained)

    def _named(self, message: Message) -> list[FieldReader]:
        """Returns the mappings of a topic: the first one's family, or all of single values."""
        fitting = [one for one in self._mappings if one.pattern.match(message.topic) is not None]
        return [one for one in fitting if one.said.family == fitting[0].said.family]


def _key(message: Message, found: Sequence[Measured]) -> str:
    """Returns an identity: equal bytes are the same where they say when they were measured."""
    timed = all(one.at_s is not None for one in found)
    text = b"\0".join(
        (
            message.topic.encode(errors="replace"),
            b"" if timed else b"%f" % message.at_s,
            message.data,
        )
    )
    return hashlib.sha256(text).hexdigest()[:40]
