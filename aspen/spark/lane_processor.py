"""A lane in Spark: `transformWithState` around `aspen.runtime.lane.Lane`.

    state store    [ snapshot at 40 │ e41 │ e42 │ e43 │ e44 │ e45 ]   survives everything
                           └──────────────────────────────────┐
    worker memory                                  Lane at 45 ◄┘      lost with the process

State:   the lane's circuits live in a Python worker, in `RESIDENT`. The store holds one list,
         snapshot first; an ordinary batch makes one state call: append the batch's entries.
Asked:   Spark gives a task to any idle worker; one that has not this lane asks the one that has.
Behind:  where nobody can be asked, a worker whose lane stands at an older position applies the
         stored changes it lacks.
Ahead:   a worker that already applied the batch (Spark repeats it) rebuilds from the snapshot.
Compact: once enough changes are stored, the snapshot moves up and the changes are dropped.
         It goes out with the batch too: the log may take it as its own base.
Base:    a batch may begin with the log's base instead of its first entries.
Resume:  lanes that take over from another number of lanes publish nothing up to where those ended.
Superstep: what lanes send each other comes back as further entries, stored like any other.
Law:     a lane is a function of the log prefix and its supersteps; see `residents`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql.streaming.stateful_processor import (
    ListState,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from aspen.log.superstep import SUPERSTEP
from aspen.runtime.assignment import LaneShare
from aspen.runtime.lane import Lane
from aspen.spark import residents
from aspen.spark.in_work import Deaths, marks_at, path_of, without_deadly
from aspen.spark.question_children import NAMES_SUFFIX, QuestionChildren
from aspen.spark.residents import (
    RESIDENT,
    LaneAddress,
    LaneWork,
    Resident,
    WorkDone,
    decoded,
    perform,
)
from aspen.spark.residents_home import ask, listen

# Types, not text: each text would be parsed in the JVM at every batch. A snapshot is an item
# whose `snapshot` is true; it can only be the first.
_HISTORY = StructType(
    [
        StructField("position", LongType()),
        StructField("snapshot", BooleanType()),
        StructField("data", BinaryType()),
    ]
)
OUTPUT = StructType(
    [
        StructField("lane", IntegerType()),
        StructField("position", LongType()),
        StructField("at_s", DoubleType()),
        StructField("changes", StringType()),
        StructField("parts", StringType()),
        StructField("crossing", StringType()),
        StructField("quiescent", BooleanType()),
        StructField("supersteps", LongType()),
        StructField("timing", StringType()),
        StructField("pid", IntegerType()),
        StructField("base", BinaryType()),
    ]
)
"""One row per lane and batch; `parts` are changes of views of which other lanes may have parts,
`crossing` is what the lane sends the others, which goes on until all are `quiescent`,
`base` is the lane's snapshot where it was compacted to one."""


@dataclass(frozen=True, slots=True)
class LaneSettings:
    """What a lane processor is started with.

    Args:
        log: the log's identity; lanes of another log are not used.
        keys: the grouping key of each lane.
        compact_entries: stored changes beyond which the snapshot moves up.
        compact_bytes: the same, in bytes of entries.
        published: log position up to which others have published all changes.
        homes: folder for the sockets at which processes ask each other for lanes; "" for none.
        marks: folder for what lanes are at, see `in_work`; "" for none.
    """

    log: str
    keys: tuple[int, ...] = (0,)
    compact_entries: int = 5_000
    compact_bytes: int = 4_000_000
    published: int = 0
    homes: str = ""
    marks: str = ""


@dataclass(frozen=True, slots=True)
class _Item:
    position: int
    snapshot: bool
    data: bytes


@dataclass(slots=True)
class _Batch:
    base: _Item | None = None
    entries: list[tuple[int, bytes]] = field(default_factory=list)
    appended_ms: float = 0.0
    read_ms: float = 0.0
    after: int = 0
    supersteps: int = 0
    since: int = 0

    @property
    def is_superstep(self) -> bool:
        """Whether it is a superstep, and no part of the log."""
        return bool(self.entries) and self.entries[0][1].startswith(SUPERSTEP)


