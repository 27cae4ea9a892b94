"""A sqllogictest file → its records, in order.

    statement ok | error | count N
    query <types> [nosort | rowsort | valuesort] [label]
    skipif <engine>      onlyif <engine>      halt      hash-threshold N      # comment

Whatever else begins a record is kept as one to be skipped, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

SORTS = ("nosort", "rowsort", "valuesort")
_HARMLESS = ("noforcestorage", "nothreadsan", "skip_reload", "vector_size", "notwindows", "64bit")
_LINE = re.compile(r"^-{4,}$")
_HASH = re.compile(r"^(\d+) values hashing to ([0-9a-f]{32})$")


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL that is carried out.

    Args:
        line: of the record's head, counted from 1.
        skip: why it is left out, empty when it is not.
        fails: whether it must be refused.
        count: rows it must change, None for any number.
    """

    line: int
    skip: str
    sql: str
    fails: bool
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """SQL that gives rows.

    Args:
        types: one letter per column: I, R or T.
        sort: how result and expectation are brought into one order.
        label: queries of one label give the same result.
        expected: the lines below `----`.
        count: number of values, where only their hash is given.
        digest: MD5 of the values, each followed by a line break; empty where they are listed.
    """

    line: int
    skip: str
    sql: str
    types: str
    sort: str
    label: str
    expected: tuple[str, ...]
    count: int = 0
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Halt:
    """Nothing behind it is run."""

    line: int
    skip: str


Record = Statement | Query | Halt


def read_records(text: str, engine: str) -> Iterator[Record]:
    """Read a file.

    Args:
        engine: the name that `skipif` and `onlyif` compare with.
    """
    loops = 0
    lacking = ""
    for first, lines in _blocks(text):
        word, *rest = [*lines[0].split(), ""]
        if word in ("loop", "foreach", "concurrentloop"):
            loops += 1
        record = _record(first, lines, engine)
        if word == "endloop":
            loops = max(0, loops - 1)
        if record is None:
            continue
        if lacking or loops:
            # What stands in a loop holds its variable, and is no SQL before it is put in.
            record = replace(record, skip=record.skip or lacking or "it stands in a loop")
        if word == "require" and rest[0] not in _HARMLESS:
            lacking = f"the file requires {rest[0]}"
        yield record


def _blocks(text: str) -> Iterator[tuple[int, list[str]]]:
    """The pieces between blank lines; in a result, blank lines may stand for empty texts."""
    block: list[str] = []
    start = 0
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.rstrip("\r")
        if not line.strip():
            if block:
                yield start, block
            block = []
            continue
        if line.startswith("#"):
            continue
        if not block:
            start = number
        block.append(line)
    if block:
        yield start, block


def _record(first: int, lines: list[str], engine: str) -> Record | None:
    skip = ""
    while lines:
        words = lines[0].split("#")[0].split()
        if words[:1] == ["skipif"] and len(words) > 1:
            skip = skip or (f"skipif {words[1]}" if words[1] == engine else "")
        elif words[:1] == ["onlyif"] and len(words) > 1:
            skip = skip or (f"onlyif {words[1]}" if words[1] != engine else "")
        else:
            break
        first, lines = first + 1, lines[1:]
    if not lines:
        return None
    words = lines[0].split("#")[0].split() or [""]
    body = lines[1:]
    match words:
        case ["statement", "ok" | "error" | "maybe" | "count" as how, *rest]:
            sql, _ = _parted(body)
            if how == "maybe":
                skip = skip or "statement maybe expects nothing"
            count = int(rest[0]) if how == "count" and rest and rest[0].isdigit() else None
            return Statement(first, skip, sql, how == "error", count)
        case ["query", "error", *_]:
            sql, _ = _parted(body)
            return Statement(first, skip, sql, fails=True)
        case ["query", types, *rest]:
            return _query(first, skip, types, rest, body)
        case ["halt"]:
            return Halt(first, skip)
        case ["hash-threshold", *_]:
            return None
        case ["mode" | "require" | "load" | "loop" | "foreach" | "endloop" | "sleep", *_]:
            return Statement(first, skip or f"no record of sqlite's form: {words[0]}", "", False)
    return Statement(first, skip or f"no record begins with {words[0]!r}", "", fails=False)


def _parted(body: list[str]) -> tuple[str, tuple[str, ...]]:
    for index, line in enumerate(body):
        if _LINE.match(line.strip()):
            return "\n".join(body[:index]), tuple(body[index + 1 :])
    return "\n".join(body), ()


def _query(first: int, skip: str, types: str, rest: list[str], body: list[str]) -> Query:
    sort = rest[0] if rest and rest[0] in SORTS else "nosort"
    labels = rest[1:] if rest and rest[0] in SORTS else rest
    sql, expected = _parted(body)
    label = labels[0] if labels else ""
    hashed = _HASH.match(expected[0].strip()) if len(expected) == 1 else None
    if hashed is not None:
        return Query(
            first, skip, sql, types, sort, label, (), int(hashed.group(1)), hashed.group(2)
        )
    return Query(first, skip, sql, types, sort, label, expected)
