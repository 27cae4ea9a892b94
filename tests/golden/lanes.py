"""Golden files of border 9: log entries go in, batch by batch; epochs come out.

    # what the case is about
    {"views": {name: StreamSQL, or null for a plan that cannot be read}, "batches": [[step, …], …]}
    ----
    one line per epoch: position, then what it did to which view

A step is "declare R", "register V", "unregister V", {"tick": s}, a change [relation, weight, …row]
or {"at_s": s, "changes": […]}. Each batch runs through the lane processor in Spark's own test
harness, in a fresh worker every time: catching up must not show.
`manage.py golden --update` calls `update`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester

from aspen.algebra.explain import plan_text
from aspen.log.entry import (
    Change,
    Declare,
    Entry,
    Register,
    Tick,
    Transaction,
    Unregister,
    encode,
)
from aspen.spark import residents
from aspen.spark.lane_processor import LaneProcessor, LaneSettings
from aspen.streamsql import compile_query
from smartcis.catalog import CATALOG

HERE = Path(__file__).parent
LINE = "----\n"


def paths() -> list[Path]:
    """Returns every golden file of this border, in order."""
    return sorted(HERE.glob("09_spark/*.case"))


def split(path: Path) -> tuple[str, dict[str, Any], str]:
    """Read a file: everything before the line, the input, the expectation."""
    head, _, expected = path.read_text(encoding="utf-8").partition(LINE)
    body = "".join(line for line in head.splitlines(keepends=True) if not line.startswith("#"))
    return head, json.loads(body), expected


def actual(path: Path) -> str:
    """Returns what the border makes of a case today."""
    _, body, _ = split(path)
    return "".join(f"{line}\n" for line in _epochs(body))


def update() -> list[Path]:
    """Write today's answers into all files; give those that changed."""
    changed = []
    for path in paths():
        head, _, expected = split(path)
        given = actual(path)
        if given != expected:
            path.write_text(head + LINE + given, encoding="utf-8")
            changed.append(path)
    return changed


def _epochs(body: dict[str, Any]) -> Iterator[str]:
    tester = TwsTester(LaneProcessor(LaneSettings("golden")))
    position = 0
    for batch in body["batches"]:
        entries = [_entry(step, body["views"]) for step in _grouped(batch)]
        rows = [
            Row(
                lane=0,
                position=position + n,
                entry=encode(entry),
                appended_ms=0,
                read_ms=0.0,
                snapshot=False,
                after=position,
                supersteps=0,
                since=position,
            )
            for n, entry in enumerate(entries, start=1)
        ]
        position += len(rows)
        residents.RESIDENT.clear()
        (out,) = tester.test(0, rows)
        yield f"{out.position} at {out.at_s}"
        for change in json.loads(out.changes):
            yield "  " + json.dumps(change, ensure_ascii=False)


def _grouped(batch: list[Any]) -> Iterator[Any]:
    """Let the bare changes of a batch be one transaction, as in an edit."""
    bare = [step for step in batch if isinstance(step, list) and isinstance(step[0], str)]
    yield from (step for step in batch if not (isinstance(step, list) and step in bare))
    if bare:
        yield bare


def _entry(step: Any, views: dict[str, str | None]) -> Entry:
    match step:
        case str():
            verb, name = step.split()
            if verb == "declare":
                return Declare(0.0, CATALOG.get(name))
            if verb == "unregister":
                return Unregister(0.0, name)
            text = views[name]
            plan = "no plan" if text is None else plan_text(compile_query(text, CATALOG).plan)
            return Register(0.0, name, plan)
        case {"tick": at_s}:
            return Tick(at_s)
        case {"at_s": at_s, "changes": changes}:
            return Transaction(at_s, _changes(changes))
        case _:
            return Transaction(0.0, _changes(step))


def _changes(changes: list[list[Any]]) -> tuple[Change, ...]:
    return tuple(Change(change[0], change[1], tuple(change[2:])) for change in changes)
