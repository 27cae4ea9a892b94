"""The sink: one micro-batch becomes one epoch in the results, written atomically and once.

Spark may run a batch again after a crash; the store knows the batch id and changes nothing then.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from pyspark.sql import DataFrame

from aspen.log.protocol import Base
from aspen.results.redis_results import RedisResults

# epoch, position, pid per lane
OnEpoch = Callable[[int, int, dict[int, int]], None]
OnBase = Callable[[Base], object]


class Sink:
    """A `foreachBatch` function.

    Args:
        results: where epochs go; carries the engine's fencing token.
        on_epoch: told after each write.
        on_base: told of each fold of the log that a lane gave, after the write.
    """

    def __init__(self, results: RedisResults, on_epoch: OnEpoch, on_base: OnBase) -> None:
        self._results = results
        self._on_epoch = on_epoch
        self._on_base = on_base

    def __call__(self, batch: DataFrame, batch_id: int) -> None:
        """Write one batch."""
        lanes = batch.collect()
        if not lanes:
            return
        sink_at_ms = time.time() * 1000
        timing = json.loads(lanes[0].timing)
        for lane in lanes[1:]:
            for border, value in json.loads(lane.timing).items():
                timing[border] = max(value, timing.get(border, 0.0))
        timing["spark_out"] = sink_at_ms - timing.pop("lane_done_at")
        timing["sink_at"] = sink_at_ms
        position = lanes[0].position
        epoch = self._results.write_encoded(
            generation_of(batch),
            batch_id,
            position,
            lanes[0].at_s,
            join_changes([lane.changes for lane in lanes]),
            timing,
        )
        self._on_epoch(epoch, position, {lane.lane: lane.pid for lane in lanes})
        for lane in lanes:
            if lane.base is not None:
                self._on_base(Base(position, bytes(lane.base)))


def generation_of(batch: DataFrame) -> str:
    """Give the identity of the checkpoint: Spark's query id, known to the batch's own thread.

    The query object itself may not have been handed out yet when the first batch comes.
    """
    return str(batch.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId"))


def join_changes(texts: list[str]) -> str:
    """Join JSON arrays without reading them.

    >>> join_changes(["[1,2]", "[]", "[3]"])
    '[1,2,3]'
    """
    return "[" + ",".join(text[1:-1] for text in texts if text != "[]") + "]"
