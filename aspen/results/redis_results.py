"""The snapshot store on Redis: what the engine's sink writes and synchronous readers ask."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import redis

from aspen.redis_client import connect
from aspen.results.protocol import Epoch, Savepoint, Snapshot, ViewChange
from aspen.results.scripts import HAND_OVER, SINCE, SNAPSHOTS, WRITE, ResultKeys
from aspen.results.wire import (
    EpochsForgotten,
    FencedOff,
    NotThere,
    decode_epoch,
    decode_snapshot,
    encode_changes,
)

KEEP_EPOCHS = 4096  # at four epochs a second about 17 minutes for a client to come back
READ_AT_ONCE = 256


class RedisResults:
    """A `Results` on Redis.

    Args:
        url: e.g. redis://127.0.0.1:6379/0.
        name: prefix of every key, one per building.
        fence: the writer's fencing token; once a higher one has written, lower ones are refused.
        keep: how many epochs readers can follow back.
        patience_s: how long a call keeps trying while the server is away.

    Law: same as `aspen.results.protocol.Results`.
    """

    def __init__(
        self,
        url: str,
        name: str,
        *,
        fence: int = 0,
        keep: int = KEEP_EPOCHS,
        patience_s: float = 3.0,
    ) -> None:
        self._redis = connect(url, patience_s)
        self._keys = ResultKeys(name)
        self._fence = fence
        self._keep = keep
        self._write = self._redis.register_script(WRITE)
        self._hand_over = self._redis.register_script(HAND_OVER)
        self._snapshots = self._redis.register_script(SNAPSHOTS)
        self._since = self._redis.register_script(SINCE)

    def write(
        self,
        generation: str,
        batch: int,
        position: int,
        at_s: float,
        changes: Sequence[ViewChange],
        timing_ms: Mapping[str, float],
    ) -> int:
        """Apply one batch atomically; see `Results.write`.

        Raises:
            FencedOff: a writer with a higher fencing token has taken over.
        """
        text = encode_changes(changes)
        return self.write_encoded(generation, batch, position, at_s, text, timing_ms)

    def write_encoded(
        self,
        generation: str,
        batch: int,
        position: int,
        at_s: float,
        changes: str | bytes,
        timing_ms: Mapping[str, float],
    ) -> int:
        """Do as `write`, with changes that `encode_changes` has already made text."""
        keys = self._keys
        timing = json.dumps(dict(timing_ms))
        try:
            epoch = self._write(
                keys=[keys.meta, keys.views, keys.batches, keys.epochs, keys.rows],
                args=[
                    generation,
                    batch,
                    position,
                    repr(at_s),
                    changes,
                    timing,
                    self._keep,
                    self._fence,
                ],
            )
        except redis.ResponseError as error:
            if "FENCED" in str(error):
                raise FencedOff(
                    "another engine writes to this store",
                    found=f"token {self._fence}",
                    exists=(str(error).rsplit(" ", 1)[-1],),
                ) from error
            raise
        return int(cast("int", epoch))

    def hand_over(self, savepoint: Savepoint, generation: str, batch: int) -> None:
        """Let another generation go on from a savepoint; see `Results.hand_over`.

        Raises:
            NotThere: the store does not stand at that savepoint.
            FencedOff: a writer with a higher fencing token has taken over.
        """
        keys = self._keys
        try:
            self._hand_over(
                keys=[keys.meta, keys.batches],
                args=[savepoint.generation, savepoint.position, generation, batch, self._fence],
            )
        except redis.ResponseError as error:
            said = str(error)
            if "FENCED" in said:
                raise FencedOff(
                    "another engine writes to this store", found=f"token {self._fence}"
                ) from error
            if "ELSEWHERE" in said:
                raise NotThere(
                    f"the results do not stand at position {savepoint.position} of "
                    f"{savepoint.generation}",
                    found=said,
                    attempt="begin with an empty checkpoint",
                ) from error
            raise

    def head(self) -> tuple[int, int, float]:
        """Returns the newest epoch, its log position and its log time; zeroes before the first."""
        found = cast(
            "list[bytes | None]", self._redis.hmget(self._keys.meta, "epoch", "position", "at_s")
        )
        return int(found[0] or 0), int(found[1] or 0), float(found[2] or 0)

    def writer(self) -> tuple[str, int]:
        """Returns the generation and batch written last, ("", -1) before the first write."""
        found = cast(
            "list[bytes | None]", self._redis.hmget(self._keys.meta, "generation", "batch")
        )
        return (found[0] or b"").decode(), int(found[1]) if found[1] else -1

    def snapshot(self, view: str) -> Snapshot | None:
        """Returns a view's rows, None when no such view is maintained."""
        return self.snapshots([view]).get(view)

    def snapshots(self, views: Sequence[str]) -> dict[str, Snapshot]:
        """Returns the rows of several views as of one epoch; unknown ones are left out."""
        keys = self._keys
        reply = cast(
            "list[Any]",
            self._snapshots(keys=[keys.meta, keys.views, keys.rows], args=list(views)),
        )
        head = reply[0]
        return {
            view: decode_snapshot(view, head, definition, rows)
            for view, (definition, rows) in zip(views, reply[1:], strict=True)
            if definition is not None
        }

    def views(self) -> list[str]:
        """Returns the ids of all maintained views."""
        found = cast("list[bytes]", self._redis.hkeys(self._keys.views))
        return sorted(name.decode() for name in found)

    def epochs_since(self, number: int, wait_s: float) -> Iterator[Epoch]:
        """Returns the epochs after `number` in order, waiting up to `wait_s` for the first.

        Raises:
            EpochsForgotten: they are not all kept, or `number` lies in the future.
        """
        entries = self._read_since(number)
        if not entries and wait_s > 0:
            block_ms = max(1, int(wait_s * 1000))
            self._redis.xread({self._keys.epochs: f"{number}-0"}, count=1, block=block_ms)
            entries = self._read_since(number)
        while entries:
            for stream_id, fields in entries:
                epoch = decode_epoch(stream_id, fields)
                number = epoch.number
                yield epoch
            entries = self._read_since(number) if len(entries) == READ_AT_ONCE else []

    def _read_since(self, number: int) -> list[tuple[bytes, dict[bytes, bytes]]]:
        reply = cast(
            "list[Any]",
            self._since(keys=[self._keys.meta, self._keys.epochs], args=[number, READ_AT_ONCE]),
        )
        return entries_of(number, reply)

    def close(self) -> None:
        """Returns the connections back."""
        self._redis.close()


def entries_of(number: int, reply: Sequence[Any]) -> list[tuple[bytes, dict[bytes, bytes]]]:
    """Check the reply of the `SINCE` script and pair its fields.

    Raises:
        EpochsForgotten: `number` is below the floor or beyond the newest epoch.
    """
    epoch, floor, raw = reply
    if number < floor or number > epoch:
        raise EpochsForgotten.before(number, floor)
    return [
        (stream_id, dict(zip(fields[::2], fields[1::2], strict=True))) for stream_id, fields in raw
    ]
