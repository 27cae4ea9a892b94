"""Nearest machines on the campus: how long until the first answers, how long until a door shows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Entry, Register, Tick, Transaction
from aspen.log.redis_log import RedisLog
from aspen.results.protocol import Epoch
from aspen.results.redis_results import RedisResults
from aspen.streamsql import compile_query
from tests.bench.engine_rig import engine_running
from tests.bench.report import spread
from tests.bench.scale_campus import CATALOG, FROM_RESOURCES, RELATIONS, VIEW, Campus, Size

ROWS_PER_TRANSACTION = 5_000
TRANSACTIONS_PER_APPEND = 8
PAUSE_S = 0.1
LIMIT_S = 300.0
CHECK_EVERY = 25


class WrongAnswer(RuntimeError):
    """The view is not what networkx computes."""


def measure(size: Size, changes: int, say: Callable[[str], Any]) -> dict[str, Any]:
    """Load a campus, register the view, move doors one at a time; check against networkx."""
    campus = Campus(size)
    say(f"campus: {size.nodes} nodes, {len(campus.edges)} edges, {campus.doors} doors")
    with engine_running() as rig:
        log, results = rig.log(), rig.results()
        wait_for(results, log.append([Tick(0.5)]))
        began_s = time.monotonic()
        load(log, campus)
        appended_s = time.monotonic() - began_s
        plan = compile_query(FROM_RESOURCES, CATALOG).plan
        log.append([Tick(1.0), Register(1.0, VIEW, plan_text(plan), "auto")])
        wait_for(results, log.head())
        loaded_s = time.monotonic() - began_s
        check(campus, results)
        say(f"campus: first answers after {loaded_s:.1f} s")
        figures = _move_doors(campus, changes, log, results)
        memory = rig.memory_mb()
    return {
        "nodes": size.nodes,
        "edges": len(campus.edges),
        "doors": campus.doors,
        "machines": size.machines,
        "demanded_sources": size.requests,
        "form": "recursive from the free machines, one row per node and software",
        "append_s": round(appended_s, 1),
        "load_s": round(loaded_s, 1),
        **figures,
        "memory_mb": memory,
    }


def _move_doors(
    campus: Campus, changes: int, log: RedisLog, results: RedisResults
) -> dict[str, Any]:
    """Lock doors and open them again; give what it took until each was visible."""
    draw = Random(5)
    locked: list[int] = []
    took_ms: dict[str, list[float]] = {"deletion": [], "insertion": []}
    lane_ms: list[float] = []
    telling = checks = 0
    ways = campus.doors_on_ways()
    for number in range(changes):
        if number % 2:
            door, kind = locked.pop(), "insertion"
        else:
            # Every other one bars somebody's way; the rest lie anywhere.
            candidates = ways if number % 4 == 0 and ways else range(campus.doors)
            candidates = [door for door in candidates if campus.open[door]]
            door, kind = draw.choice(candidates), "deletion"
            locked.append(door)
        old, new = campus.toggle(door)
        at_s = 2.0 + number
        changed = (Change("door", -1, old), Change("door", 1, new))
        asked_ms = time.time() * 1000
        position = log.append([Transaction(at_s, changed)])
        epoch = wait_for(results, position)
        took_ms[kind].append(epoch.timing_ms["written_at"] - asked_ms)
        lane_ms.append(epoch.timing_ms["lane"])
        telling += any(change.view == VIEW for change in epoch.changes)
        if number % CHECK_EVERY in (0, 1):
            checks += 1
            check(campus, results)
        time.sleep(PAUSE_S)
    check(campus, results)
    return {
        "changes": changes,
        "change_ms": spread([ms for each in took_ms.values() for ms in each]),
        **{f"{kind}_ms": spread(each) for kind, each in took_ms.items()},
        "lane_ms": spread(lane_ms),
        "checked_against_networkx": checks + 2,
        "changes_that_moved_an_answer": telling,
    }


def load(log: RedisLog, campus: Campus) -> None:
    """Append a campus to a log."""
    log.append([Declare(0.0, relation) for relation in RELATIONS])
    waiting: list[Entry] = []
    for transaction in transactions(campus):
        waiting.append(transaction)
        if len(waiting) == TRANSACTIONS_PER_APPEND:
            log.append(waiting)
            waiting = []
    if waiting:
        log.append(waiting)


def transactions(campus: Campus) -> Iterator[Transaction]:
    """Returns a campus as transactions of some thousand rows."""
    for name, rows in campus.rows():
        for first in range(0, len(rows), ROWS_PER_TRANSACTION):
            some = rows[first : first + ROWS_PER_TRANSACTION]
            yield Transaction(0.0, tuple(Change(name, 1, tuple(row)) for row in some))


def wait_for(results: RedisResults, position: int) -> Epoch:
    """Wait until an epoch has a position, and give it."""
    number = max(0, results.head()[0] - 1)
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        for epoch in results.epochs_since(number, 0.2):
            number = epoch.number
            if epoch.position >= position:
                return epoch
    raise WrongAnswer(f"position {position} was not reached in {LIMIT_S:.0f} s")


def check(campus: Campus, results: RedisResults) -> None:
    """Compare the view with networkx.

    Raises:
        WrongAnswer: they differ.
    """
    snapshot = results.snapshot(VIEW)
    if snapshot is None or snapshot.error is not None:
        raise WrongAnswer(f"the view is not maintained: {snapshot and snapshot.error}")
    expected = campus.nearest()
    found = set(snapshot.rows)
    if found != expected:
        missing, more = sorted(expected - found)[:3], sorted(found - expected)[:3]
        raise WrongAnswer(f"networkx has {missing}, the view has {more}")
