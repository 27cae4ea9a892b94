"""A log in memory: the model that the product's log is compared with."""

from __future__ import annotations

from collections.abc import Sequence

from aspen.log.base import Base, KeyReused, LogCompacted
from aspen.log.entry import Entry, decode, encode


class MemoryLog:
    """Keeps encoded entries, so that what comes back has made the same way as through Redis.

    Law: same as `aspen.log.redis_log.RedisLog`.
    """

    def __init__(self) -> None:
        self._entries: list[bytes] = []
        self._keys: dict[str, int] = {}
        self._said: dict[str, str] = {}
        self._base = Base()

    def append(self, entries: Sequence[Entry], key: str = "", digest: str = "") -> int:
        """Append entries in order; see `RedisLog.append`."""
        if not entries:
            raise ValueError("an append holds at least one entry")
        if key and key in self._keys:
            if digest and self._said.get(key, digest) != digest:
                raise KeyReused.under(key)
            return self._keys[key]
        encoded = [encode(entry) for entry in entries]
        self._entries.extend(encoded)
        position = self.head()
        if key:
            self._keys[key] = position
            if digest:
                self._said[key] = digest
        return position

    def head(self) -> int:
        """Returns the position of the newest entry, 0 when there is none."""
        return self._base.position + len(self._entries)

    def read(self, after: int, upto: int) -> list[tuple[int, Entry]]:
        """Returns the entries at positions `after < position <= upto`, in order."""
        start = self._base.position
        first = max(after, 0)
        if first < start:
            raise LogCompacted.before(start, first)
        return [
            (first + offset, decode(data))
            for offset, data in enumerate(
                self._entries[first - start : max(upto - start, 0)], start=1
            )
        ]

    def base(self) -> Base:
        """Returns the fold the log begins with."""
        return self._base

    def compact(self, base: Base) -> None:
        """Put a fold in the place of the entries up to its position; see `RedisLog.compact`."""
        if self._base.position < base.position <= self.head():
            del self._entries[: base.position - self._base.position]
            self._base = base
