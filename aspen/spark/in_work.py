"""In work: which entries a lane is at, on disk, so that whoever comes after its death knows.

    folder/<log>-<lane>           first and last position in work; zeros: nothing is
    folder/<log>-<lane>.deaths    a line "first last" for each time a lane died at them

A range is what was to be computed together. After a death the entries of its range are taken one
by one, so that the next death says which of them it is.

Law: an entry is deadly only by deaths while it alone was in work: a question by one, anything else
     by two. Whoever ends in order leaves nothing in work.
"""

from __future__ import annotations

import hashlib
import logging
import os
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from aspen.errors import AspenError
from aspen.log.entry import BadEntry, OneTimeQuery, Quarantined, decode, encode

DEADLY = 2
DEATHS_SUFFIX = ".deaths"
_RANGE = struct.Struct("<qq")
_NOTHING = _RANGE.pack(0, 0)
_LOG = logging.getLogger(__name__)


class DeadlyEntry(AspenError, code="aspen.spark.deadly_entry"):
    """An entry that ended lanes again and again; the next engine leaves it out."""


@dataclass(frozen=True, slots=True)
class Deaths:
    """Where lanes died: one range of positions for each time."""

    ranges: tuple[tuple[int, int], ...] = ()

    @property
    def alone(self) -> Counter[int]:
        """How often at one entry alone, by position."""
        return Counter(first for first, last in self.ranges if first == last)

    @property
    def suspects(self) -> frozenset[int]:
        """The entries that are to be taken one by one."""
        return frozenset(n for first, last in self.ranges for n in range(first, last + 1))


class InWork:
    """What one lane is at.

    Args:
        path: of its file. Where that cannot be written (a full disk), nothing is known of deaths.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = -1
        with suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def note(self, first: int, last: int) -> None:
        """Say what is in work from now on."""
        if self._file >= 0:
            with suppress(OSError):
                os.pwrite(self._file, _RANGE.pack(first, last), 0)

    def done(self) -> None:
        """Say that nothing is."""
        self.note(0, 0)

    def look(self) -> Deaths:
        """Returns all deaths; what is still in work, though its lane begins anew, is one more."""
        left = os.pread(self._file, _RANGE.size, 0) if self._file >= 0 else b""
        if len(left) == _RANGE.size and left != _NOTHING:
            with suppress(OSError), self._deaths.open("a") as deaths:
                deaths.write("{} {}\n".format(*_RANGE.unpack(left)))
            self.done()
        return Deaths(tuple(self._read()))

    @property
    def _deaths(self) -> Path:
        return self._path.with_name(self._path.name + DEATHS_SUFFIX)

    def _read(self) -> Iterator[tuple[int, int]]:
        try:
            lines = self._deaths.read_text().splitlines()
        except (OSError, ValueError):
            return
        for line in lines:
            with suppress(ValueError):  # half a line, of one that died at this, too
                first, last = map(int, line.split())
                yield first, last

    def forget(self, upto: int) -> None:
        """Forget deaths at entries up to a position, which are done: it was not their fault."""
        kept = [f"{first} {last}\n" for first, last in self._read() if last > upto]
        with suppress(OSError):
            if kept:
                self._deaths.write_text("".join(kept))
            else:
                self._deaths.unlink(missing_ok=True)


@cache
def marks_at(path: str) -> InWork:
    """Returns what this process notes in a file, which it opens once."""
    return InWork(Path(path))


def path_of(folder: str | Path, log: str, lane: int) -> Path:
    """Returns the file of a lane of a log."""
    return Path(folder) / f"{hashlib.sha256(log.encode()).hexdigest()[:12]}-{lane}"


def _lanes(folder: Path, log: str) -> list[InWork]:
    prefix = path_of(folder, log, 0).name.partition("-")[0]
    files = folder.glob(f"{prefix}-*")
    return [marks_at(str(file)) for file in files if not file.suffix]


def alone_at(folder: Path, log: str, done: int) -> Counter[int]:
    """Returns how often any one lane died at an entry alone, by position.

    Args:
        done: position up to which all entries are done, and nobody's deaths.
    """
    found: Counter[int] = Counter()
    for lane in _lanes(folder, log):
        lane.look()
        lane.forget(done)
        found |= lane.look().alone
    return found


def ended_in_order(folder: Path, log: str) -> None:
    """Note that lanes were ended by somebody, and not by what they were at."""
    for lane in _lanes(folder, log):
        lane.done()


def without_deadly(entries: list[tuple[int, bytes]], deaths: Deaths) -> list[tuple[int, bytes]]:
    """Returns entries with every deadly question in a form in which nobody answers it.

    Raises:
        DeadlyEntry: another deadly entry is among them. All lanes must leave it out, so it is for
            the next engine to do.
    """
    alone = deaths.alone
    return [
        (position, spared(position, data, alone[position]) if alone[position] else data)
        for position, data in entries
    ]


def spared(position: int, data: bytes, deaths: int) -> bytes:
    """Returns an entry at which lanes died, fit to be taken up again.

    Raises:
        DeadlyEntry: it must not be.
    """
    if not is_deadly(data, deaths):
        return data
    if isinstance(_entry_in(data), OneTimeQuery):
        return encode(Quarantined.of(data.decode(errors="replace"), deaths))
    raise DeadlyEntry(
        f"the engine ended {deaths} times at log position {position}",
        found=data[:80].decode(errors="replace"),
        attempt="the next engine leaves it out; staff can take it in again",
    )


def is_deadly(data: bytes, deaths: int) -> bool:
    """Whether an entry at which lanes died alone must not be taken up again."""
    entry = _entry_in(data)
    deadly = 1 if isinstance(entry, OneTimeQuery) else DEADLY
    return deaths >= deadly and not isinstance(entry, Quarantined)


def _entry_in(data: bytes) -> object:
    """Returns the entry that bytes are, None where they are none."""
    try:
        return decode(data)
    except BadEntry:
        return None
