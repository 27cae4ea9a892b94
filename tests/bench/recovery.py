"""Kill the engine's worker, Redis and the web process mid-stream; count what a client missed.

The whole product runs with its simulator. A client follows the standing views and a visitor's
route through every crash. Afterwards three things are compared for every view: the client's fold
with the snapshot store, the client's deltas with the store's deltas one by one, and the store
with an oracle that recomputes each view from the log.
"""

from __future__ import annotations

import http.cookiejar
import json
import os
import signal
import time
import urllib.request
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import psutil
from django.conf import settings

from aspen.log.redis_log import RedisLog
from aspen.results.redis_results import RedisResults
from smartcis.environment import redis_url
from tests.bench.client import Client, Heard, Row
from tests.bench.report import Target, report, spread
from tests.bench.rig import Rig, running
from tests.standing.oracle import Oracle

VIEWS = (
    "closed_room",
    "free_machine",
    "machine_in_use",
    "machine_state",
    "newest_seat",
    "door_state",
    "visitor_position",
    "active_region",
    "largest_region",
    "nearest_machine",
    "route_step",
)
OF_A_VISITOR = ("nearest_machine", "route_step")
WORKER_KILLS, QUICK_WORKER_KILLS = 6, 1
PAUSE_S = 5.0
BACK_LIMIT_S = 120


def run(*, quick: bool, say: Callable[[str], Any]) -> dict[str, Any]:
    """Kill, compare, and give the bench's JSON object."""
    with running() as rig:
        cookie = _ask_for_a_route(rig)
        client = Client(rig.url, VIEWS, cookie)
        client.start()
        time.sleep(PAUSE_S)
        victims = [("worker", lane_workers)] * (QUICK_WORKER_KILLS if quick else WORKER_KILLS)
        if not quick:
            victims += [("redis", _redis), ("web", _web), ("driver", _driver)]
        back_s: dict[str, list[float]] = defaultdict(list)
        for name, find in victims:
            took = _kill_and_wait(rig, find)
            say(f"{name} killed, views moved on after {took:.1f} s")
            back_s[name].append(took)
            time.sleep(PAUSE_S)
        compared = _compare(rig, client)
        client.stop()
    figures = {
        "kills": {name: len(times) for name, times in back_s.items()},
        "seconds_until_views_move_again": {name: spread(t) for name, t in back_s.items()},
        "client_reconnects": client.reconnects,
        **compared,
    }
    zero = ("lost deltas", "doubled deltas", "broken chains", "views unlike the oracle")
    return report(
        "recovery",
        figures,
        [
            Target("worker kills", len(back_s["worker"]), 5, "kills", at_most=False),
            *(Target(name, figures[name.replace(" ", "_")], 0, "count") for name in zero),
        ],
    )


def _ask_for_a_route(rig: Rig) -> str:
    """Ask for a machine as a visitor does; give the session cookie."""
    jar = http.cookiejar.CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    opener.open(f"{rig.url}/", timeout=30).read()
    csrf = next((c.value for c in jar if c.name == "csrftoken"), "")
    building = rig.get("building/")
    body = {
        "node": building["kiosks"][0]["node"],
        "software": "LaTeX",
        "step_free": False,
    }
    request = urllib.request.Request(
        f"{rig.url}/api/v1/routes/",
        data=json.dumps(body).encode(),
        headers={
            "Content-Type": "application/json",
            "X-CSRFToken": csrf or "",
            "Origin": rig.url,
            "Referer": f"{rig.url}/",
        },
    )
    opener.open(request, timeout=30).read()
    return "; ".join(f"{cookie.name}={cookie.value}" for cookie in jar)


# ── victims ───────────────────────────────────────────────────────────────────────────────────


def _family(rig: Rig) -> list[psutil.Process]:
    return psutil.Process(rig.process.pid).children(recursive=True)


def _named(rig: Rig, *words: str) -> list[psutil.Process]:
    found = []
    for process in _family(rig):
        try:
            line = " ".join(process.cmdline())
        except psutil.Error:
            continue
        if all(word in line for word in words):
            found.append(process)
    return found


def lane_workers(rig: Rig) -> list[psutil.Process]:
    """Find the Python processes in which Spark runs the lanes: the forked ones."""
    return [
        child
        for daemon in _named(rig, "pyspark.daemon")
        for child in daemon.children()
        if child.is_running()
    ]


def _redis(rig: Rig) -> list[psutil.Process]:
    return _named(rig, "redis-server")


def _web(rig: Rig) -> list[psutil.Process]:
    return _named(rig, "uvicorn")


def _driver(rig: Rig) -> list[psutil.Process]:
    return _named(rig, "manage.py", "engine")


