"""The log on a Redis stream: position n is the stream entry `n-0`.

    stream   name:log          1-0  2-0  3-0  …      e = entry, t = milliseconds of the append
    string   name:log:id       which log this is; another one means another history
    zset     name:log:keys:W   idempotency keys of a writer → position of the last entry under each
    hash     name:log:said:W   those keys that stand for one thing alone → a digest of it
    hash     name:log:base     position, state: the fold of the entries that were compacted
    hash     name:log:left_out position → JSON: an entry that nobody takes up again, see `left_out`
    string   name:log:ahead    seconds by which log time is ahead of the wall clock
    stream   name:log:borders  1-0  2-0  …      e = superstep, t = milliseconds, g, b = maker

One Lua script appends a batch, so that positions have no gaps and a batch is there whole or not
at all. The server's clock stamps `t`; it is for measuring latency only, never an input to a view.

A superstep is made from the log, so it may go once every lane has stored it; the newest few stay.
The number of a superstep is never given twice: a generation begins with a number of its own.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import cast

import redis

from aspen.errors import AspenError
from aspen.log.base import Base, KeyReused, LogCompacted, LogGap
from aspen.log.entry import Entry, Tick, decode, encode
from aspen.log.left_out import LeftOut
from aspen.redis_client import block_ms, connect

KEYS_KEPT = 50_000  # of each writer: three hours of a simulator's batches, 5 MB
KEYS_KEPT_S = 7 * 24 * 3600  # after a writer's last append
_AHEAD_HOLDS_S = 1.0  # seldom anything but 0: it is looked up once a second
KEPT_SUPERSTEPS = 1_000
"""One would do, for an engine that runs its last batch again; the others are for people."""

# KEYS stream, id, keys, base, said   ARGV fresh id, keys kept, seconds kept, key, digest, entries…
_APPEND = """
local seen, said = redis.call('ZSCORE', KEYS[3], ARGV[4]), redis.call('HGET', KEYS[5], ARGV[4])
local other = said and ARGV[5] ~= '' and said ~= ARGV[5]
if seen then return other and redis.error_reply('OTHERWISE') or tonumber(seen) end
redis.call('SET', KEYS[2], ARGV[1], 'NX')
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
local position
if last[1] then position = tonumber(string.match(last[1][1], '^%d+'))
else position = tonumber(redis.call('HGET', KEYS[4], 'position') or '0') end
local now = redis.call('TIME')
local at = now[1] * 1000 + math.floor(now[2] / 1000)
for i = 6, #ARGV do
  position = position + 1
  redis.call('XADD', KEYS[1], string.format('%d-0', position), 'e', ARGV[i],
             't', string.format('%d', at))
end
redis.call('ZADD', KEYS[3], position, ARGV[4])
if ARGV[5] ~= '' then redis.call('HSET', KEYS[5], ARGV[4], ARGV[5]) end
for _, gone in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1 - tonumber(ARGV[2]))) do
  redis.call('HDEL', KEYS[5], gone)
end
redis.call('ZREMRANGEBYRANK', KEYS[3], 0, -1 - tonumber(ARGV[2]))
redis.call('EXPIRE', KEYS[3], ARGV[3])
redis.call('EXPIRE', KEYS[5], ARGV[3])
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

# KEYS stream   ARGV number or 0 for the next, superstep, milliseconds, generation, batch, kept
_APPEND_SUPERSTEP = """
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local newest = last and tonumber(string.match(last[1], '^%d+')) or 0
local number = tonumber(ARGV[1])
if number == 0 then number = newest + 1 end
if number == newest then
  local made = {}
  for i = 1, #last[2], 2 do made[last[2][i]] = last[2][i + 1] end
  if made.g == ARGV[4] and made.b == ARGV[5] then return number end
end
if number ~= newest + 1 then return redis.error_reply('ELSEWHERE ' .. newest) end
redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[6], string.format('%d-0', number),
           'e', ARGV[2], 't', ARGV[3], 'g', ARGV[4], 'b', ARGV[5])
return number
"""


class OtherSupersteps(AspenError, code="aspen.log.other_supersteps"):
    """Somebody else's supersteps lie where a superstep was to be appended."""


@dataclass(frozen=True, slots=True)
class NewestSuperstep:
    """The newest superstep, and who made it.

    Args:
        generation: of the query that made it.
        batches: of that query, which made this superstep and the one before it.
    """

    number: int = 0
    generation: str = ""
    batches: tuple[int, ...] = ()


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


_Found = list[tuple[bytes, dict[bytes, bytes]]]


def _number(stream_id: bytes) -> int:
    return int(stream_id.split(b"-", 1)[0])


def _left_out_in(found: Mapping[bytes, bytes]) -> list[LeftOut]:
    return [LeftOut(**json.loads(text)) for text in found.values()]