class LaneProcessor(StatefulProcessor):
    """Runs one lane per grouping key; see the module's head."""

    def __init__(self, settings: LaneSettings) -> None:
        self._settings = settings
        self._history: ListState

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state variable."""
        self._history = handle.getListState("history", _HISTORY)

    def handleInputRows(  # noqa: N802  # Spark's name
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: TimerValues,  # noqa: ARG002, N803  # Spark's name; no clock but the log's
    ) -> Iterator[Any]:
        """Apply one micro-batch and give one row: what it did to this lane's views."""
        started_ms = time.time() * 1000
        number = self._settings.keys.index(key[0])
        batch = _collect(rows)
        work = self._work(batch, number)
        done, how = self._done(number, batch, work)
        self._store(batch.entries, done.snapshot)
        stored_ms = time.time() * 1000
        # Time on the way to another process and back counts as waiting for the lane.
        store_ms = done.done_ms - done.applied_ms
        lane_ms = done.applied_ms - done.ready_ms
        timing = {
            "appended_at": batch.appended_ms,
            "log_wait": batch.read_ms - batch.appended_ms,
            "spark_in": started_ms - batch.read_ms,
            "lane_ready": done.ready_ms - started_ms,
            "lane": lane_ms,
            "lane_store": store_ms + stored_ms - done.done_ms,
            "lane_done_at": stored_ms,
            f"lane_{how}": 1.0,
        }
        yield Row(
            lane=number,
            position=work.last,
            at_s=done.at_s,
            changes=done.changes,
            parts=done.parts,
            crossing=done.crossing,
            quiescent=done.quiescent,
            supersteps=batch.supersteps + batch.is_superstep,
            timing=json.dumps(timing),
            pid=done.pid,
            base=done.snapshot if number == 0 else None,
        )

    def _work(self, batch: _Batch, number: int) -> LaneWork:
        settings, marks, deaths = self._settings, "", Deaths()
        if settings.marks:
            path = path_of(settings.marks, settings.log, number)
            marks, deaths = str(path), marks_at(str(path)).look()
        if deaths.ranges:
            batch.entries = without_deadly(batch.entries, deaths)
        return LaneWork(
            batch.after,
            batch.entries[-1][0] if batch.entries else batch.after,
            batch.entries,
            settings.published,
            settings.compact_entries,
            settings.compact_bytes,
            batch.supersteps,
            marks,
            tuple(deaths.suspects.intersection(position for position, _ in batch.entries)),
        )

    def _done(self, number: int, batch: _Batch, work: LaneWork) -> tuple[WorkDone, str]:
        """Have a batch applied by the lane where it lives; give how that lane was found."""
        address = self._address(number)
        if batch.base is None:
            here = residents.at(address, work.after, work.supersteps)
            if here is not None and (done := perform(here, work)) is not None:
                return done, "warm"
            if address.lanes > 1:
                asked = ask(self._settings.homes, address, work)
                if asked is not None:
                    residents.forget(address)
                    return asked, "asked"
            resident, how = self._resident(address, batch)
        else:
            resident, how = self._begin(address, batch.base), "rebuilt"
        resident.lane.borders.supersteps = work.supersteps
        done = perform(resident, work)
        assert done is not None, "nobody else knows this lane yet"
        RESIDENT[address] = resident
        if address.lanes > 1:
            listen(self._settings.homes, address)
        return done, how

    def _begin(self, address: LaneAddress, base: _Item) -> Resident:
        """Begin where a compacted log begins: with the fold of what it no longer has."""
        resident = Resident(self._made(address, base))
        if not self._settings.published:
            resident.lane.announce()
        self._history.put([(base.position, True, base.data)])
        return resident

    def _resident(self, address: LaneAddress, batch: _Batch) -> tuple[Resident, str]:
        """Let a lane come up to where a batch begins here, and say how."""
        # A lane that fails on its way must not be found half-way by the next attempt.
        resident = RESIDENT.get(address)
        history = [_Item(row[0], row[1], bytes(row[2])) for row in self._history.get()]
        snapshot = history.pop(0) if history and history[0].snapshot else None
        base = snapshot.position if snapshot else 0
        how = "behind"
        if resident is None or not self._may_go_on(resident, base, batch.after):
            residents.forget(address)
            resident, how = Resident(self._made(address, snapshot)), "rebuilt"
            if snapshot is not None and not batch.since and not self._settings.published:
                resident.lane.announce()  # no epoch has been published yet
        RESIDENT.pop(address, None)
        # What it holds back is of the epoch under way, and of none before.
        for under_way in (False, True):
            missing = [
                (item.position, item.data)
                for item in history
                if (item.position > batch.since) == under_way
                and (item.position > resident.lane.position or item.data.startswith(SUPERSTEP))
            ]
            if under_way and resident.lane.position <= batch.since == self._settings.published > 0:
                resident.lane.renew()  # as it did when this epoch began
            if missing:
                resident.lane.apply(decoded(missing), published=not under_way)
        resident.lane.position = batch.after
        resident.stored_entries = len(history)
        resident.stored_bytes = sum(len(item.data) for item in history)
        resident.snapshot_bytes = len(snapshot.data) if snapshot else 0
        return resident, how

    def _may_go_on(self, resident: Resident, base: int, position: int) -> bool:
        """Whether a lane is behind; its supersteps may have been another generation's."""
        lane = resident.lane
        return resident.whole and base <= lane.position < position and not lane.borders.known

    def _address(self, number: int) -> LaneAddress:
        settings = self._settings
        return LaneAddress(settings.log, number, len(settings.keys))

    def _made(self, address: LaneAddress, snapshot: _Item | None) -> Lane:
        share = LaneShare(address.lane, address.lanes)
        lane = Lane(share) if snapshot is None else Lane.restore(snapshot.data, share)
        if snapshot is not None:
            lane.position = snapshot.position
        children = QuestionChildren(self._names(address.lane))
        lane.one_time.time.clock = time.thread_time
        lane.one_time.answering, lane.one_time.lost = children, children.lost()
        return lane

    def _names(self, number: int) -> Path | None:
        settings = self._settings
        if not settings.marks:
            return None
        path = path_of(settings.marks, settings.log, number)
        return path.with_name(path.name + NAMES_SUFFIX)

    def _store(self, entries: list[tuple[int, bytes]], snapshot: bytes | None) -> None:
        """Store a batch's changes, or the snapshot that replaces them."""
        if snapshot is not None:
            self._history.put([(entries[-1][0], True, snapshot)])
        elif entries:
            self._history.appendList([(position, False, data) for position, data in entries])

    def close(self) -> None:
        """Keep everything: the resident lanes are for the next batch."""


def in_lanes(source: DataFrame, settings: LaneSettings) -> DataFrame:
    """Returns what the lanes make of a source's rows."""
    return source.groupBy("lane").transformWithState(
        statefulProcessor=LaneProcessor(settings),
        outputStructType=OUTPUT,
        outputMode="append",
        timeMode="none",
    )


def _collect(rows: Iterator[Any]) -> _Batch:
    batch = _Batch()
    for row in rows:
        if row.snapshot:
            batch.base = _Item(row.position, snapshot=True, data=bytes(row.entry))
        else:
            batch.entries.append((row.position, bytes(row.entry)))
        if not batch.appended_ms or row.appended_ms < batch.appended_ms:
            batch.appended_ms = float(row.appended_ms)
        batch.read_ms = float(row.read_ms)
        batch.after, batch.supersteps, batch.since = row.after, row.supersteps, row.since
    batch.entries.sort(key=lambda item: item[0])
    return batch
