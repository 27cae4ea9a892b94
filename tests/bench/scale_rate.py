"""Readings at a high rate through log, Spark and a maintained aggregate: how late is it?

Each room's count, mean and maximum over the last ten seconds. The latency of a reading is from the
moment its append returned to the moment an epoch that has it was written.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from aspen.algebra.explain import plan_text
from aspen.log.entry import Declare, Register, Tick, Transaction
from aspen.log.redis_log import RedisLog
from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, Row, SourceKind, Type
from aspen.results.protocol import Epoch
from aspen.results.redis_results import RedisResults
from aspen.streamsql import compile_query
from tests.bench.engine_rig import EngineRig, engine_running
from tests.bench.report import percentile, spread
from tests.bench.rig import ROOT
from tests.bench.scale_gateways import READINGS_PER_TRANSACTION, STREAM
from tests.waiting import wait_for_position

VIEW = "climate"
RANGE_S = 10
WARM_UP_S = 12
READING = Relation(
    STREAM,
    (
        Column("did", Type.INT),
        Column("room", Type.TEXT),
        Column("celsius", Type.FLOAT, "°C"),
        Column("at_s", Type.FLOAT, "s"),
    ),
    kind=SourceKind.STREAM,
    rate_hz=20_000,
)
AGGREGATE = (
    "SELECT room, COUNT(*) AS readings, AVG(celsius) AS mean, MAX(celsius) AS warmest "
    f"FROM reading [RANGE {RANGE_S} SECONDS] GROUP BY room"
)
BORDERS = ("log_wait", "spark_in", "lane_ready", "lane", "lane_store", "spark_out", "sink")


class WrongAggregate(RuntimeError):
    """The maintained aggregate is not what the log says."""


def measure(
    rate: int, seconds: int, further: tuple[int, ...], say: Callable[[str], Any]
) -> dict[str, Any]:
    """Run one rate for a while, then higher ones for a short time each."""
    catalog = Catalog.of([READING])
    with engine_running() as rig:
        log, results = rig.log(), rig.results()
        plan = plan_text(compile_query(AGGREGATE, catalog).plan)
        log.append([Declare(0.0, READING), Register(0.0, VIEW, plan, "auto")])
        _run(rig, rate, WARM_UP_S, 1)
        _until_idle(log, results)
        figures = _phase(rig, rate, seconds, 1_000)
        say(f"{rate} readings/s: p95 {figures['latency_ms']['p95']} ms")
        _check(log, results, rate)
        beyond = {}
        for number, more in enumerate(further, start=2):
            beyond[str(more)] = _phase(rig, more, max(5, seconds // 4), 1_000 * number)
            say(f"{more} readings/s: p95 {beyond[str(more)]['latency_ms']['p95']} ms")
        if further:
            _check(log, results, max(further))
        memory = rig.memory_mb()
    return {
        "query": AGGREGATE,
        "rows_in_window": rate * RANGE_S,
        **figures,
        "higher_rates": beyond,
        "memory_mb": memory,
    }


def _run(rig: EngineRig, rate: int, seconds: int, first_s: int) -> list[list[float]]:
    """Let the gateways send, in a process of their own."""
    words = (rig.url, rig.name, str(rate), str(seconds), str(first_s))
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.scale_gateways", *words],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    appends: list[list[float]] = json.loads(done.stdout)
    return appends


def _phase(rig: EngineRig, rate: int, seconds: int, first_s: int) -> dict[str, Any]:
    """Measure one rate."""
    log, results = rig.log(), rig.results()
    before = results.head()[0]
    began_s = time.monotonic()
    appends = _run(rig, rate, seconds, first_s)
    _until_idle(log, results)
    drained_s = time.monotonic() - began_s
    epochs = list(results.epochs_since(before, 0))
    late = _latencies(appends, epochs)
    third = max(1, len(late) // 3)
    sent_s = (appends[-1][1] - appends[0][1]) / 1000
    count = sum(readings for _, _, readings in appends)
    return {
        "rate": rate,
        "seconds": seconds,
        "readings": round(count),
        "sent_per_s": round(count / max(sent_s, 1e-3)),
        "drained_after_s": round(drained_s - seconds, 1),
        "latency_ms": spread(late),
        "latency_p95_ms_by_thirds": [
            round(percentile(late[n * third : (n + 1) * third], 0.95), 1) for n in range(3)
        ],
        "epochs": len(epochs),
        "readings_per_epoch": round(count / max(1, len(epochs))),
        "border_ms_p50": {
            border: round(percentile([e.timing_ms.get(border, 0.0) for e in epochs], 0.5), 1)
            for border in BORDERS
        },
        "lane_us_per_reading": round(
            1000 * sum(e.timing_ms["lane"] for e in epochs) / max(1, count), 2
        ),
    }


def _latencies(appends: list[list[float]], epochs: list[Epoch]) -> list[float]:
    """Give, append by append, how long it took until an epoch had it, in ms."""
    positions = [epoch.position for epoch in epochs]
    return [
        epochs[bisect_left(positions, position)].timing_ms["written_at"] - at_ms
        for position, at_ms, _ in appends
    ]


def _until_idle(log: RedisLog, results: RedisResults) -> None:
    if not wait_for_position(results, log.head(), 120):
        raise WrongAggregate("the engine did not keep up")


def _check(log: RedisLog, results: RedisResults, rate: int) -> None:
    """Compare the view with the log, from scratch.

    Raises:
        WrongAggregate: they differ.
    """
    head = log.head()
    entries_per_s = rate // READINGS_PER_TRANSACTION + 1
    entries = [e for _, e in log.read(head - (RANGE_S + 2) * entries_per_s, head)]
    now_s = max(entry.at_s for entry in entries if isinstance(entry, Tick))
    rooms: dict[str, list[float]] = defaultdict(list)
    for entry in entries:
        if isinstance(entry, Transaction) and entry.at_s > now_s - RANGE_S:
            for change in entry.changes:
                rooms[str(change.row[1])].append(float(change.row[2] or 0.0))
    expected: set[Row] = {
        (room, len(values), math.fsum(values) / len(values), max(values))
        for room, values in rooms.items()
    }
    snapshot = results.snapshot(VIEW)
    found = set() if snapshot is None else set(snapshot.rows)
    if found != expected:
        raise WrongAggregate(f"{len(found - expected)} rows too many, {len(expected - found)} less")
