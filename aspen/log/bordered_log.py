"""Bordered log: a log with the supersteps of its lanes beside it.

    stream   name:log            1-0  2-0  3-0  …
    stream   name:log:borders    1-0  2-0  …      e = superstep, t = milliseconds, g, b = maker

A superstep is made from the log, so it may go once every lane has stored it; the newest few stay.
The number of a superstep is never given twice: a generation begins with a number of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import redis

from aspen.errors import AspenError
from aspen.log.protocol import LogGap
from aspen.log.redis_log import RawEntry, RedisLog

KEPT_SUPERSTEPS = 1_000
"""One would do, for an engine that runs its last batch again; the others are for people."""

# KEYS stream   ARGV number or 0 for the next, superstep, milliseconds, generation, batch, kept
_APPEND = """
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


class OtherSupersteps(AspenError):
    """Somebody else's supersteps lie where a superstep was to be appended."""

    code = "aspen.log.other_supersteps"


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


NO_SUPERSTEP = NewestSuperstep()


class BorderedLog(RedisLog):
    """A `RedisLog` and its supersteps."""

    def __init__(self, url: str, name: str, *, patience_s: float = 3.0) -> None:
        super().__init__(url, name, patience_s=patience_s)
        self._supersteps = f"{name}:log:borders"
        self._append_superstep = self._redis.register_script(_APPEND)

    def state_and_superstep(self) -> tuple[str, int, int]:
        """Returns identity, head, and the newest superstep's number as of one moment."""
        pipeline = self._redis.pipeline(transaction=True)
        pipeline.get(f"{self.name}:log:id")
        pipeline.xrevrange(self._stream, count=1)
        pipeline.hget(self._base, "position")
        pipeline.xrevrange(self._supersteps, count=1)
        found, last, base, newest = pipeline.execute()
        head = _number(last[0][0]) if last else int(base or 0)
        return (found.decode() if found else ""), head, _number(newest[0][0]) if newest else 0

    def newest_superstep(self) -> NewestSuperstep:
        """Returns the newest superstep."""
        found = cast(
            "list[tuple[bytes, dict[bytes, bytes]]]",
            self._redis.xrevrange(self._supersteps, count=2),
        )
        if not found:
            return NO_SUPERSTEP
        (number, fields), *_ = found
        batches = tuple(int(one[b"b"]) for _, one in found if one[b"g"] == fields[b"g"])
        return NewestSuperstep(_number(number), fields[b"g"].decode(), batches)

    def begin_supersteps(self) -> int:
        """Returns a number that nobody had yet; the next superstep has the one after it."""
        return self._appended(0, b"", 0, "", -1)

    def append_superstep(
        self, number: int, data: bytes, appended_ms: int, generation: str, batch: int
    ) -> None:
        """Append a superstep; one that is there already, of this very batch, changes nothing.

        Args:
            appended_ms: when the oldest entry it goes back to was appended, for latency figures.

        Raises:
            OtherSupersteps: it is not the next one.
        """
        self._appended(number, data, appended_ms, generation, batch)

    def read_superstep(self, number: int) -> RawEntry:
        """Returns a superstep.

        Raises:
            LogGap: it is not there (any more).
        """
        found = cast(
            "list[tuple[bytes, dict[bytes, bytes]]]",
            self._redis.xrange(self._supersteps, min=f"{number}-0", max=f"{number}-0"),
        )
        if not found:
            raise LogGap(
                f"superstep {number} was asked for and is not there",
                found=str(self.newest_superstep().number),
                attempt="begin a new checkpoint: it rebuilds every view from the log",
            )
        fields = found[0][1]
        return RawEntry(number, fields[b"e"], int(fields[b"t"]))

    def _appended(
        self, number: int, data: bytes, appended_ms: int, generation: str, batch: int
    ) -> int:
        args: list[str | int | bytes] = [
            number,
            data,
            appended_ms,
            generation,
            batch,
            KEPT_SUPERSTEPS,
        ]
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


def _number(stream_id: bytes) -> int:
    return int(stream_id.split(b"-", 1)[0])
