"""Rehearsal: a query like the engine's, over a log of one tick, which nobody hears of.

    source, lanes, state store, sink ── one epoch ── away with it

Spark loads most of its classes, and Python its modules, with the first query of this shape. Whoever
has to begin at once has done so before.
"""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import SimpleDataSourceStreamReader
from pyspark.sql.types import StructType

from aspen.log.base import Base
from aspen.log.entry import Tick, encode
from aspen.log.redis_log import RawEntry
from aspen.spark.lane_keys import lane_keys
from aspen.spark.lane_processor import LaneSettings, in_lanes
from aspen.spark.log_source import LogReader, LogSource

NAME = "rehearsal"


class OneTick:
    """A log of one entry."""

    def identity(self) -> str:
        """Returns what it is known by."""
        return NAME

    def state(self) -> tuple[str, int, int]:
        """Returns identity, head and newest superstep."""
        return NAME, 1, 0

    def base(self) -> Base:
        """Returns what precedes its entry: nothing."""
        return Base()

    def read_raw(self, _after: int, _upto: int) -> list[RawEntry]:
        """Returns its entry."""
        return [RawEntry(1, encode(Tick(0.0)), 0)]

    def wait(self, _after: int, longest_s: float) -> None:
        """Wait in vain."""
        time.sleep(longest_s)


class RehearsalReader(LogReader):
    """Reads that log."""

    @property
    def _log(self) -> Any:
        return OneTick()


class RehearsalSource(LogSource):
    """`spark.readStream.format("aspen_rehearsal")`, with the options of `LogSource`."""

    @classmethod
    def name(cls) -> str:
        """Returns the format's name."""
        return "aspen_rehearsal"

    def simpleStreamReader(self, schema: StructType) -> SimpleDataSourceStreamReader:  # noqa: ARG002, N802
        """Open a reader."""
        return RehearsalReader(dict(self.options))


def rehearse(session: SparkSession, lanes: int, scratch: Path, longest_s: float) -> None:
    """Run one epoch of a query that leaves nothing behind.

    Args:
        lanes: as many as the engine will have.
        scratch: folder of the session.
        longest_s: how long its epoch may take.

    Raises:
        StreamingQueryException: it failed, and the engine's would.
        TimeoutError: there was no epoch in that time.
    """
    keys, checkpoint = lane_keys(session, lanes), scratch / NAME
    session.dataSource.register(RehearsalSource)
    source = (
        session.readStream.format(RehearsalSource.name())
        .option("lane_keys", ",".join(map(str, keys)))
        .option("entries_per_batch", "1")
        .load()
    )
    if lanes == 1:
        source = source.coalesce(1)
    over = threading.Event()

    def sink(batch: DataFrame, _batch_id: int) -> None:
        batch.collect()
        over.set()

    query = (
        in_lanes(source, LaneSettings(log=NAME, keys=keys))
        .writeStream.foreachBatch(sink)
        .option("checkpointLocation", str(checkpoint))
        .outputMode("append")
        .trigger(processingTime="0 seconds")
        .start()
    )
    ends = time.monotonic() + longest_s
    while not over.wait(0.1):
        failed = query.exception()
        if failed is not None:
            raise failed
        if time.monotonic() > ends:
            raise TimeoutError(f"no epoch of a rehearsal in {longest_s:g} s")
    query.stop()
    shutil.rmtree(checkpoint, ignore_errors=True)