class RedisLog:
    """A durable, totally ordered, replayable sequence of entries, with supersteps beside it.

    Args:
        url: e.g. redis://127.0.0.1:6379/0.
        name: prefix of every key, one per building.
        patience_s: how long a call keeps trying while the server is away.

    Law: what `read` once gave for a range it gives until the range is compacted, and then `base`
    holds its fold: base and the entries after it are the whole history, always.
    """

    def __init__(self, url: str, name: str, *, patience_s: float = 3.0) -> None:
        self.name = name
        self._redis = connect(url, patience_s)
        self._stream = f"{name}:log"
        self._base = f"{name}:log:base"
        self._supersteps = f"{name}:log:borders"
        self._left_out = f"{name}:log:left_out"
        self._ahead = f"{name}:log:ahead"
        self._ahead_s = self._look_ahead_at = 0.0
        self._append = self._redis.register_script(_APPEND)
        self._append_superstep = self._redis.register_script(_APPEND_SUPERSTEP)
        self._compact = self._redis.register_script(_COMPACT)

    def append(self, entries: Sequence[Entry], key: str = "", digest: str = "") -> int:
        """Append entries in order, all or none.

        Args:
            entries: at least one. Ticks have log time; all else has the wall clock's, and gets it.
            key: idempotency key, "writer:…"; a second append under the same key changes nothing,
                until the writer has used some ten thousand others.
            digest: of what the key stands for; empty where its writer always says the same.

        Returns:
            The position of the last entry (of the first append under `key`).

        Raises:
            KeyReused: something of another digest was appended under the key.
        """
        if not entries:
            raise ValueError("an append holds at least one entry")
        # Without a key from the caller the client's own retry could still append twice.
        once = key or f"once:{secrets.token_hex(12)}"
        keys, said = (f"{self.name}:log:{a}:{once.partition(':')[0]}" for a in ("keys", "said"))
        try:
            position = self._append(
                keys=[self._stream, f"{self.name}:log:id", keys, self._base, said],
                args=[
                    *(secrets.token_hex(8), KEYS_KEPT, KEYS_KEPT_S, once, digest),
                    *(encode(entry) for entry in self._in_log_time(entries)),
                ],
            )
        except redis.ResponseError as error:
            if "OTHERWISE" not in str(error):
                raise
            raise KeyReused.under(key) from error
        return int(cast("int", position))

    def _in_log_time(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        ahead_s = self.ahead_s()
        if not ahead_s:
            return entries
        shifted = (replace(one, at_s=one.at_s + ahead_s) for one in entries)
        return [
            one if isinstance(one, Tick) else new for one, new in zip(entries, shifted, strict=True)
        ]

    def head(self) -> int:
        """Returns the position of the newest entry, 0 when there is none."""
        return self.state()[1]

    def wait(self, after: int, wait_s: float) -> int:
        """Returns the head as soon as it is beyond `after`, or as it is after some of `wait_s`."""
        self._redis.xread({self._stream: f"{after}-0"}, count=1, block=block_ms(wait_s))
        return self.head()

    def identity(self) -> str:
        """Returns the id this log got at its first append, empty before."""
        return self.state()[0]

    def state(self) -> tuple[str, int, int]:
        """Returns identity, head, and the newest superstep's number as of one moment."""
        pipeline = self._redis.pipeline(transaction=True)
        pipeline.get(f"{self.name}:log:id")
        pipeline.xrevrange(self._stream, count=1)
        pipeline.hget(self._base, "position")
        pipeline.xrevrange(self._supersteps, count=1)
        found, last, base, newest = pipeline.execute()
        head = _number(last[0][0]) if last else int(base or 0)
        return (found.decode() if found else ""), head, _number(newest[0][0]) if newest else 0

    def read_raw(self, after: int, upto: int) -> list[RawEntry]:
        """Returns the entries at positions `after < position <= upto`, not decoded.

        Raises:
            LogCompacted: the base holds what was asked for.
            LogGap: positions are missing (the server lost its newest writes).
        """
        if upto <= after:
            return []
        first, last = f"{after + 1}-0", f"{upto}-0"
        pipeline = self._redis.pipeline(transaction=True)
        pipeline.xrange(self._stream, min=first, max=last)
        pipeline.hgetall(self._left_out)
        found, left_out = cast("tuple[_Found, dict[bytes, bytes]]", pipeline.execute())
        if len(found) != upto - after:
            start = int(cast("bytes | None", self._redis.hget(self._base, "position")) or 0)
            if after < start:
                raise LogCompacted.before(start, after)
            raise LogGap(
                f"positions {after + 1} to {upto} were asked for and {len(found)} are there",
                found=str(self.head()),
                attempt="start the engine anew: it rebuilds every view from the log that is left",
            )
        entries = [
            RawEntry(_number(stream_id), fields[b"e"], int(fields[b"t"]))
            for stream_id, fields in found
        ]
        gone = {one.position: one for one in _left_out_in(left_out)}
        return [
            replace(one, data=encode(gone[one.position].quarantined))
            if one.position in gone
            else one
            for one in entries
        ]

    def leave_out(self, position: int, deaths: int) -> LeftOut:
        """Let nobody take up an entry again: it ended the engine that often.

        Raises:
            LogGap, LogCompacted: the log does not hold it.
        """
        (raw,) = self.read_raw(position - 1, position)
        entry = LeftOut(position, raw.data.decode(errors="replace"), deaths, time.time())
        self._redis.hsetnx(self._left_out, str(position), json.dumps(asdict(entry)))
        return entry

    def left_out(self) -> list[LeftOut]:
        """Returns the entries that are left out, by position."""
        found = cast("dict[bytes, bytes]", self._redis.hgetall(self._left_out))
        return sorted(_left_out_in(found), key=lambda entry: entry.position)

    def take_in_again(self, one: LeftOut) -> int:
        """Append an entry anew that is left out where it was; returns its new position.

        Raises:
            BadEntry: it never was one.
        """
        # A release is an append of now, so that no lane that has gone past it has to go back.
        entry = replace(decode(one.entry.encode()), at_s=time.time())
        position = self.append([entry], key=f"again:{one.position}:{one.deaths}")
        done = replace(one, taken_in_at=position)
        self._redis.hset(self._left_out, str(one.position), json.dumps(asdict(done)))
        return position

    def read(self, after: int, upto: int) -> list[tuple[int, Entry]]:
        """Returns the entries at positions `after < position <= upto`, in order."""
        first, last = max(after, 0), min(upto, self.head())
        return [(raw.position, decode(raw.data)) for raw in self.read_raw(first, last)]

    def base(self) -> Base:
        """Returns the fold the log begins with."""
        found = cast("list[bytes | None]", self._redis.hmget(self._base, "position", "state"))
        return Base(int(found[0] or 0), found[1] or b"")

    def compact(self, base: Base) -> None:
        """Put a fold in the place of the entries up to its position.

        A base that is not newer than the present one, or lies beyond the head, changes nothing.
        """
        self._compact(keys=[self._stream, self._base], args=[base.position, base.state])

    def last_tick_s(self) -> float | None:
        """Returns the time of the newest tick, None where no kept entry is one."""
        upto = "+"
        while found := cast("_Found", self._redis.xrevrange(self._stream, max=upto, count=1_000)):
            for _, fields in found:
                if fields[b"e"].startswith(b'{"k":"t"'):
                    return decode(fields[b"e"]).at_s
            upto = f"({found[-1][0].decode()}"
        return None

    def ahead_s(self) -> float:
        """Returns how far log time is ahead of the wall clock: as far as that was set back."""
        now = time.monotonic()
        if now >= self._look_ahead_at:
            self._ahead_s = float(cast("bytes", self._redis.get(self._ahead) or b"0"))
            self._look_ahead_at = now + _AHEAD_HOLDS_S
        return self._ahead_s

    def set_ahead_s(self, ahead_s: float) -> None:
        """Let everybody who appends know how far log time is ahead."""
        self._redis.set(self._ahead, ahead_s)
        self._ahead_s = ahead_s

    def newest_superstep(self) -> NewestSuperstep:
        """Returns the newest superstep."""
        found = cast("_Found", self._redis.xrevrange(self._supersteps, count=2))
        if not found:
            return NewestSuperstep()
        (number, fields), *_ = found
        batches = tuple(int(one[b"b"]) for _, one in found if one[b"g"] == fields[b"g"])
        return NewestSuperstep(_number(number), fields[b"g"].decode(), batches)

    def begin_supersteps(self) -> int:
        """Returns a number that nobody had yet; the next superstep has the one after it."""
        return self.append_superstep(0, b"", 0, "", -1)

    def append_superstep(
        self, number: int, data: bytes, appended_ms: int, generation: str, batch: int
    ) -> int:
        """Append a superstep; one that is there already, of this very batch, changes nothing.

        Args:
            number: of the superstep, 0 for the next one.
            appended_ms: when the oldest entry it goes back to was appended, for latency figures.

        Returns:
            Its number.

        Raises:
            OtherSupersteps: it is not the next one.
        """
        made_by = (generation, batch)
        args: tuple[str | int | bytes, ...] = (number, data, appended_ms, *made_by, KEPT_SUPERSTEPS)
        try:
            return int(cast("int", self._append_superstep(keys=[self._supersteps], args=args)))
        except redis.ResponseError as error:
            if "ELSEWHERE" not in str(error):
                raise
            raise OtherSupersteps(
                f"superstep {number} cannot follow",
                found=str(error).rsplit(" ", 1)[-1],
                attempt="let one engine work at a time",
            ) from error

    def read_superstep(self, number: int) -> RawEntry:
        """Returns a superstep.

        Raises:
            LogGap: it is not there (any more).
        """
        at = f"{number}-0"
        found = cast("_Found", self._redis.xrange(self._supersteps, min=at, max=at))
        if not found:
            raise LogGap(
                f"superstep {number} was asked for and is not there",
                found=str(self.newest_superstep().number),
                attempt="begin a new checkpoint: it rebuilds every view from the log",
            )
        fields = found[0][1]
        return RawEntry(number, fields[b"e"], int(fields[b"t"]))

    def close(self) -> None:
        """Returns the connections back."""
        self._redis.close()
