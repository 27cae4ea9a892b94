"""Residents: the lanes in this process's memory, and one step of a lane, whoever asks for it.

Law:     a lane is a function of the log prefix and of the supersteps it had, so a resident
         one at the right position and superstep of the same log is right, whoever made it and
         whoever asks it. The number of a superstep is never given twice.
Work:    one batch for a lane that stands at `after`; a lane that stands elsewhere does nothing.
Whole:   a lane that failed on its way is not used again.
One:     one lane at a time works in a process: two would only hand the interpreter to and fro.
Absent:  Spark, and its state store. Those are the business of the task; see `lane_processor`.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from aspen.log.entry import BadEntry, Unreadable, decode
from aspen.log.superstep import SUPERSTEP, Step, decode_superstep, encode_sent
from aspen.results.wire import encode_changes
from aspen.runtime.collector import SetAside, uncollected
from aspen.runtime.lane import Lane
from aspen.runtime.lane_state import nothing_to_note
from aspen.spark.in_work import marks_at

# Entries are applied again about as fast as a snapshot that packs to an eighth of them is made: a
# lane with much state and many readings would do little else but take snapshots.
_WORTH = 8


class LaneAddress(NamedTuple):
    """Which lane: of which log, and which of how many."""

    log: str
    lane: int
    lanes: int


@dataclass(slots=True)
class Resident:
    """A lane in this process's memory, and how much is stored since its snapshot."""

    lane: Lane
    stored_entries: int = 0
    stored_bytes: int = 0
    snapshot_bytes: int = 0
    whole: bool = True


class LaneWork(NamedTuple):
    """One batch for a lane.

    Args:
        after: log position the lane must stand at.
        supersteps: number of the newest superstep it must have had.
        last: log position it stands at afterwards.
        entries: by position, as they are in the log.
        published: log position up to which changes are published already.
        compact_entries: stored entries beyond which a snapshot is due.
        compact_bytes: the same, in bytes.
        marks: file that says which entries are in work; "" for none.
        suspects: positions of entries to be worked on one by one.
    """

    after: int
    last: int
    entries: Sequence[tuple[int, bytes]]
    published: int = 0
    compact_entries: int = 5_000
    compact_bytes: int = 4_000_000
    supersteps: int = 0
    marks: str = ""
    suspects: Sequence[int] = ()


class WorkDone(NamedTuple):
    """What a batch did.

    Args:
        pid: of the process that did it.
        at_s: of its last entry.
        crossing: what the lane has to send the others, encoded.
        quiescent: whether that is nothing, and it waits for nothing.
        changes: of views that are this lane's alone, encoded.
        parts: of views other lanes may have parts of, encoded.
        snapshot: the lane's state, if it was time for one.
        ready_ms, applied_ms, done_ms: when work began, when it was applied, when all was ready.
    """

    pid: int
    at_s: float
    changes: str
    parts: str
    snapshot: bytes | None
    ready_ms: float
    applied_ms: float
    done_ms: float
    crossing: str = ""
    quiescent: bool = True


_LOG = logging.getLogger(__name__)

RESIDENT: dict[LaneAddress, Resident] = {}
"""The lanes of this process."""

_WORKING = threading.Lock()
_ASIDE = SetAside()


def forget(address: LaneAddress) -> None:
    """Let a lane of this process go, if there is one: it lives elsewhere, or failed."""
    resident = RESIDENT.pop(address, None)
    if resident is not None:
        resident.lane.end()


def at(address: LaneAddress, position: int, supersteps: int) -> Resident | None:
    """Returns this process's lane, if it has one that stands there."""
    resident = RESIDENT.get(address)
    return resident if resident is not None and _stands(resident, position, supersteps) else None


def _stands(resident: Resident, position: int, supersteps: int) -> bool:
    lane = resident.lane
    return resident.whole and (lane.position, lane.borders.supersteps) == (position, supersteps)


def perform(resident: Resident, work: LaneWork) -> WorkDone | None:
    """Let a lane do its work; None, and nothing happens, if it stands elsewhere by now."""
    with _WORKING:
        if not _stands(resident, work.after, work.supersteps):
            return None
        ready_ms = time.time() * 1000
        resident.whole = False
        if 0 < work.published == work.after:
            resident.lane.renew()
        entries = decoded(work.entries)
        silent = work.last <= work.published
        with _marked(resident.lane, work):
            changes = resident.lane.apply(entries, published=silent)
        if silent:
            changes = []
        shared = resident.lane.shared
        text = encode_changes([change for change in changes if change.view not in shared])
        parts = encode_changes([change for change in changes if change.view in shared])
        applied_ms = time.time() * 1000
        snapshot = _snapshot_due(resident, work)
        resident.lane.position = work.last
        borders = resident.lane.borders
        crossing, quiescent = encode_sent(borders.to_send()), borders.quiescent
        resident.whole = True
        _ASIDE.all()
    return WorkDone(
        pid=os.getpid(),
        at_s=max((step.at_s for _, step in entries), default=0.0),
        changes=text,
        parts=parts,
        snapshot=snapshot,
        ready_ms=ready_ms,
        applied_ms=applied_ms,
        done_ms=time.time() * 1000,
        crossing=crossing,
        quiescent=quiescent,
    )


@contextmanager
def _marked(lane: Lane, work: LaneWork) -> Iterator[None]:
    """Say on disk what a lane is at; where it dies or breaks, that stays said."""
    if not work.marks:
        yield
        return
    marks = marks_at(work.marks)
    lane.at_work, lane.suspects = marks.note, frozenset(work.suspects)
    yield
    lane.at_work, lane.suspects = nothing_to_note, frozenset()
    marks.done()


def _snapshot_due(resident: Resident, work: LaneWork) -> bytes | None:
    """Count what will be stored; give the snapshot that is to replace it, if it is time."""
    if not work.entries:
        return None
    resident.stored_entries += len(work.entries)
    resident.stored_bytes += sum(len(data) for _, data in work.entries)
    bytes_allowed = max(work.compact_bytes, _WORTH * resident.snapshot_bytes)
    if resident.stored_entries <= work.compact_entries and resident.stored_bytes <= bytes_allowed:
        return None
    snapshot = resident.lane.snapshot()
    resident.stored_entries = resident.stored_bytes = 0
    resident.snapshot_bytes = len(snapshot)
    return snapshot


def decoded(entries: Sequence[tuple[int, bytes]]) -> list[tuple[int, Step]]:
    """Decode entries; bytes that are none become a row of `engine_error` and a line of the log."""
    out: list[tuple[int, Step]] = []
    with uncollected():
        for position, data in entries:
            step: Step
            try:
                step = decode_superstep(data) if data.startswith(SUPERSTEP) else decode(data)
            except BadEntry as error:
                _LOG.warning("log position %s: %s", position, error.render())
                step = Unreadable(error)
            out.append((position, step))
    return out
