"""One workload on 1, 2 and 4 lanes, in one JVM and on a small cluster of three.

200 requests look for their nearest machine, each by a recursion of its own, so that lanes can share
them. Throughput: how many doors a second, when many move at once. Latency: one door at a time.

Beside other work on the machine both say little. Processor time per door says what lanes repeat,
and `found` how the lanes of an epoch were found: in the task's own worker (warm), in another one
(asked), or with changes to catch up with (behind) or all state to be made anew (rebuilt).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from random import Random
from typing import Any

import psutil

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Register, Tick, Transaction
from aspen.log.redis_log import RedisLog
from aspen.results.redis_results import RedisResults
from aspen.streamsql import compile_query
from tests.bench.engine_rig import EngineRig, engine_running
from tests.bench.report import spread
from tests.bench.scale_campus import CATALOG, FROM_SOURCES, RANKS, SMALL, VIEW, Campus
from tests.bench.scale_campus_run import WrongAnswer, load, wait_for

MASTERS = {"local[*]": "local[*,4]", "local-cluster": "local-cluster[2,1,1024]"}
"""The cluster: two workers with one core each, and the driver."""

HOW = ("warm", "asked", "behind", "rebuilt")
BURST = 100
WARMING = 2  # bursts before anything is measured: Spark compiles what it runs
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
                f"p95 {one['latency_ms']['p95']} ms, {one['run_s']} s"
            )
    return found


def _one(master: str, lanes: int, bursts: int, changes: int) -> dict[str, Any]:
    campus = Campus(SMALL)
    settings = {"SMARTCIS_ENGINE_MASTER": master, "SMARTCIS_ENGINE_LANES": str(lanes)}
    started_s = time.monotonic()
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
        for _ in range(WARMING):
            _burst(campus, draw, log, results)
        epoch, used_s = results.head()[0], _processor_s(rig)
        burst_s = [_burst(campus, draw, log, results) for _ in range(bursts)]
        spent_s = {kind: s - used_s[kind] for kind, s in _processor_s(rig).items()}
        late = [_one_door(campus, draw, log, results) for _ in range(changes)]
        found = Counter(h for e in results.epochs_since(epoch, 0) for h in _found(e.timing_ms))
        _check(campus, results)
        memory = rig.memory_mb()
    doors = BURST * bursts
    return {
        "load_s": round(loaded_s, 1),
        "doors_per_s": round(doors / sum(burst_s), 1),
        "processor_ms_per_door": {kind: round(1e3 * s / doors, 1) for kind, s in spent_s.items()},
        "latency_ms": spread(late),
        "found": dict(found),
        "memory_mb": memory,
        "run_s": round(time.monotonic() - started_s, 1),
    }


def _processor_s(rig: EngineRig) -> dict[str, float]:
    """Returns the processor seconds Spark's JVMs and the Python workers have used so far."""
    used = {"jvm": 0.0, "workers": 0.0}
    for child in psutil.Process(rig.process.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            times = child.cpu_times()
            used["jvm" if "java" in child.name() else "workers"] += times.user + times.system
    return used


def _found(timing_ms: Mapping[str, float]) -> list[str]:
    """Returns how lanes of an epoch were found."""
    return [how for how in HOW if f"lane_{how}" in timing_ms]


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
