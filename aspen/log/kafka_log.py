"""The log on Kafka: what a reader of one partition folds from its first record on.

    record      genesis   append a      append a again   append b       one append is one record
    key         ∅         a             a                b
    entries     identity  e e           (known: skipped) e e e
    positions             1 2                            3 4 5

Positions are not offsets: they are counted by whoever reads, the same by everybody, since the
broker gives all the same order. So an append needs no agreement among writers, is there whole or
not at all, and is repeated freely under its key. A base is a record of a second topic: of several
the furthest counts, so that two engines may compact at once.

Law: same as `aspen.log.protocol.Log`.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from aspen.log.entry import Entry, decode, encode
from aspen.log.kafka_topic import KafkaTopic, Record
from aspen.log.protocol import Base, LogCompacted, LogGap
from aspen.log.redis_log import KEY_KEPT_S, RawEntry

_GENESIS = b"\0genesis"
_BASE = b"base"
_SEPARATOR = b"\n"  # no JSON text of an entry holds one
_POLL_S = 0.02
FOREVER = {
    "cleanup.policy": "delete",
    "retention.ms": "-1",
    "retention.bytes": "-1",
    "message.timestamp.type": "LogAppendTime",  # one clock for all writers
    "max.message.bytes": "100000000",  # a base holds a lane's snapshot
}


@dataclass(slots=True)
class _Index:
    """Where which positions are; what one reader has folded so far.

    Args:
        identity: of the log, empty before its first append.
        base: position up to which entries are folded into the base.
        after: offset of the next record to fold.
        head: position of the newest entry.
        offsets: of the records that count, in order; `firsts` has their first positions.
        keys: idempotency key → (last position, milliseconds of the append).
    """

    identity: str = ""
    base: int = 0
    after: int = 0
    head: int = 0
    offsets: list[int] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)
    keys: dict[str, tuple[int, int]] = field(default_factory=dict)


class KafkaLog:
    """A `Log` on Kafka; see the module's head.

    Args:
        servers: host:port, comma-separated.
        name: the topics are `<name>.log` and `<name>.log.base`.
        patience_s: how long a call waits for the broker.
    """

    def __init__(self, servers: str, name: str, *, patience_s: float = 10.0) -> None:
        self.name = name
        self._topic = KafkaTopic(servers, f"{name}.log", FOREVER, patience_s)
        self._bases = KafkaTopic(servers, f"{name}.log.base", FOREVER, patience_s)
        self._lock = threading.RLock()
        self._index = _Index()
        self._state = b""
        self._bases_after = 0

    def append(self, entries: Sequence[Entry], key: str = "") -> int:
        """Append entries in order; see `Log.append`."""
        if not entries:
            raise ValueError("an append holds at least one entry")
        with self._lock:
            self._catch_up()
            if not self._index.identity:
                # Two writers may both begin: the first of their records counts.
                self._topic.append(_GENESIS, secrets.token_hex(8).encode())
            once = key or f"once-{secrets.token_hex(12)}"
            value = _SEPARATOR.join(encode(entry) for entry in entries)
            offset = self._topic.append(once.encode(), value)
            self._fold_to(offset + 1)
            return self._index.keys[once][0]

    def head(self) -> int:
        """Returns the position of the newest entry, 0 when there is none."""
        return self.state()[1]

    def identity(self) -> str:
        """Returns the id this log got at its first append, empty before."""
        return self.state()[0]

    def state(self) -> tuple[str, int]:
        """Returns identity and head as of one moment."""
        with self._lock:
            self._catch_up()
            return self._index.identity, self._index.head

    def wait(self, after: int, wait_s: float) -> int:
        """Returns the head as soon as it is beyond `after`, or as it is after `wait_s`."""
        deadline = time.monotonic() + wait_s
        while (head := self.head()) <= after and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        return head

    def read_raw(self, after: int, upto: int) -> list[RawEntry]:
        """Returns the entries at positions `after < position <= upto`, not decoded.

        Raises:
            LogCompacted: the base holds what was asked for.
            LogGap: positions are asked for that are not there.
        """
        if upto <= after:
            return []
        with self._lock:
            self._catch_up()
            index = self._index
            if after < index.base:
                raise LogCompacted.before(index.base, after)
            if upto > index.head:
                raise LogGap(
                    f"positions {after + 1} to {upto} were asked for", found=str(index.head)
                )
            first = bisect_right(index.firsts, after + 1) - 1
            last = bisect_right(index.firsts, upto) - 1
            counted = dict(zip(index.offsets[first : last + 1], index.firsts[first:], strict=False))
            found: list[RawEntry] = []
            for record in self._topic.read(index.offsets[first], index.offsets[last] + 1):
                if record.offset in counted:
                    found += _entries(record, counted[record.offset])
            return [entry for entry in found if after < entry.position <= upto]

    def read(self, after: int, upto: int) -> list[tuple[int, Entry]]:
        """Returns the entries at positions `after < position <= upto`, in order."""
        first, last = max(after, 0), min(upto, self.head())
        return [(raw.position, decode(raw.data)) for raw in self.read_raw(first, last)]

    def base(self) -> Base:
        """Returns the fold the log begins with."""
        with self._lock:
            self._catch_up()
            return Base(self._index.base, self._state)

    def compact(self, base: Base) -> None:
        """Put a fold in the place of the entries up to its position; see `Log.compact`."""
        with self._lock:
            self._catch_up()
            index = self._index
            if not index.base < base.position <= index.head:
                return
            # The base may end inside a record, which then stays.
            number = bisect_right(index.firsts, base.position + 1) - 1
            whole = base.position == index.head
            offset = index.after if whole else index.offsets[number]
            newest_ms = max((at_ms for _, at_ms in index.keys.values()), default=0)
            header = {
                "identity": index.identity,
                "position": base.position,
                "offset": offset,
                "before": base.position if whole else index.firsts[number] - 1,
                "keys": {
                    key: known
                    for key, known in index.keys.items()
                    # Younger ones are found again in the records that stay.
                    if known[0] <= base.position and newest_ms - known[1] <= KEY_KEPT_S * 1000
                },
            }
            place = self._bases.append(_BASE, json.dumps(header).encode() + _SEPARATOR + base.state)
            self._catch_up()
            # Where the broker cannot, the base counts all the same and only space is not won.
            self._topic.trim(offset)
            self._bases.trim(place)

    def close(self) -> None:
        """Returns the connections back."""
        self._topic.close()
        self._bases.close()

    def _catch_up(self) -> None:
        self._take_bases()
        first, after = self._topic.ends()
        if first > self._index.after:
            self._take_bases()  # somebody compacted in between
        if first > self._index.after or after < self._index.after:
            raise LogGap(
                f"the topic has records {first} to {after}, and {self._index.after} comes next",
                found=str(first),
                attempt="start anew: what is left in the topic is not this log",
            )
        self._fold_to(after)

    def _take_bases(self) -> None:
        first, after = self._bases.ends()
        for record in self._bases.read(max(first, self._bases_after), after):
            self._bases_after = record.offset + 1
            self._take_base(record)

    def _fold_to(self, after: int) -> None:
        for record in self._topic.read(self._index.after, after):
            self._index.after = record.offset + 1
            self._fold(record)

    def _fold(self, record: Record) -> None:
        index = self._index
        if record.key == _GENESIS:
            index.identity = index.identity or record.value.decode()
            return
        key = record.key.decode()
        known = index.keys.get(key)
        if known is not None and record.at_ms - known[1] <= KEY_KEPT_S * 1000:
            return
        index.offsets.append(record.offset)
        index.firsts.append(index.head + 1)
        index.head += record.value.count(_SEPARATOR) + 1
        index.keys[key] = (index.head, record.at_ms)

    def _take_base(self, record: Record) -> None:
        """Begin at a base that is further than the present one."""
        text, _, state = record.value.partition(_SEPARATOR)
        header: dict[str, Any] = json.loads(text)
        index = self._index
        if header["position"] <= index.base:
            return
        self._state = state
        if header["offset"] > index.after:
            # This reader is behind it: what it would have folded is folded in the base.
            index.offsets, index.firsts = [], []
            index.identity, index.head = header["identity"], header["before"]
            index.after = header["offset"]
            index.keys = {key: (place, at_ms) for key, (place, at_ms) in header["keys"].items()}
        index.base = header["position"]
        gone = bisect_right(index.firsts, header["before"])
        del index.offsets[:gone], index.firsts[:gone]


def _entries(record: Record, first: int) -> list[RawEntry]:
    return [
        RawEntry(position, data, record.at_ms)
        for position, data in enumerate(record.value.split(_SEPARATOR), start=first)
    ]
