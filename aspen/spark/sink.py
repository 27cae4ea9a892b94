"""The sink: a micro-batch becomes an epoch in the results, or a superstep between the lanes.

    lanes    quiescent  quiescent  an epoch, written atomically and once
             quiescent  sends      a superstep, which comes back to all lanes as the next batch

Each lane gives what changed since the last epoch until it is written: what an epoch shows is right
for a prefix of the log. Spark may run a batch again after a crash; the store and the log know the
batch id and change nothing then.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from pyspark.sql import DataFrame, Row

from aspen.log.base import Base
from aspen.log.superstep import encode_superstep
from aspen.results.protocol import Savepoint
from aspen.results.redis_results import RedisResults
from aspen.results.wire import decode_changes, encode_changes
from aspen.runtime.outcome import merge_parts

# epoch, position, pid per lane
OnEpoch = Callable[[int, int, dict[int, int]], None]
OnBase = Callable[[Base], object]
# number, superstep, milliseconds of the oldest entry's append, generation, batch
Exchange = Callable[[int, bytes, int, str, int], object]


class Sink:
    """A `foreachBatch` function.

    Args:
        results: where epochs go; carries the engine's fencing token.
        on_epoch: called after each write.
        on_base: called with each fold of the log that a lane gave, after the write.
        savepoint: where this query takes over from another, None where it does not.
        on_silence: called with each position on the way there, with the pid per lane.
        exchange: appends a superstep beside the log.
    """

    def __init__(
        self,
        results: RedisResults,
        on_epoch: OnEpoch,
        on_base: OnBase,
        savepoint: Savepoint | None = None,
        on_silence: Callable[[int, dict[int, int]], None] = lambda _position, _pids: None,
        exchange: Exchange = lambda *_superstep: None,
    ) -> None:
        self._results = results
        self._savepoint = savepoint
        self._on_silence = on_silence
        self._owns = False
        self._on_epoch = on_epoch
        self._on_base = on_base
        self._exchange = exchange
        self._supersteps = 0
        self._base: Base | None = None

    def __call__(self, batch: DataFrame, batch_id: int) -> None:
        """Write one batch."""
        lanes = batch.collect()
        if not lanes:
            return
        position = lanes[0].position
        self._base = next(
            (Base(position, bytes(lane.base)) for lane in lanes if lane.base is not None),
            self._base,
        )
        if not all(lane.quiescent for lane in lanes):
            self._superstep(lanes, generation_of(batch), batch_id)
            return
        supersteps, self._supersteps = self._supersteps, 0
        if self._savepoint is not None and not self._takes_over(batch, batch_id, position):
            self._on_silence(position, {lane.lane: lane.pid for lane in lanes})
            return
        sink_at_ms = time.time() * 1000
        timing = json.loads(lanes[0].timing)
        for lane in lanes[1:]:
            for border, value in json.loads(lane.timing).items():
                timing[border] = max(value, timing.get(border, 0.0))
        timing["spark_out"] = sink_at_ms - timing.pop("lane_done_at")
        timing["sink_at"] = sink_at_ms
        if supersteps:
            timing["supersteps"] = supersteps
        parts = [lane.parts for lane in lanes if lane.parts != "[]"]
        merged = encode_changes(merge_parts(map(decode_changes, parts))) if parts else "[]"
        epoch = self._results.write(
            generation_of(batch),
            batch_id,
            position,
            lanes[0].at_s,
            join_changes([*(lane.changes for lane in lanes), merged]),
            timing,
        )
        self._on_epoch(epoch, position, {lane.lane: lane.pid for lane in lanes})
        if self._base is not None:
            base, self._base = self._base, None
            self._on_base(base)

    def _superstep(self, lanes: list[Row], generation: str, batch_id: int) -> None:
        """Exchange what the lanes send before the epoch is published."""
        self._supersteps += 1
        ordered = sorted(lanes, key=lambda lane: int(lane.lane))
        number = ordered[0].supersteps + 1
        data = encode_superstep(ordered[0].at_s, number, [lane.crossing for lane in ordered])
        appended_ms = min(json.loads(lane.timing)["appended_at"] for lane in ordered)
        self._exchange(number, data, int(appended_ms), generation, batch_id)

    def _takes_over(self, batch: DataFrame, batch_id: int, position: int) -> bool:
        """Whether a batch is this query's to tell; the first one takes the results over."""
        assert self._savepoint is not None
        silent = position <= self._savepoint.position
        if position >= self._savepoint.position and not self._owns:
            last = batch_id if silent else batch_id - 1
            self._results.hand_over(self._savepoint, generation_of(batch), last)
            self._owns = True
        return not silent


def generation_of(batch: DataFrame) -> str:
    """Returns the identity of the checkpoint: Spark's query id, known to the batch's own thread.

    The query object itself may not have been handed out yet when the first batch comes.
    """
    return str(batch.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId"))


def join_changes(texts: list[str]) -> str:
    """Join JSON arrays without reading them.

    >>> join_changes(["[1,2]", "[]", "[3]"])
    '[1,2,3]'
    """
    return "[" + ",".join(text[1:-1] for text in texts if text != "[]") + "]"
