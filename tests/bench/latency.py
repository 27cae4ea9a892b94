"""Seat reading → pixel: from the gateway's HTTP push to the repainted shape in Chromium.

The whole product runs: web, Celery, Redis, Spark, the simulator with every other sensor. A
benched machine's own simulated seat is switched off, its readings are pushed over HTTP, and the
page notes when its shape was painted. Gateway and browser share the machine's clock.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from playwright.sync_api import Page

from aspen.log.redis_log import RedisLog
from aspen.results.redis_results import RedisResults
from smartcis.environment import redis_url
from tests.bench.browser import chromium, until_live
from tests.bench.report import Target, report, spread
from tests.bench.rig import Rig, running

SCRIPT = Path(__file__).with_name("pixel.js")
EVENTS, QUICK_EVENTS = 240, 30
MACHINES = 6
LIMIT_S = 10
WEIGHT_KG = {"free": 0.0, "in-use": 72.0}


@dataclass(frozen=True, slots=True)
class Event:
    """One reading: when it was sent and when it was seen, milliseconds since the epoch."""

    mid: str
    sent_ms: float
    accepted_ms: float
    painted_ms: float


def run(*, quick: bool, say: Callable[[str], Any]) -> dict[str, Any]:
    """Measure, and give the bench's JSON object."""
    with running() as rig, chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.add_init_script(path=str(SCRIPT))
        machines = _prepare(rig, page)
        say(f"{len(machines)} machines on the map, pushing readings")
        events = _push(rig, page, machines, QUICK_EVENTS if quick else EVENTS)
        frames = dict(page.evaluate("window.benchFrames.slice()"))
        borders = _borders(rig, events, frames)
        load = rig.get("status/")
    totals = [event.painted_ms - event.sent_ms for event in events]
    figures = {
        "events": len(events),
        "seat_to_pixel_ms": spread(totals),
        "borders_ms": {name: spread(values) for name, values in borders.items() if values},
        "log_positions_per_s": round(load["position"] / max(1.0, time.time() - rig.started_s), 1),
    }
    every = figures["seat_to_pixel_ms"]
    return report(
        "latency",
        figures,
        [
            Target("seat reading to pixel, p50", every["p50"], 500, "ms"),
            Target("seat reading to pixel, p95", every["p95"], 1000, "ms"),
        ],
    )


def _prepare(rig: Rig, page: Page) -> list[tuple[str, str]]:
    """Open the map on the floor with most free machines; give (machine, seat sensor) pairs."""
    plans = {
        level["id"]: rig.get(f"levels/{level['id']}/plan/")["machines"]
        for level in rig.get("building/")["levels"]
    }
    level = max(plans, key=lambda one: len(plans[one]))
    page.goto(f"{rig.url}/?level={level}")
    until_live(page)
    free = page.wait_for_function(
        """least => {
          const found = [...document.querySelectorAll('[data-testid^="machine-"][data-state=free]')]
            .map(shape => shape.dataset.testid.slice(8));
          return found.length >= least ? found : null;
        }""",
        arg=1,
        timeout=60_000,
    ).json_value()
    seats = {
        sensor["mid"]: sensor["sid"]
        for sensor in rig.items("sensors/?kind=seat&page_size=500")
        if sensor["mid"] in free
    }
    chosen = sorted(seats.items())[:MACHINES]
    for mid, sid in chosen:
        rig.call("PATCH", f"sensors/{sid}/", {"enabled": False})
        _read(rig, sid, WEIGHT_KG["free"])
        # A busy processor would hide the seat: hold it idle for the run.
        for cpu in rig.items(f"sensors/?kind=cpu&mid={mid}"):
            body = {"waveform": "constant", "parameters": {"value": 4.0}}
            rig.call("PATCH", f"sensors/{cpu['sid']}/", body)
    time.sleep(3)
    return chosen


def _read(rig: Rig, sid: str, weight_kg: float) -> None:
    reading = {"sid": sid, "value": weight_kg, "unit": "kg", "at": time.time()}
    rig.call("POST", "readings/", [reading])


def _push(rig: Rig, page: Page, machines: Sequence[tuple[str, str]], count: int) -> list[Event]:
    rng = random.Random(7)
    taken = dict.fromkeys((mid for mid, _ in machines), False)
    events: list[Event] = []
    for _ in range(count):
        mid, sid = rng.choice(machines)
        taken[mid] = not taken[mid]
        state = "in-use" if taken[mid] else "free"
        sent_ms = time.time() * 1000
        _read(rig, sid, WEIGHT_KG[state])
        accepted_ms = time.time() * 1000
        painted_ms = page.wait_for_function(
            """([mid, state, sent]) => {
              const seen = window.benchPaints.find(
                ([m, s, at]) => m === mid && s === state && at > sent);
              return seen ? seen[2] : null;
            }""",
            arg=[mid, state, sent_ms],
            polling=20,
            timeout=LIMIT_S * 1000,
        ).json_value()
        events.append(Event(mid, sent_ms, accepted_ms, painted_ms))
        time.sleep(rng.uniform(0.1, 0.6))  # falls anywhere between two ticks and two batches
    return events


def _borders(rig: Rig, events: Sequence[Event], frames: dict[int, float]) -> dict[str, list[float]]:
    """Split each event's way at the log and at the snapshot store.

    An event belongs to the last epoch that reached the page before its paint.
    """
    url = redis_url(rig.var)
    log = RedisLog(url, settings.LOG_NAME)
    head = log.head()
    appended = [
        (entry.appended_ms, entry.position)
        for entry in log.read_raw(max(0, head - 200_000), head)
        if b'"seat_reading"' in entry.data
    ]
    results = RedisResults(url, settings.RESULTS_NAME)
    kept = results.epochs_since(max(0, results.head()[0] - 4000), 0)
    epochs = {epoch.number: epoch for epoch in kept}
    borders: dict[str, list[float]] = {
        "push to log": [],
        "log to snapshot store": [],
        "snapshot store to browser": [],
        "browser to pixel": [],
    }
    inside: dict[str, list[float]] = {}
    for event in events:
        logged = [ms for ms, _ in appended if event.sent_ms - 1 <= ms <= event.accepted_ms + 1]
        arrived = [(at, number) for number, at in frames.items() if at <= event.painted_ms]
        if not logged or not arrived:
            continue
        at, number = max(arrived)
        epoch = epochs.get(number)
        if epoch is None:
            continue
        written = epoch.timing_ms["written_at"]
        borders["push to log"].append(logged[-1] - event.sent_ms)
        borders["log to snapshot store"].append(written - logged[-1])
        borders["snapshot store to browser"].append(at - written)
        borders["browser to pixel"].append(event.painted_ms - at)
        for name, took in epoch.timing_ms.items():
            if not name.endswith("_at"):
                inside.setdefault(f"  engine: {name}", []).append(took)
    return borders | inside
