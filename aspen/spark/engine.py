"""The engine: one Structured Streaming query that keeps every view of a building.

    log ──LogSource──► groupBy(lane).transformWithState(LaneProcessor) ──foreachBatch──► results

One driver at a time holds the lease. It ends itself when it loses the lease, when the query
fails, and when it has work and makes no progress: whoever supervises it starts a new one, which
continues from the checkpoint.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from enum import Enum

import redis
from py4j.protocol import Py4JError
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from aspen.errors import AspenError
from aspen.log.redis_log import RedisLog
from aspen.log.retention import Retention
from aspen.redis_client import connect
from aspen.results.engine_status import EngineStatus, write_status
from aspen.results.lease import Lease
from aspen.results.redis_results import RedisResults
from aspen.spark.checkpoint import (
    LogEnds,
    Prepared,
    prepare_checkpoint,
    start_failed,
    start_succeeded,
)
from aspen.spark.config import EngineConfig
from aspen.spark.in_work import alone_at, ended_in_order, is_deadly
from aspen.spark.lane_keys import lane_keys
from aspen.spark.lane_processor import LaneSettings, in_lanes
from aspen.spark.log_source import LogSource
from aspen.spark.lower import lower, lowered_now
from aspen.spark.rehearsal import rehearse
from aspen.spark.session import jvm_lives, scratch_folder, start_session
from aspen.spark.sink import Sink
from aspen.spark.sockets import socket_folder
from aspen.spark.stall import LONGEST, Stall

_LOG = logging.getLogger(__name__)
_BEAT_S = 1.0
_LONGEST_LINE = 300
WORKER_LATE = "Python worker failed to connect back"
_RAISED = re.compile(r"(?!org\.apache|java\.|py4j)[\w.]*(Error|Exception|Failed|Gap)\b:? ")
"""How the last line of a Python traceback begins."""

Say = Callable[..., None]
"""Takes an event's name and its fields, e.g. `structlog.get_logger().info`."""


class LeaseTaken(AspenError, code="aspen.spark.lease_taken"):
    """Another engine holds the lease."""


class Ending(Enum):
    """Why an engine ended."""

    STOPPED = "stopped"
    LEASE_LOST = "lease lost"
    STALLED = "stalled"
    FAILED = "failed"


