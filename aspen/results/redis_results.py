"""The snapshot store on Redis: what the engine's sink writes and synchronous readers ask."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

import redis

from aspen.redis_client import block_ms, connect
from aspen.results.protocol import Epoch, EpochSnapshot, Savepoint, ViewChange
from aspen.results.scripts import HAND_OVER, SINCE, SNAPSHOTS, WRITE, ResultKeys
from aspen.results.wire import (
    FencedOff,
    NotThere,
    decode_epochs,
    decode_head,
    decode_snapshots,
    encode_changes,
)

KEEP_EPOCHS = 4096  # at four epochs a second about 17 minutes for a client to come back
READ_AT_ONCE = 256
T = TypeVar("T")


class RedisResults:
    """The snapshot store, for code that may block.

    Args:
        url: e.g. redis://127.0.0.1:6379/0.
        name: prefix of every key, one per building.
        fence: the writer's fencing token; once a higher one has written, lower ones are refused.
        keep: how many epochs readers can follow back.
        patience_s: how long a call keeps trying while the server is away.

    Law: a snapshot equals the fold of all changes up to its epoch; `write` of a batch seen
    before changes nothing.
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
        changes: Sequence[ViewChange] | str,
        timing_ms: Mapping[str, float],
    ) -> int:
        """Apply one batch atomically and announce it.

        Args:
            generation: identity of the checkpoint; a new one empties the store first.
            batch: Spark's batch id, ascending within a generation.
            changes: or their text, see `encode_changes`.

        Returns:
            The epoch number the batch has (also when it was seen before).

        Raises:
            FencedOff: a writer with a higher fencing token has taken over.
        """
        keys = self._keys
        text = changes if isinstance(changes, str) else encode_changes(changes)
        moment = (generation, batch, position, repr(at_s))
        try:
            epoch = self._write(
                keys=[keys.meta, keys.views, keys.batches, keys.epochs, keys.rows],
                args=[*moment, text, json.dumps(dict(timing_ms)), self._keep, self._fence],
            )
        except redis.ResponseError as error:
            raise self._refusal(error) from error
        return int(cast("int", epoch))

    def hand_over(self, savepoint: Savepoint, generation: str, batch: int) -> None:
        """Let another generation go on from a savepoint; rows and epochs stay as they are.

        Args:
            batch: of that generation, after which its first write comes.

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
            if "ELSEWHERE" not in str(error):
                raise self._refusal(error) from error
            raise NotThere(
                f"the results do not stand at position {savepoint.position} of "
                f"{savepoint.generation}",
                found=str(error),
                attempt="begin with an empty checkpoint",
            ) from error

    def _refusal(self, error: redis.ResponseError) -> Exception:
        """Returns what a script's refusal means."""
        if "FENCED" not in str(error):
            return error
        return FencedOff(
            "another engine writes to this store",
            found=f"token {self._fence}",
            exists=(str(error).rsplit(" ", 1)[-1],),
        )

    def head(self) -> tuple[int, int, float]:
        """Returns the newest epoch, its log position and its log time; zeroes before the first."""
        found = self._redis.hmget(self._keys.meta, "epoch", "position", "at_s")
        return decode_head(cast("list[bytes | None]", found))

    def writer(self) -> tuple[str, int]:
        """Returns the generation and batch written last, ("", -1) before the first write."""
        found = cast(
            "list[bytes | None]", self._redis.hmget(self._keys.meta, "generation", "batch")
        )
        return (found[0] or b"").decode(), int(found[1]) if found[1] else -1

    def snapshot(self, view: str) -> EpochSnapshot | None:
        """Returns a view's rows, None when no such view is maintained."""
        return self.snapshots([view]).get(view)

    def snapshots(self, views: Sequence[str]) -> dict[str, EpochSnapshot]:
        """Returns the rows of several views as of one epoch; unknown ones are left out."""
        keys = self._keys
        reply = self._snapshots(keys=[keys.meta, keys.views, keys.rows], args=list(views))
        return decode_snapshots(views, cast("list[Any]", reply))

    def views(self) -> list[str]:
        """Returns the ids of all maintained views."""
        found = cast("list[bytes]", self._redis.hkeys(self._keys.views))
        return sorted(name.decode() for name in found)

    def row_counts(self) -> dict[str, int]:
        """Returns how many different rows each maintained view has."""
        views = self.views()
        pipeline = self._redis.pipeline(transaction=False)
        for view in views:
            pipeline.hlen(f"{self._keys.rows}{view}")
        return dict(zip(views, pipeline.execute(), strict=True))

    def epochs_since(self, number: int, wait_s: float) -> Iterator[Epoch]:
        """Returns the epochs after `number` in order, waiting up to `wait_s` for the first.

        Raises:
            EpochsForgotten: they are not all kept, or `number` lies in the future.
        """
        until_s = time.monotonic() + wait_s
        while not (epochs := self._read_since(number)):
            left_s = until_s - time.monotonic()
            if left_s <= 0:
                return
            self._await_epoch(number, left_s)
        while epochs:
            yield from epochs
            last = epochs[-1].number
            epochs = self._read_since(last) if len(epochs) == READ_AT_ONCE else []

    def wait_until(self, look: Callable[[], T | None], wait_s: float) -> T | None:
        """Returns what a look at the results finds, None when no epoch brought it in time.

        It looks again when an epoch has been written, and no sooner.
        """
        until_s = time.monotonic() + wait_s
        while True:
            head = self.head()[0]
            found = look()
            left_s = until_s - time.monotonic()
            if found is not None or left_s <= 0:
                return found
            self._await_epoch(head, left_s)

    def _await_epoch(self, number: int, wait_s: float) -> None:
        """Waits until an epoch after `number` has been written; what it holds is not read."""
        self._redis.xread({self._keys.epochs: f"{number}-0"}, count=1, block=block_ms(wait_s))

    def _read_since(self, number: int) -> list[Epoch]:
        keys = [self._keys.meta, self._keys.epochs]
        reply = self._since(keys=keys, args=[number, READ_AT_ONCE])
        return decode_epochs(number, cast("list[Any]", reply))

    def close(self) -> None:
        """Returns the connections back."""
        self._redis.close()
