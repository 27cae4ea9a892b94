"""One workload on 1, 2 and 4 lanes, in one JVM and on a small cluster of three.

200 requests look for their nearest machine, each by a recursion of its own, so that lanes can share
them. Throughput: how many doors a second, when many move at once. Latency: one door at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random
from typing import Any

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Register, Tick, Transaction
from aspen.log.redis_log import RedisLog
from aspen.results.redis_results import RedisResults
from aspen.streamsql import compile_query
from smartcis.bench.engine_rig import engine_running
from smartcis.bench.report import spread
from smartcis.bench.scale_campus import CATALOG, FROM_SOURCES, RANKS, SMALL, VIEW, Campus
from smartcis.bench.scale_campus_run import WrongAnswer, load, wait_for

MASTERS = {"local[*]": "local[*,4]", "local-cluster": "local-cluster[2,1,1024]"}
"""The cluster: two workers with one core each, and the driver."""

BURST = 100
PAUSE_S = 0.2


def measure(
    lanes: tuple[int, ...], bursts: int, changes: int, say: Callable[[str], Any]
) -> dict[str, Any]:
    """Run the workload on every master with every number of lanes."""
    found: dict[str, Any] = {"nodes": SMALL.nodes, "demanded_sources": SMALL.requests}
    for name, master in MASTERS.items():
        found[name] = {}
        for number in lanes:
            found[name][str(number)] = one = _one(master, number, bursts, changes)
            say(
                f"{name}, {number} lanes: {one['doors_per_s']} doors/s, "
                f"p95 {one['latency_ms']['p95']} ms"
            )
    return found


def _one(master: str, lanes: int, bursts: int, changes: int) -> dict[str, Any]:
    campus = Campus(SMALL)
    settings = {"SMARTCIS_ENGINE_MASTER": master, "SMARTCIS_ENGINE_LANES": str(lanes)}
    with engine_running(settings) as rig:
        log, results = rig.log(), rig.results()
        wait_for(results, log.append([Tick(0.5)]))
        began_s = time.monotonic()
        load(log, campus)
        plan = compile_query(FROM_SOURCES, CATALOG).plan
        log.append([Tick(1.0), Register(1.0, VIEW, plan_text(plan), "auto")])
        wait_for(results, log.head())
        loaded_s = time.monotonic() - began_s
        draw = Random(6)
        burst_s = [_burst(campus, draw, log, results) for _ in range(2 * bursts)]
        late = [_one_door(campus, draw, log, results) for _ in range(changes)]
        _check(campus, results)
        memory = rig.memory_mb()
    return {
        "load_s": round(loaded_s, 1),
        # The first pair of bursts warms Spark up.
        "doors_per_s": round(BURST * len(burst_s[2:]) / sum(burst_s[2:]), 1),
        "latency_ms": spread(late),
        "memory_mb": memory,
    }


def _burst(campus: Campus, draw: Random, log: RedisLog, results: RedisResults) -> float:
    """Move many doors at once; give the seconds until all are visible."""
    doors = draw.sample(range(campus.doors), BURST)
    began_s = time.monotonic()
    wait_for(results, log.append([_moved(campus, door) for door in doors]))
    return time.monotonic() - began_s


def _one_door(campus: Campus, draw: Random, log: RedisLog, results: RedisResults) -> float:
    time.sleep(PAUSE_S)
    entry = _moved(campus, draw.randrange(campus.doors))
    asked_ms = time.time() * 1000
    return wait_for(results, log.append([entry])).timing_ms["written_at"] - asked_ms


def _moved(campus: Campus, door: int) -> Transaction:
    before, after = campus.toggle(door)
    return Transaction(2.0, (Change("door", -1, before), Change("door", 1, after)))


def _check(campus: Campus, results: RedisResults) -> None:
    snapshot = results.snapshot(VIEW)
    if snapshot is None:
        raise WrongAnswer("the view is not maintained")
    rows: Any = snapshot.rows
    found = {(session, *divmod(score, RANKS)) for session, score in rows}
    number = {mid: n for n, mid, _ in campus.machines}
    expected = {(s, cost_mm, number[str(mid)]) for s, mid, _, cost_mm in campus.nearest()}
    if found != expected:
        raise WrongAnswer(f"{len(found ^ expected)} rows differ from networkx")
