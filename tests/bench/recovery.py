"""Kill every process of the product mid-stream; count what a client missed.

The whole product runs with its simulator. A client follows the standing views and a visitor's
route through every crash. Afterwards three things are compared for every view: the client's fold
with the snapshot store, the client's deltas with the store's deltas one by one, and the store
with an oracle that recomputes each view from the log.
"""

from __future__ import annotations

import http.cookiejar
import json
import signal
import time
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from django.conf import settings

from aspen.log.redis_log import RedisLog
from aspen.results.redis_results import RedisResults
from smartcis.environment import redis_url
from tests.bench.client import Client, Heard, Row
from tests.bench.comeback import Comeback
from tests.bench.report import Target, report, spread
from tests.bench.rig import STANDBYS, Rig, running
from tests.bench.victims import OF_SPARK, SUPERVISED, strike
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
    "nearest_destination",
    "route_step",
)
OF_A_VISITOR = ("nearest_destination", "route_step")
WORKER_KILLS, QUICK_WORKER_KILLS = 6, 1
PAUSE_S = 5.0
KEPT = 4_000  # epochs that the store has, at least


def run(*, quick: bool, say: Callable[[str], Any]) -> dict[str, Any]:
    """Kill, compare, and give the bench's JSON object."""
    with running(settings={STANDBYS: "1"}) as rig:
        comeback = Comeback(rig)
        cookie = ask_for_a_route(rig)
        client = Client(rig.url, VIEWS, cookie)
        client.start()
        time.sleep(PAUSE_S)
        names = ["worker"] * (QUICK_WORKER_KILLS if quick else WORKER_KILLS)
        if not quick:
            names += [*OF_SPARK, *SUPERVISED]
        back_s: dict[str, list[float]] = defaultdict(list)
        for name in names:
            hit = strike(rig, name, signal.SIGKILL)
            assert hit, f"there is no {name} to hurt"
            blow = comeback.hurt(name, hit)
            comeback.wait()
            assert blow.back_s is not None, "waited for"
            say(f"{name} killed, back after {blow.back_s:.1f} s")
            back_s[name].append(blow.back_s)
            time.sleep(PAUSE_S)
        compared = compare(rig, client)
        client.stop()
    figures = {
        "kills": {name: len(times) for name, times in back_s.items()},
        "seconds_until_back": {name: spread(t) for name, t in back_s.items()},
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


def ask_for_a_route(rig: Rig) -> str:
    """Ask for a machine as a visitor does; give the session cookie."""
    jar = http.cookiejar.CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    opener.open(f"{rig.url}/", timeout=30).read()
    csrf = next((c.value for c in jar if c.name == "csrftoken"), "")
    building = rig.get("building/")
    body = {
        "node": building["kiosks"][0]["node"],
        "goal": "free-machine:LaTeX",
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


# ── comparing ─────────────────────────────────────────────────────────────────────────────────


def compare(rig: Rig, client: Client) -> dict[str, Any]:
    url = redis_url(rig.var)
    results = RedisResults(url, settings.RESULTS_NAME)
    snapshots = results.snapshots(VIEWS)
    epoch = max(snapshot.epoch for snapshot in snapshots.values())
    position = max(snapshot.position for snapshot in snapshots.values())
    deadline = time.monotonic() + 30
    while client.epoch < epoch and time.monotonic() < deadline:
        time.sleep(0.2)
    time.sleep(2)  # frames of the epoch that the status named
    sessions = {row[0] for row in snapshots["nearest_destination"].rows}
    stored = stored_deltas(results, max(0, results.head()[0] - KEPT), VIEWS)
    lost = doubled = sums = folds = 0
    with client.lock:
        for view in VIEWS:
            heard = client.heard[view]
            since = heard.snapshots[0] if heard.snapshots else 0
            missing, extra, wrong_sums = differences(heard, stored[view], since, epoch)
            lost += missing
            doubled += extra
            sums += wrong_sums
            folds += fold_at(heard, epoch) != dict(snapshots[view].rows)
        faults = [fault for heard in client.heard.values() for fault in heard.faults]
        resyncs = sum(len(heard.snapshots) - 1 for heard in client.heard.values())
        deltas = sum(len(heard.deltas) for heard in client.heard.values())
    oracle = Oracle()
    names = sorted(set(oracle.expected()) & set(results.views()))
    held = results.snapshots(names)
    stored_views = [name for name in names if held[name].error is None and held[name].columns]
    position = max(snapshot.position for snapshot in held.values())
    for _, entry in RedisLog(url, settings.LOG_NAME).read(0, position):
        oracle.feed(entry)
    expected = oracle.expected()
    wrong = [
        view for view in stored_views if dict(held[view].rows) != dict.fromkeys(expected[view], 1)
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
        "views_compared": len(stored_views),
        "wrong_views": wrong,
        "faults": faults[:5],
    }


def stored_deltas(
    results: RedisResults, since: int, views: Sequence[str]
) -> dict[str, dict[int, dict[Row, int]]]:
    """Returns the deltas of views by epoch, of all epochs after one."""
    stored: dict[str, dict[int, dict[Row, int]]] = {view: {} for view in views}
    for epoch in results.epochs_since(since, 0):
        for change in epoch.changes:
            if change.view in stored and change.delta:
                stored[change.view][epoch.number] = dict(change.delta)
    return stored


def differences(
    heard: Heard, stored: dict[int, dict[Row, int]], since: int, upto: int
) -> tuple[int, int, int]:
    """Hold what a client was told against what was stored in the epochs after `since`.

    Returns:
        Stored deltas no message covers, stored deltas more than one covers, and messages whose
        changes are not the sum of the stored deltas they cover.
    """
    told = [delta for delta in heard.deltas if since < delta[1] <= upto]
    lost = doubled = 0
    for epoch in stored:
        if since < epoch <= upto:
            spans = [(before, last) for before, last, _ in told] + heard.jumps
            covering = sum(1 for before, last in spans if before < epoch <= last)
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


def fold_at(heard: Heard, epoch: int) -> dict[Row, int]:
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
