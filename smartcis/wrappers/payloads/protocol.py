"""What families of payloads are given, and what they make of it."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any, ClassVar, Protocol

from smartcis.json_text import decoded
from smartcis.wrappers.errors import BadBrokerMessage
from smartcis.wrappers.protocol import HeardMessage, Measured

PAYLOAD_BYTES = 1_000_000


class Message(HeardMessage):
    """One message of a broker, with what families ask of it."""

    __slots__ = ()

    @property
    def levels(self) -> list[str]:
        """The levels of the topic."""
        return self.topic.split("/")

    def object(self) -> dict[str, Any]:
        """Returns the JSON object it is.

        Raises:
            BadJSON: it is no JSON.
            BadBrokerMessage: it is another value.
        """
        value = decoded(self.data, PAYLOAD_BYTES)
        if not isinstance(value, dict):
            raise BadBrokerMessage("the payload is no JSON object", found=type(value).__name__)
        return value


class Family(Protocol):
    """Payloads of one make; an instance belongs to one source and may remember what it heard.

    Law: `read` gives measured quantities, none, or raises an AspenError; nothing else.
    """

    key: ClassVar[str]
    label: ClassVar[str]
    filters: ClassVar[tuple[str, ...]]
    """Where its devices usually publish."""

    @property
    def follows(self) -> AbstractSet[str]:
        """Topics that it was told of and wants to hear."""

    def recognises(self, message: Message) -> bool:
        """Returns whether a message is of this family."""

    def read(self, message: Message) -> Sequence[Measured]:
        """Returns what was measured.

        Raises:
            BadJSON: no JSON where JSON is expected.
            BadBrokerMessage: of the family, and not as it should be.
        """


class Stateless:
    """A family whose messages say everything themselves."""

    @property
    def follows(self) -> AbstractSet[str]:
        """It is told of no other topics."""
        return frozenset()
