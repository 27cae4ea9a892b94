"""What the engine and the writers need of a log; Redis Streams today, Kafka tomorrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from aspen.log.entry import Entry


class Log(Protocol):
    """A durable, totally ordered, replayable sequence of entries; positions count from 1.

    Law: what `read` once gave for a range it gives for ever.
    """

    def append(self, entries: Sequence[Entry], key: str = "") -> int:
        """Append entries in order, all or none.

        Args:
            entries: at least one.
            key: idempotency key; a second append under the same key changes nothing.

        Returns:
            The position of the last entry (of the first append under `key`).
        """
        ...

    def head(self) -> int:
        """Give the position of the newest entry, 0 when there is none."""
        ...

    def read(self, after: int, upto: int) -> list[tuple[int, Entry]]:
        """Give the entries at positions `after < position <= upto`, in order."""
        ...