class Engine:
    """One engine of this process.

    Args:
        config: what it reads, writes and runs on.
        say: receives each event of its life.
        session: a Spark session that exists already; it is then left running at the end.
    """

    def __init__(self, config: EngineConfig, say: Say, session: SparkSession | None = None) -> None:
        self._config = config
        self._say = say
        self._session = session
        self._own = session is None
        self._stop = threading.Event()
        self._redis = connect(config.results_url, 2.0)
        self._log = RedisLog(config.log_url, config.log_name, patience_s=config.patience_s)
        self._scratch = scratch_folder(config.checkpoint.parent / "spark-tmp")
        self._marks = config.checkpoint.parent / "in-work"
        self._lease = Lease(config.results_url, config.results_name, config.lease_s)
        self._status_lock = threading.Lock()
        self._status = EngineStatus(pid=os.getpid(), host=socket.gethostname())
        self._ending = Ending.STOPPED
        self._savepoint_at = (0, 0)
        self._querying = threading.Event()
        self._moved_at = time.monotonic()

    def stop(self) -> None:
        """Ask the engine to end; safe in a signal handler and from any thread."""
        self._stop.set()

    def prepare(self) -> None:
        """Start Spark and let it do once what an engine does, long before `run` and its lease."""
        self._session = self._start_session()
        rehearse(self._session, self._config.lanes, self._scratch, self._config.first_epoch_s)
        self._say("stands_by", pid=os.getpid())

    def is_prepared(self) -> bool:
        """Whether `run` can begin: Spark is there, and nobody asked the engine to end."""
        return not self._stop.is_set() and self._session is not None and jvm_lives(self._session)

    def run(self) -> Ending:
        """Run until stopped, or until something ends it.

        Raises:
            LeaseTaken: another engine is at work.
        """
        if not self._lease.acquire():
            raise LeaseTaken(
                "another engine holds the lease",
                found=f"for {self._lease.held_for_s():.1f} s more",
                attempt="stop that engine, or wait until its lease has run out",
            )
        now_s = time.time()
        self._update(state="starting", started_s=now_s, progress_s=now_s)
        beating = threading.Thread(target=self._beat, name="engine-beat", daemon=True)
        beating.start()
        error = ""
        try:
            error = self._work()
        except Exception as failure:
            self._ending, error = Ending.FAILED, failure_line(failure)
            raise
        finally:
            self._stop.set()
            beating.join(timeout=5)
            self._lease.release()
            if self._ending is Ending.FAILED and self._querying.is_set() and not self._status.epoch:
                start_failed(self._config.checkpoint)
            state = "stopped" if self._ending is Ending.STOPPED else "failed"
            self._update(state=state, error=error or self._ending.value)
            self._say("engine_ended", ending=self._ending.value, error=error)
        return self._ending

    def _work(self) -> str:
        config = self._config
        began = time.monotonic()
        results = RedisResults(
            config.results_url,
            config.results_name,
            fence=self._lease.token,
            patience_s=config.patience_s,
        )
        identity, head, _ = self._log.state()
        prepared = prepare_checkpoint(
            config.checkpoint,
            config.lanes,
            LogEnds(identity, head, self._log.base().position, self._log.newest_superstep()),
            results.writer(),
            results.head()[1],
        )
        self._leave_out_deadly(results.head()[1])
        if prepared.dropped:
            self._say("checkpoint_dropped", reason=prepared.dropped)
        self._savepoint_at = results.head()[:2]
        if prepared.savepoint is not None:
            self._say("goes_on_from", savepoint=prepared.savepoint.position, lanes=config.lanes)
        session = self._session or self._start_session()
        self._say("spark_started", master=config.master, s=round(time.monotonic() - began, 1))
        try:
            while True:
                query = self._start_query(session, results, prepared)
                # Every limit is counted from here: on a busy machine Spark takes minutes to begin.
                self._update(generation=str(query.id), progress_s=time.time())
                self._querying.set()
                self._say("query_started", generation=str(query.id))
                error = self._watch(query)
                if not self._begins_again(error):
                    return error
        finally:
            results.close()
            if self._own:
                session.stop()
            if self._ending in {Ending.STOPPED, Ending.LEASE_LOST}:
                ended_in_order(self._marks, self._log_id)

    def _start_session(self) -> SparkSession:
        config = self._config
        return start_session(
            config.master, config.lanes, self._scratch, config.settings, config.host
        )

    def _begins_again(self, error: str) -> bool:
        """Whether a query failed for want of the processor alone: neither Spark nor checkpoint did.

        Spark waits ten seconds for the process that reads the log, and no setting makes it longer.
        """
        late = WORKER_LATE in error and not self._stop.is_set()
        if late:
            self._ending = Ending.STOPPED
            self._say("query_starts_again", error=error)
        return late

    def _leave_out_deadly(self, done: int) -> None:
        """Leave out the entries at which engines before this one ended."""
        for position, deaths in sorted(alone_at(self._marks, self._log_id, done).items()):
            try:
                (raw,) = self._log.read_raw(position - 1, position)
            except AspenError:
                continue  # it is of a log that was longer
            if is_deadly(raw.data, deaths):
                self._log.leave_out(position, deaths)
                found = raw.data[:80].decode(errors="replace")
                self._say("entry_left_out", position=position, deaths=deaths, entry=found)

    @property
    def _log_id(self) -> str:
        return f"{self._config.log_name}@{self._log.identity()}"

    def _start_query(
        self, session: SparkSession, results: RedisResults, prepared: Prepared
    ) -> StreamingQuery:
        config, savepoint = self._config, prepared.savepoint
        keys = lane_keys(session, config.lanes)
        supersteps = prepared.supersteps
        if supersteps is None:
            # No lane of another query stands behind this number, whoever looks for one.
            supersteps = self._log.begin_supersteps() if config.lanes > 1 else 0
        published = 0 if savepoint is None else savepoint.position
        session.dataSource.register(LogSource)
        lowered, lower_from = lowered_now(self._log, config.lower_from_hz)
        for one in lowered:
            self._say("lowered", stream=one.relation.name, reason=one.reason)
        source = (
            session.readStream.format("aspen_log")
            .option("url", config.log_url)
            .option("name", config.log_name)
            .option("lane_keys", ",".join(map(str, keys)))
            .option("entries_per_batch", str(config.entries_per_batch))
            .option("patience_s", str(config.patience_s))
            .option("published", str(published))
            .option("supersteps", str(supersteps))
            .options(**({"lower_from": str(lower_from)} if lowered else {}))
            .load()
        )
        source = lower(source, lowered)
        if config.lanes == 1 and not lowered:
            source = source.coalesce(1)  # known to be one partition, it is not shuffled
        settings = LaneSettings(
            log=self._log_id,
            keys=keys,
            compact_entries=config.compact_entries,
            published=published,
            homes=str(socket_folder(self._scratch)),
            marks=str(self._marks),
        )
        sink = Sink(
            results,
            self._on_epoch,
            Retention(self._log, config.keep_entries).offer,
            savepoint,
            self._on_silence,
            self._exchange,
        )
        return (
            in_lanes(source, settings)
            .writeStream.foreachBatch(sink)
            .option("checkpointLocation", str(config.checkpoint))
            .outputMode("append")
            .trigger(processingTime="0 seconds")
            .start()
        )

    def _on_epoch(self, epoch: int, position: int, lane_pids: dict[int, int]) -> None:
        _LOG.debug("epoch", extra={"epoch": epoch, "position": position})
        if self._status.state == "starting":
            self._say("first_epoch", epoch=epoch, position=position)
            start_succeeded(self._config.checkpoint)
        self._update(
            state="live",
            epoch=epoch,
            position=position,
            lane_pids=lane_pids,
            progress_s=time.time(),
            error="",
        )

    def _on_silence(self, position: int, lane_pids: dict[int, int]) -> None:
        """Note progress on the way to a savepoint, at which the results stand all the while."""
        if position >= self._savepoint_at[1]:
            epoch, there = self._savepoint_at
            self._say("took_over", epoch=epoch, position=there)
            self._on_epoch(epoch, there, lane_pids)
        else:
            self._update(progress_s=time.time(), lane_pids=lane_pids)

    def _exchange(
        self, number: int, data: bytes, appended_ms: int, generation: str, batch: int
    ) -> None:
        """Append a superstep, which is progress, though nobody else hears of it."""
        self._log.append_superstep(number, data, appended_ms, generation, batch)
        self._update(progress_s=time.time())

    def _watch(self, query: StreamingQuery) -> str:
        while not self._stop.wait(0.1):
            if not query.isActive:
                failure = query.exception()
                self._ending = Ending.FAILED
                if failure is not None and WORKER_LATE in str(failure):
                    return f"{WORKER_LATE} within Spark's ten seconds"
                return failure_line(failure) if failure else "the query ended by itself"
        try:
            query.stop()
        except (StreamingQueryException, Py4JError) as error:
            self._say("query_stopped_badly", error=str(error).splitlines()[0])
        return ""

    def _beat(self) -> None:
        """Renew the lease, tell how it goes, notice a stall; once a second."""
        renewed, config = time.monotonic(), self._config
        first, later = Stall(config.first_epoch_s / LONGEST), Stall(config.stalled_s)
        while not self._stop.wait(_BEAT_S):
            try:
                held = self._lease.renew()
                renewed = time.monotonic()
                head = self._log.head()
            except redis.RedisError as error:
                # The store is away, hence nobody else works either; fencing guards the rest.
                self._say("beat_failed", error=str(error), s=round(time.monotonic() - renewed, 1))
                continue
            if not held:
                self._end(Ending.LEASE_LOST)
                return
            status = self._status
            caught_up = head <= status.position
            self._update(head=head, **({"progress_s": time.time()} if caught_up else {}))
            silent_s = time.monotonic() - self._moved_at
            stall = later if status.epoch else first
            if self._querying.is_set() and not caught_up and stall.after(silent_s):
                self._end(Ending.STALLED)
                return

    def _end(self, ending: Ending) -> None:
        self._ending = ending
        self._say("engine_gives_up", reason=ending.value)
        self._stop.set()

    def _update(self, **fields: object) -> None:
        with self._status_lock:
            if "progress_s" in fields:
                self._moved_at = time.monotonic()  # the time of day may jump
            changes = {"beat_s": time.time(), **fields}
            self._status = replace(self._status, **changes)  # type: ignore[arg-type]
            try:
                write_status(self._redis, self._config.results_name, self._status)
            except redis.RedisError as error:
                self._say("status_not_written", error=str(error))


def failure_line(error: Exception) -> str:
    """Returns the line of an error that says what happened.

    Spark's own first line often says only that a query ended; the cause, or what Python raised in
    a worker, stands behind it.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    raised = [line for line in lines if _RAISED.match(line)]
    return (raised or lines or [type(error).__name__])[-1 if raised else 0][:_LONGEST_LINE]
