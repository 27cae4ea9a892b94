"""Files of readings: a JSON list, a JSON object a line, or CSV with a header.

The beginning tells which: `[`, `{`, or anything else.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from smartcis.client.problem import Problem

NUMBERS = ("value", "at_s")


def readings_in(lines: Iterable[str], name: str) -> Iterator[Mapping[str, Any]]:
    """Walks the readings in a file, as its lines come.

    Args:
        lines: of text.
        name: of the file, for problems.

    Raises:
        Problem: a line is none of these; it names the line.
    """
    read = 0
    try:
        for reading in _objects(iter(lines)):
            if not isinstance(reading, dict):
                raise ValueError("it is no object")  # noqa: TRY004, TRY301  # one sort of fault
            yield reading
            read += 1
    except (ValueError, csv.Error) as fault:
        raise Problem(
            f"{name} holds no readings from number {read + 1} on: {fault}",
            code="smartcis.client.odd_file",
            attempt='one object a line: {"sid": "…", "value": 21.5, "unit": "°C"}',
        ) from fault


def _objects(lines: Iterator[str]) -> Iterator[Any]:
    first = next((line for line in lines if line.strip()), "").lstrip("\ufeff")
    read: Callable[[Iterable[str]], Iterator[Any]] = _csv
    if first.lstrip()[:1] in {"[", "{"}:
        read = _json_list if first.lstrip()[:1] == "[" else _json_lines
    return read(chain([first], lines))


def _json_list(lines: Iterable[str]) -> Iterator[Any]:
    yield from json.loads("".join(lines))


def _json_lines(lines: Iterable[str]) -> Iterator[Any]:
    for line in lines:
        if line.strip():
            yield json.loads(line)


def _csv(lines: Iterable[str]) -> Iterator[Any]:
    for row in csv.DictReader(lines, strict=True):
        if None in row:
            raise ValueError("it has more cells than the header")
        given = {name: text for name, text in row.items() if text}
        yield {name: float(text) if name in NUMBERS else text for name, text in given.items()}
