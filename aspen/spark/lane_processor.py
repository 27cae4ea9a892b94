"""A lane in Spark: `transformWithState` around `aspen.runtime.lane.Lane`.

    state store    [ snapshot at 40 │ e41 │ e42 │ e43 │ e44 │ e45 ]   survives everything
                           └──────────────────────────────────┐
    worker memory                                  Lane at 45 ◄┘      lost with the process

State:   the lane's circuits live in the Python worker, in `_RESIDENT`. The store holds one list,
         snapshot first; an ordinary batch makes one state call: append the batch's entries.
Behind:  a worker whose lane stands at an older position applies the stored changes it lacks.
Ahead:   a worker that already applied the batch (Spark repeats it) rebuilds from the snapshot.
Compact: once enough changes are stored, the snapshot moves up and the changes are dropped.
         It goes out with the batch too: the log may take it as its own base.
Base:    a batch may begin with the log's base instead of its first entries.
Told:    lanes that take over from another number of lanes come up to where those ended in silence.
Law:     a lane is a function of the log prefix, so a resident one at the right position of the
         same log is right, whoever made it.
"""

from __future__ import annotations

import importlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from pyspark.sql import Row
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

from aspen.log.entry import BadEntry, Entry, decode
from aspen.results.protocol import ViewChange
from aspen.results.wire import encode_changes
from aspen.runtime.collector import uncollected
from aspen.runtime.placing import Share

# Entries are applied again about as fast as a snapshot that packs to an eighth of them is made: a
# lane with much state and many readings would do little else but take snapshots.
_WORTH = 8

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
        StructField("first", LongType()),
        StructField("position", LongType()),
        StructField("at_s", DoubleType()),
        StructField("changes", StringType()),
        StructField("parts", StringType()),
        StructField("timing", StringType()),
        StructField("pid", IntegerType()),
        StructField("base", BinaryType()),
    ]
)
"""One row per lane and batch; `parts` are changes of views of which other lanes may have parts,
`base` is the lane's snapshot where it was compacted to one."""


class LaneLike(Protocol):
    """What this module needs of a lane; `aspen.runtime.lane.Lane` is one."""

    position: int

    def apply(self, entries: Sequence[tuple[int, Entry]]) -> list[ViewChange]:
        """Apply one epoch."""
        ...

    def snapshot(self) -> bytes:
        """Give the compact state."""
        ...

    def announce(self) -> None:
        """Let the next batch tell every view in full."""
        ...

    @property
    def shared(self) -> AbstractSet[str]:
        """Views of the last batch that other lanes may have changed, too."""
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
        told: log position up to which others have told all changes; they are not told again.
    """

    log: str
    lane_class: str = "aspen.runtime.lane:Lane"
    keys: tuple[int, ...] = (0,)
    compact_entries: int = 5_000
    compact_bytes: int = 4_000_000
    told: int = 0


@dataclass(slots=True)
class Resident:
    """A lane in this worker's memory, and how much is stored since its snapshot."""

    lane: LaneLike
    stored_entries: int = 0
    stored_bytes: int = 0
    snapshot_bytes: int = 0


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


# (log identity, lane class, lane, lanes) → the lane; one task at a time runs in a worker.
_RESIDENT: dict[tuple[str, str, int, int], Resident] = {}


def decoded(entries: Sequence[tuple[int, bytes]]) -> list[tuple[int, Entry]]:
    """Decode entries, leaving out bytes that are none: they change no view, today or ever."""
    out: list[tuple[int, Entry]] = []
    with uncollected():
        for position, data in entries:
            try:
                out.append((position, decode(data)))
            except BadEntry:
                continue
    return out


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
        if batch.base is not None:
            first = batch.base.position + 1
            resident, how = self._begin(number, batch.base)
        else:
            first = batch.entries[0][0]
            resident, how = self._resident(number, first - 1)
        last = batch.entries[-1][0] if batch.entries else first - 1
        ready_ms = time.time() * 1000
        entries = decoded(batch.entries)
        changes = resident.lane.apply(entries)
        if last <= self._settings.told:
            changes = []
        shared = resident.lane.shared
        text = encode_changes([change for change in changes if change.view not in shared])
        parts = encode_changes([change for change in changes if change.view in shared])
        applied_ms = time.time() * 1000
        base = self._store(resident, batch.entries)
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
            parts=parts,
            timing=json.dumps(timing),
            pid=os.getpid(),
            base=base if number == 0 else None,
        )

    def _begin(self, number: int, base: _Item) -> tuple[Resident, str]:
        """Begin where a compacted log begins: with the fold of what it no longer has."""
        resident = Resident(self._made(number, base))
        if not self._settings.told:
            resident.lane.announce()
        self._history.put([(base.position, True, base.data)])
        _RESIDENT[self._place(number)] = resident
        return resident, "rebuilt"

    def _resident(self, number: int, position: int) -> tuple[Resident, str]:
        """Give the lane standing at `position`, and how it came to be there."""
        place = self._place(number)
        resident = _RESIDENT.get(place)
        if resident is not None and resident.lane.position == position:
            return resident, "warm"
        # A lane that fails on its way must not be found half-way by the next attempt.
        _RESIDENT.pop(place, None)
        history = [_Item(row[0], row[1], bytes(row[2])) for row in self._history.get()]
        snapshot = history.pop(0) if history and history[0].snapshot else None
        base = snapshot.position if snapshot else 0
        how = "behind"
        if resident is None or not base <= resident.lane.position < position:
            resident, how = Resident(self._made(number, snapshot)), "rebuilt"
        missing = [
            (item.position, item.data)
            for item in history
            if resident.lane.position < item.position <= position
        ]
        if missing:
            resident.lane.apply(decoded(missing))
        resident.lane.position = position
        resident.stored_entries = len(history)
        resident.stored_bytes = sum(len(item.data) for item in history)
        resident.snapshot_bytes = len(snapshot.data) if snapshot else 0
        _RESIDENT[place] = resident
        return resident, how

    def _place(self, number: int) -> tuple[str, str, int, int]:
        settings = self._settings
        return settings.log, settings.lane_class, number, len(settings.keys)

    def _made(self, number: int, snapshot: _Item | None) -> LaneLike:
        lane_class = load_class(self._settings.lane_class)
        share = Share(number, len(self._settings.keys))
        if snapshot is None:
            return cast("LaneLike", lane_class(share))
        lane = cast("LaneLike", lane_class.restore(snapshot.data, share))
        lane.position = snapshot.position
        return lane

    def _store(self, resident: Resident, entries: list[tuple[int, bytes]]) -> bytes | None:
        """Store a batch's changes; give the snapshot that took their place, if one did."""
        if not entries:
            return None
        resident.stored_entries += len(entries)
        resident.stored_bytes += sum(len(data) for _, data in entries)
        settings = self._settings
        if resident.stored_entries > settings.compact_entries or resident.stored_bytes > max(
            settings.compact_bytes, _WORTH * resident.snapshot_bytes
        ):
            snapshot = resident.lane.snapshot()
            self._history.put([(entries[-1][0], True, snapshot)])
            resident.stored_entries = resident.stored_bytes = 0
            resident.snapshot_bytes = len(snapshot)
            return snapshot
        self._history.appendList([(position, False, data) for position, data in entries])
        return None

    def close(self) -> None:
        """Keep everything: the resident lanes are for the next batch."""


def load_class(path: str) -> Any:
    """Import "module:Class"."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


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
    batch.entries.sort(key=lambda item: item[0])
    return batch