def _kill_and_wait(rig: Rig, find: Callable[[Rig], list[psutil.Process]]) -> float:
    """Kill at once every process found; give the seconds until the views have moved on."""
    results = RedisResults(redis_url(rig.var), settings.RESULTS_NAME)
    before = results.head()[0]
    victims = find(rig)
    if not victims:
        raise RuntimeError("there is nobody to kill")
    for victim in victims:
        os.kill(victim.pid, signal.SIGKILL)
    killed_s = time.monotonic()
    while time.monotonic() - killed_s < BACK_LIMIT_S:
        time.sleep(0.1)
        try:
            if results.head()[0] > before + 1 and rig.get("status/")["engine"] == "live":
                return time.monotonic() - killed_s
        except OSError:
            continue  # the killed part is not back yet
    raise TimeoutError(f"the views stand still {BACK_LIMIT_S} s after the kill")


# ── comparing ─────────────────────────────────────────────────────────────────────────────────


def _compare(rig: Rig, client: Client) -> dict[str, Any]:
    url = redis_url(rig.var)
    results = RedisResults(url, settings.RESULTS_NAME)
    snapshots = results.snapshots(VIEWS)
    epoch = max(snapshot.epoch for snapshot in snapshots.values())
    position = max(snapshot.position for snapshot in snapshots.values())
    deadline = time.monotonic() + 30
    while client.epoch < epoch and time.monotonic() < deadline:
        time.sleep(0.2)
    time.sleep(2)  # frames of the epoch that the status named
    sessions = {row[0] for row in snapshots["nearest_machine"].rows}
    stored = _stored_deltas(results)
    lost = doubled = sums = folds = 0
    with client.lock:
        for view in VIEWS:
            heard = client.heard[view]
            missing, extra, wrong_sums = _differences(heard, stored[view], epoch)
            lost += missing
            doubled += extra
            sums += wrong_sums
            folds += _fold_at(heard, epoch) != dict(snapshots[view].rows)
        faults = [fault for heard in client.heard.values() for fault in heard.faults]
        resyncs = sum(len(heard.snapshots) - 1 for heard in client.heard.values())
        deltas = sum(len(heard.deltas) for heard in client.heard.values())
    oracle = Oracle()
    for _, entry in RedisLog(url, settings.LOG_NAME).read(0, position):
        oracle.feed(entry)
    expected = oracle.expected()
    wrong = [
        view for view in VIEWS if dict(snapshots[view].rows) != dict.fromkeys(expected[view], 1)
    ]
    return {
        "epochs": epoch,
        "log_positions": position,
        "visitors_asking": len(sessions),
        "client_deltas": deltas,
        "client_resyncs": resyncs,
        "lost_deltas": lost,
        "doubled_deltas": doubled,
        "broken_chains": len(faults) + folds + sums,
        "views_unlike_the_oracle": len(wrong),
        "views_compared": len(VIEWS),
        "wrong_views": wrong,
        "faults": faults[:5],
    }


def _stored_deltas(results: RedisResults) -> dict[str, dict[int, dict[Row, int]]]:
    stored: dict[str, dict[int, dict[Row, int]]] = {view: {} for view in VIEWS}
    head = results.head()[0]
    for epoch in results.epochs_since(max(0, head - 4000), 0):
        for change in epoch.changes:
            if change.view in stored and change.delta:
                stored[change.view][epoch.number] = dict(change.delta)
    return stored


def _differences(
    heard: Heard, stored: dict[int, dict[Row, int]], upto: int
) -> tuple[int, int, int]:
    """Hold what a client was told against what was stored since its last snapshot.

    Returns:
        Stored deltas no message covers, stored deltas more than one covers, and messages whose
        changes are not the sum of the stored deltas they cover.
    """
    since = heard.snapshots[-1] if heard.snapshots else 0
    told = [delta for delta in heard.deltas if since < delta[1] <= upto]
    lost = doubled = 0
    for epoch in stored:
        if since < epoch <= upto:
            covering = sum(1 for before, last, _ in told if before < epoch <= last)
            lost += covering == 0
            doubled += covering > 1
    wrong = 0
    for before, last, changes in told:
        total: dict[Row, int] = defaultdict(int)
        for epoch in range(before + 1, last + 1):
            for row, weight in stored.get(epoch, {}).items():
                total[row] += weight
        wrong += {row: weight for row, weight in total.items() if weight} != changes
    return lost, doubled, wrong


def _fold_at(heard: Heard, epoch: int) -> dict[Row, int]:
    """Returns the client's rows as of an epoch, undoing what it heard since."""
    rows = dict(heard.rows)
    for _, number, delta in heard.deltas:
        if number > epoch:
            for row, weight in delta.items():
                left = rows.get(row, 0) - weight
                rows[row] = left
                if not left:
                    del rows[row]
    return rows
