"""A lane in Spark: `transformWithState` around `aspen.runtime.lane.Lane`.

    state store    snapshot ──┬── changes since ───────────┐          survives everything
                   (position) │  e41 e42 │ e43 │ e44 e45   │
    worker memory             └───────────────► Lane at 45            lost with the process

State:   the lane's circuits live in the Python worker, in `_RESIDENT`. An ordinary batch makes one
         state call: append the batch's entries.
Behind:  a worker whose lane stands at an older position applies the stored changes it lacks.
Ahead:   a worker that already applied the batch (Spark repeats it) rebuilds from the snapshot.
Compact: once enough changes are stored, the snapshot moves up and the changes are dropped.
Law:     a lane is a function of the log prefix, so a resident one at the right position of the
         same log is right, whoever made it.
"""

from __future__ import annotations

import importlib
import json
import os
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import (
    ListState,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
    ValueState,
)

from aspen.log.entry import BadEntry, Entry, decode
from aspen.results.protocol import ViewChange
from aspen.results.wire import encode_changes

OUTPUT = "lane INT, first LONG, position LONG, at_s DOUBLE, changes STRING, timing STRING, pid INT"
_SNAPSHOT = "position LONG, data BINARY"
_CHANGES = "position LONG, entry BINARY"


class LaneLike(Protocol):
    """What this module needs of a lane; `aspen.runtime.lane.Lane` is one."""

    position: int

    def apply(self, entries: Sequence[tuple[int, Entry]]) -> list[ViewChange]:
        """Apply one epoch."""
        ...

    def snapshot(self) -> bytes:
        """Give the compact state."""
        ...


@dataclass(frozen=True, slots=True)
class LaneSettings:
    """What a lane processor is started with.

    Args:
        log: the log's identity; lanes of another log are not used.
        lane_class: "module:Class" of the state machine.
        keys: the grouping key of each lane.
        compact_entries: stored changes beyond which the snapshot moves up.
        compact_bytes: the same, in bytes of entries.
    """

    log: str
    lane_class: str = "aspen.runtime.lane:Lane"
    keys: tuple[int, ...] = (0,)
    compact_entries: int = 5_000
    compact_bytes: int = 4_000_000


@dataclass(slots=True)
class Resident:
    """A lane in this worker's memory, and how much is stored since its snapshot."""

    lane: LaneLike
    stored_entries: int = 0
    stored_bytes: int = 0


@dataclass(slots=True)
class _Batch:
    entries: list[tuple[int, bytes]] = field(default_factory=list)
    appended_ms: float = 0.0
    read_ms: float = 0.0


# (log identity, lane class, lane) → the lane; one task at a time runs in a worker.
_RESIDENT: dict[tuple[str, str, int], Resident] = {}


def decoded(entries: Sequence[tuple[int, bytes]]) -> list[tuple[int, Entry]]:
    """Decode entries, leaving out bytes that are none: they change no view, today or ever."""
    out: list[tuple[int, Entry]] = []
    for position, data in entries:
        try:
            out.append((position, decode(data)))
        except BadEntry:
            continue
    return out


def owner(view: str, lanes: int) -> int:
    """Give the lane that emits a view; the same in every process."""
    return zlib.crc32(view.encode()) % lanes


class LaneProcessor(StatefulProcessor):
    """Runs one lane per grouping key; see the module's head."""

    def __init__(self, settings: LaneSettings) -> None:
        self._settings = settings
        self._snapshot: ValueState
        self._changes: ListState

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the two state variables."""
        self._snapshot = handle.getValueState("snapshot", _SNAPSHOT)
        self._changes = handle.getListState("changes", _CHANGES)

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
        first, last = batch.entries[0][0], batch.entries[-1][0]
        resident, how = self._resident(number, first - 1)
        ready_ms = time.time() * 1000
        entries = decoded(batch.entries)
        changes = resident.lane.apply(entries)
        lanes = len(self._settings.keys)
        if lanes > 1:
            changes = [change for change in changes if owner(change.view, lanes) == number]
        text = encode_changes(changes)
        applied_ms = time.time() * 1000
        self._store(resident, batch.entries)
        resident.lane.position = last
        done_ms = time.time() * 1000
        timing = {
            "appended_at": batch.appended_ms,
            "log_wait": batch.read_ms - batch.appended_ms,
            "spark_in": started_ms - batch.read_ms,
            "lane_ready": ready_ms - started_ms,
            "lane": applied_ms - ready_ms,
            "lane_store": done_ms - applied_ms,
            "lane_done_at": done_ms,
            f"lane_{how}": 1.0,
        }
        yield Row(
            lane=number,
            first=first,
            position=last,
            at_s=entries[-1][1].at_s if entries else 0.0,
            changes=text,
            timing=json.dumps(timing),
            pid=os.getpid(),
        )

    def _resident(self, number: int, position: int) -> tuple[Resident, str]:
        """Give the lane standing at `position`, and how it came to be there."""
        place = (self._settings.log, self._settings.lane_class, number)
        resident = _RESIDENT.get(place)
        if resident is not None and resident.lane.position == position:
            return resident, "warm"
        # A lane that fails on its way must not be found half-way by the next attempt.
        _RESIDENT.pop(place, None)
        how = "behind"
        if resident is None or resident.lane.position > position:
            resident, how = self._rebuilt(), "rebuilt"
        self._catch_up(resident, position)
        _RESIDENT[place] = resident
        return resident, how

    def _rebuilt(self) -> Resident:
        lane_class = load_class(self._settings.lane_class)
        stored = self._snapshot.get()
        if stored is None:
            return Resident(cast("LaneLike", lane_class()))
        lane = cast("LaneLike", lane_class.restore(bytes(stored[1])))
        lane.position = stored[0]
        return Resident(lane)

    def _catch_up(self, resident: Resident, position: int) -> None:
        stored = [(row[0], bytes(row[1])) for row in self._changes.get()]
        if stored and resident.lane.position < stored[0][0] - 1:
            resident.lane = self._rebuilt().lane  # the changes it lacks were compacted away
        missing = [item for item in stored if resident.lane.position < item[0] <= position]
        if missing:
            resident.lane.apply(decoded(missing))
        elif not stored and resident.lane.position < position:
            resident.lane = self._rebuilt().lane
        resident.lane.position = position
        resident.stored_entries = len(stored)
        resident.stored_bytes = sum(len(data) for _, data in stored)

    def _store(self, resident: Resident, entries: list[tuple[int, bytes]]) -> None:
        resident.stored_entries += len(entries)
        resident.stored_bytes += sum(len(data) for _, data in entries)
        settings = self._settings
        if (
            resident.stored_entries > settings.compact_entries
            or resident.stored_bytes > settings.compact_bytes
        ):
            self._snapshot.update((entries[-1][0], resident.lane.snapshot()))
            self._changes.clear()
            resident.stored_entries = resident.stored_bytes = 0
        else:
            self._changes.appendList(list(entries))

    def close(self) -> None:
        """Keep everything: the resident lanes are for the next batch."""


def load_class(path: str) -> Any:
    """Import "module:Class"."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def _collect(rows: Iterator[Any]) -> _Batch:
    batch = _Batch()
    for row in rows:
        batch.entries.append((row.position, bytes(row.entry)))
        if not batch.appended_ms or row.appended_ms < batch.appended_ms:
            batch.appended_ms = float(row.appended_ms)
        batch.read_ms = float(row.read_ms)
    batch.entries.sort(key=lambda item: item[0])
    return batch
