"""Metrics: how the product works, in figures that Prometheus collects.

What the engine and the supervisors say in Redis is read when somebody collects; latencies are
those of the epochs since the last time, as the engine's sink measured them at each border.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import redis
from django.conf import settings
from django.db import DatabaseError
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from aspen.results.engine_status import read_status
from aspen.results.wire import EpochsForgotten
from smartcis import composition
from smartcis.access.limits import LimitScope, left
from smartcis.models import Delivery, MaintainedQuery, OutboxEntry
from smartcis.services.processes import read_processes
from smartcis.services.readiness import unready
from smartcis.sources.health import source_health

FIRST_EPOCHS = 256  # so many are counted when this process is asked for the first time
MOMENTS = "_at"  # ends the names of timings that are a moment, not a duration

REGISTRY = CollectorRegistry()
LATENCY = Histogram(
    "smartcis_epoch_seconds",
    "Seconds of an epoch, by border; total is from append to written.",
    ["border"],
    registry=REGISTRY,
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
CHANGES = Counter("smartcis_changes", "Rows that came to or left views.", registry=REGISTRY)
REFUSALS = Counter(
    "smartcis_refusals", "Requests answered with a problem.", ["code"], registry=REGISTRY
)


class Epochs:
    """Counts epochs that were written since it looked last."""

    def __init__(self) -> None:
        self._seen = 0
        self._lock = threading.Lock()

    def count(self) -> None:
        """Counts what is new."""
        results = composition.results()
        with self._lock, suppress(EpochsForgotten):
            head = results.head()[0]
            if not 0 < self._seen <= head or head - self._seen > FIRST_EPOCHS:
                self._seen = max(0, head - FIRST_EPOCHS)
            for epoch in results.epochs_since(self._seen, 0.0):
                self._seen = epoch.number
                for border, took_ms in epoch.timing_ms.items():
                    if not border.endswith(MOMENTS):
                        LATENCY.labels(border).observe(took_ms / 1e3)
                CHANGES.inc(sum(change.size for change in epoch.changes))


EPOCHS = Epochs()


class ProductCollector(Collector):
    """The product as it is now."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Returns every gauge; those whose server is away are left out."""
        yield _gauge("smartcis_ready", "1 if nothing is missing.", float(not unready()))
        with suppress(redis.RedisError):
            yield from _engine()
            yield from _kept()
        with suppress(redis.RedisError, DatabaseError):
            yield from _people()


REGISTRY.register(ProductCollector())


def metrics_text() -> bytes:
    """Returns all metrics as Prometheus reads them."""
    with suppress(redis.RedisError):
        EPOCHS.count()
    return generate_latest(REGISTRY)


def _gauge(name: str, meaning: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, meaning, value=value)


def _engine() -> Iterator[GaugeMetricFamily]:
    server, log, now_s = composition.server(), composition.log(), time.time()
    status = read_status(server, settings.RESULTS_NAME)
    head, summary = log.head(), status.summary(now_s)
    works = float(summary in {"live", "delayed"})
    yield _gauge("smartcis_engine_live", "1 if the engine works.", works)
    yield _gauge("smartcis_epoch", "Newest epoch.", composition.results().head()[0])
    yield _gauge("smartcis_log_head", "Newest log position.", head)
    yield _gauge("smartcis_lag_entries", "Entries no epoch has.", max(0, head - status.position))
    since_s = max(status.progress_s, status.started_s)
    lag_s = max(0.0, now_s - since_s) if summary != "live" or head > status.position else 0.0
    yield _gauge("smartcis_lag_seconds", "Since the views last had all of the log.", lag_s)
    up = GaugeMetricFamily("smartcis_process_up", "1 if it runs.", labels=["process", "host"])
    starts = GaugeMetricFamily(
        "smartcis_process_starts", "Starts under this supervisor.", labels=["process", "host"]
    )
    for process in read_processes(server, settings.NAME):
        up.add_metric([process.name, process.host], float(process.up))
        starts.add_metric([process.name, process.host], process.starts)
    yield up
    yield starts


def _kept() -> Iterator[GaugeMetricFamily]:
    server, results = composition.server(), composition.results()
    stream = f"{settings.LOG_NAME}:log"
    yield _gauge("smartcis_log_entries", "Entries not folded yet.", server.xlen(stream))
    base = f"{stream}:base"
    held = sum(int(server.memory_usage(key, 5) or 0) for key in (stream, base))
    yield _gauge("smartcis_log_bytes", "Memory of the log and its base.", held)
    rows = GaugeMetricFamily("smartcis_view_rows", "Different rows of a view.", labels=["view"])
    for view, count in results.row_counts().items():
        rows.add_metric([view], count)
    yield rows
    for name, folder in (("checkpoint", settings.ENGINE_CHECKPOINT), ("var", settings.VAR)):
        size = _bytes_below(folder)
        yield _gauge(f"smartcis_{name}_bytes", f"Bytes of files below {name}.", size)


def _people() -> Iterator[GaugeMetricFamily]:
    queries = MaintainedQuery.objects.count()
    yield _gauge("smartcis_queries", "Maintained queries of people.", queries)
    waiting = OutboxEntry.objects.filter(position=None).count()
    yield _gauge("smartcis_outbox_entries", "Edits on their way to the log.", waiting)
    given_up = Delivery.objects.filter(state=Delivery.State.GIVEN_UP).count()
    yield _gauge("smartcis_deliveries_given_up", "Calls of webhooks that failed.", given_up)
    budget = GaugeMetricFamily(
        "smartcis_budget_left_ratio", "Of what all may do in a minute.", labels=["kind"]
    )
    for kind, limits in settings.RATES.items():
        if most := limits.get("all"):
            budget.add_metric([kind], left(kind, [LimitScope("all", "all", most)]) / most)
    yield budget
    sources = GaugeMetricFamily("smartcis_source_live", "1 if heard.", labels=["source", "kind"])
    for health in source_health():
        sources.add_metric([health.source.pk, health.source.kind], float(health.state == "live"))
    yield sources


def _bytes_below(folder: Path) -> int:
    size = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # Spark deletes while we count
                size += (Path(path) / name).stat().st_size
    return size
