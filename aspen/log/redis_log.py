"""The log on a Redis stream: position n is the stream entry `n-0`.

    stream   name:log        1-0  2-0  3-0  …      fields: e = entry, t = milliseconds of the append
    string   name:log:id     which log this is; another one means another history
    zset     name:log:keys:W idempotency keys of a writer → position of the last entry under each
    hash     name:log:base   position, state: the fold of the entries that were compacted

One Lua script appends a batch, so that positions have no gaps and a batch is there whole or not
at all. The server's clock stamps `t`; it is for measuring latency only, never an input to a view.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from aspen.log.entry import Entry, decode, encode
from aspen.log.protocol import Base, LogCompacted, LogGap
from aspen.redis_client import connect

KEYS_KEPT = 50_000  # of each writer: three hours of a simulator's batches, 5 MB
KEYS_KEPT_S = 7 * 24 * 3600  # after a writer's last append

# KEYS stream, id, keys, base   ARGV fresh id, keys kept, seconds kept, key, entries…
_APPEND = """
local seen = redis.call('ZSCORE', KEYS[3], ARGV[4])
if seen then return tonumber(seen) end
redis.call('SET', KEYS[2], ARGV[1], 'NX')
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
local position
if last[1] then position = tonumber(string.match(last[1][1], '^%d+'))
else position = tonumber(redis.call('HGET', KEYS[4], 'position') or '0') end
local now = redis.call('TIME')
local at = now[1] * 1000 + math.floor(now[2] / 1000)
for i = 5, #ARGV do
  position = position + 1
  redis.call('XADD', KEYS[1], string.format('%d-0', position), 'e', ARGV[i],
             't', string.format('%d', at))
end
redis.call('ZADD', KEYS[3], position, ARGV[4])
redis.call('ZREMRANGEBYRANK', KEYS[3], 0, -1 - tonumber(ARGV[2]))
redis.call('EXPIRE', KEYS[3], ARGV[3])
return position
"""

# KEYS stream, base   ARGV position, state
_COMPACT = """
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
local head = last[1] and tonumber(string.match(last[1][1], '^%d+')) or 0
local old = tonumber(redis.call('HGET', KEYS[2], 'position') or '0')
local new = tonumber(ARGV[1])
if new <= old or new > head then return 0 end
redis.call('HSET', KEYS[2], 'position', ARGV[1], 'state', ARGV[2])
redis.call('XTRIM', KEYS[1], 'MINID', string.format('%d-0', new + 1))
return 1
"""


@dataclass(frozen=True, slots=True)
class RawEntry:
    """One position as it lies in the log.

    Args:
        position: counts from 1.
        data: the encoded entry.
        appended_ms: the Redis server's wall clock at the append, for latency figures only.
    """

    position: int
    data: bytes
    appended_ms: int


def _position(stream_id: bytes) -> int:
    return int(stream_id.split(b"-", 1)[0])


class RedisLog:
    """A `Log` on Redis.

    Args:
        url: e.g. redis://127.0.0.1:6379/0.
        name: prefix of every key, one per building.
        patience_s: how long a call keeps trying while the server is away.

    Law: same as `aspen.log.protocol.Log`.
    """

    def __init__(self, url: str, name: str, *, patience_s: float = 3.0) -> None:
        self.name = name
        self._redis = connect(url, patience_s)
        self._stream = f"{name}:log"
        self._base = f"{name}:log:base"
        self._append = self._redis.register_script(_APPEND)
        self._compact = self._redis.register_script(_COMPACT)

    def append(self, entries: Sequence[Entry], key: str = "") -> int:
        """Append entries in order; see `Log.append`."""
        if not entries:
            raise ValueError("an append holds at least one entry")
        # Without a key from the caller the client's own retry could still append twice.
        once = key or f"once:{secrets.token_hex(12)}"
        keys = f"{self.name}:log:keys:{once.partition(':')[0]}"
        position = self._append(
            keys=[self._stream, f"{self.name}:log:id", keys, self._base],
            args=[
                *(secrets.token_hex(8), KEYS_KEPT, KEYS_KEPT_S, once),
                *(encode(entry) for entry in entries),
            ],
        )
        return int(cast("int", position))

    def head(self) -> int:
        """Returns the position of the newest entry, 0 when there is none."""
        return self.state()[1]

    def wait(self, after: int, wait_s: float) -> int:
        """Returns the head as soon as it is beyond `after`, or as it is after `wait_s`."""
        self._redis.xread({self._stream: f"{after}-0"}, count=1, block=max(1, int(wait_s * 1000)))
        return self.head()

    def identity(self) -> str:
        """Returns the id this log got at its first append, empty before."""
        return self.state()[0]

    def state(self) -> tuple[str, int]:
        """Returns identity and head as of one moment."""
        pipeline = self._redis.pipeline(transaction=True)
        pipeline.get(f"{self.name}:log:id")
        pipeline.xrevrange(self._stream, count=1)
        pipeline.hget(self._base, "position")
        found, last, base = pipeline.execute()
        head = _position(last[0][0]) if last else int(base or 0)
        return (found.decode() if found else ""), head

    def read_raw(self, after: int, upto: int) -> list[RawEntry]:
        """Returns the entries at positions `after < position <= upto`, not decoded.

        Raises:
            LogCompacted: the base holds what was asked for.
            LogGap: positions are missing (the server lost its newest writes).
        """
        if upto <= after:
            return []
        found = cast(
            "list[tuple[bytes, dict[bytes, bytes]]]",
            self._redis.xrange(self._stream, min=f"{after + 1}-0", max=f"{upto}-0"),
        )
        if len(found) != upto - after:
            start = int(cast("bytes | None", self._redis.hget(self._base, "position")) or 0)
            if after < start:
                raise LogCompacted.before(start, after)
            raise LogGap(
                f"positions {after + 1} to {upto} were asked for and {len(found)} are there",
                found=str(self.head()),
                attempt="start the engine anew: it rebuilds every view from the log that is left",
            )
        return [
            RawEntry(_position(stream_id), fields[b"e"], int(fields[b"t"]))
            for stream_id, fields in found
        ]

    def read(self, after: int, upto: int) -> list[tuple[int, Entry]]:
        """Returns the entries at positions `after < position <= upto`, in order."""
        first, last = max(after, 0), min(upto, self.head())
        return [(raw.position, decode(raw.data)) for raw in self.read_raw(first, last)]

    def base(self) -> Base:
        """Returns the fold the log begins with."""
        found = cast("list[bytes | None]", self._redis.hmget(self._base, "position", "state"))
        return Base(int(found[0] or 0), found[1] or b"")

    def compact(self, base: Base) -> None:
        """Put a fold in the place of the entries up to its position; see `Log.compact`."""
        self._compact(keys=[self._stream, self._base], args=[base.position, base.state])

    def last_tick_s(self, look_back: int = 512) -> float | None:
        """The time of the newest tick among the last `look_back` entries, if one is there."""
        found = cast(
            "list[tuple[bytes, dict[bytes, bytes]]]",
            self._redis.xrevrange(self._stream, count=look_back),
        )
        for _, fields in found:
            if fields[b"e"].startswith(b'{"k":"t"'):
                return decode(fields[b"e"]).at_s
        return None

    def close(self) -> None:
        """Returns the connections back."""
        self._redis.close()
