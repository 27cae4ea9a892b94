"""A thousand sockets, two hundred templates, ten minutes: is everybody told everything, in time?

    people     POST queries/ ── a socket: the answer and a map's view ── delta, delta, …
    product    as by default, with its simulator
    seen       epochs' time; each frame's epoch; memory, processor time of every process

A template is a question of a shape of its own; five people ask it with constants of their own.
Redis keeps up to an hour of the log, and the JVM's heap grows until it is full: within ten minutes
both still rise, and whether they stop is the soak's to say.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import httpx
from django.conf import settings

from aspen.results.redis_results import RedisResults
from smartcis.environment import redis_url
from tests.bench.client import Heard
from tests.bench.crowd_clients import Follower, Tally
from tests.bench.recovery import fold_at
from tests.bench.report import Target, report, spread
from tests.bench.rig import Rig, running
from tests.bench.soak import flatness
from tests.bench.soak_samples import Sample, look, processes

ADDRESSES = 100
ALSO = "free_machine"
TEMPLATES = (
    "SELECT c.mid, c.cpu_pct + {t} AS more, c.at_s FROM newest_processor c WHERE c.mid = '{mid}'",
    "SELECT s.mid, s.weight_kg + {t} AS more FROM newest_seat s WHERE s.mid = '{mid}'",
    "SELECT m.mid, m.state, m.reason, {t} AS n FROM machine_state m WHERE m.mid = '{mid}'",
    "SELECT f.rid, COUNT(*) + {t} AS free FROM free_machine f WHERE f.rid = '{rid}' GROUP BY f.rid",
    "SELECT r.rid, r.state, r.reason, {t} AS n FROM room_state r WHERE r.rid = '{rid}'",
)
FOLDED = 20
LOOK_S, LEAST_LOOKS = 10.0, 20
ANSWER_LIMIT_S = 60.0
SETTLE_S = 5.0
MOST_EPOCH_MS = 2_000.0


@dataclass(frozen=True, slots=True)
class _Scale:
    sockets: int
    templates: int
    per_s: float
    minutes: float


FULL = _Scale(sockets=1_000, templates=200, per_s=8.0, minutes=10.0)
QUICK = _Scale(sockets=30, templates=10, per_s=6.0, minutes=0.25)


def run(*, quick: bool, say: Callable[[str], Any], minutes: float | None = None) -> dict[str, Any]:
    """Lets people come and stay, and gives the bench's JSON object."""
    scale = QUICK if quick else FULL
    with running() as rig:
        figures = asyncio.run(_crowd(rig, scale, 60 * (minutes or scale.minutes), say))
    growth = figures["memory"]
    return report(
        "crowd",
        figures,
        [
            Target("sockets that were served", figures["served"], scale.sockets, "", at_most=False),
            Target("epoch, p95", figures["epoch_ms"]["p95"], MOST_EPOCH_MS, "ms"),
            Target("gaps", figures["gaps"], 0, "count"),
            Target("folds unlike the view", figures["folds_unlike"], 0, "count"),
            *(
                Target(f"{name}: growth in twice the time", one["growth"], one["most"], "")
                for name, one in growth.items()
            ),
        ],
    )


async def _crowd(
    rig: Rig, scale: _Scale, length_s: float, say: Callable[[str], Any]
) -> dict[str, Any]:
    machines = await asyncio.to_thread(lambda: list(rig.items("machines/")))
    tally, failed = Tally(), Counter[str]()
    results = RedisResults(redis_url(rig.var), settings.RESULTS_NAME, patience_s=20)
    followers, tasks = await _come(rig, scale, machines, tally, failed, say)
    say(f"{len(followers)} came, {sum(failed.values())} failed")
    await asyncio.sleep(SETTLE_S)
    tally.forget_counts()  # what their coming cost is not what is measured
    head, began, before = results.head()[0], time.monotonic(), processes(rig)
    taken: list[tuple[float, Sample]] = []
    while (at_s := time.monotonic() - began) < length_s:
        sample = await asyncio.to_thread(look, rig)
        taken.append((at_s, sample))
        say(f"{at_s:.0f} s: {dict(tally.frames)}, web {sample.get('web: memory MB', 0):.0f} MB")
        await asyncio.sleep(min(LOOK_S, length_s / LEAST_LOOKS))
    took_s, after = time.monotonic() - began, processes(rig)
    epochs = [epoch.timing_ms["total"] for epoch in results.epochs_since(head, 0)]
    frames, kb, heard_ms = dict(tally.frames), tally.bytes / 1e3, [*tally.heard_ms]
    unlike = await _unlike(rig, followers)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return {
        "sockets": len(followers),
        "served": sum(len(one.epochs) == len(one.views) for one in followers),
        "templates": scale.templates,
        "minutes": round(took_s / 60, 2),
        "failed": dict(failed),
        "epochs": len(epochs),
        "epoch_ms": spread(epochs),
        "heard_ms": spread(heard_ms or [float("inf")]),
        "frames": frames,
        "frames_per_s": round(sum(frames.values()) / took_s, 1),
        "kb_per_s": round(kb / took_s, 1),
        "gaps": len(tally.gaps),
        "first_gaps": tally.gaps[:3],
        "jumps": tally.jumps,
        "closed": dict(tally.closed),
        "folds_compared": FOLDED,
        "folds_unlike": unlike,
        "processors_used": {
            name: round((after[name] - before[name]) / took_s, 3) for name in before
        },
        "memory": _growth(taken),
    }


async def _come(
    rig: Rig,
    scale: _Scale,
    machines: Sequence[dict[str, Any]],
    tally: Tally,
    failed: Counter[str],
    say: Callable[[str], Any],
) -> tuple[list[Follower], list[asyncio.Task[None]]]:
    """Lets one after the other submit his query and open his socket."""
    draw, loop = random.Random(7), asyncio.get_running_loop()
    folded = set(draw.sample(range(scale.sockets), min(FOLDED, scale.sockets)))
    followers: list[Follower] = []
    tasks: list[asyncio.Task[None]] = []

    async def one(number: int) -> None:
        template = number % scale.templates
        machine = machines[number % len(machines)]
        sql = TEMPLATES[template % len(TEMPLATES)].format(
            t=1 + template, mid=machine["mid"], rid=machine["rid"]
        )
        address = f"127.0.4.{1 + number % ADDRESSES}"
        transport = httpx.AsyncHTTPTransport(local_address=address, verify=False)
        async with httpx.AsyncClient(
            base_url=rig.url, transport=transport, timeout=ANSWER_LIMIT_S
        ) as client:
            try:
                made = await client.post("/api/v1/queries/", json={"sql": sql})
            except httpx.HTTPError as error:
                failed[type(error).__name__] += 1
                return
            if not made.is_success:
                failed[f"{made.status_code} {made.json().get('code', '')}"] += 1
                return
            cookie = f"sessionid={client.cookies.get('sessionid', '')}"
        views = (made.json()["id"], ALSO)
        follower = Follower(rig.url, address, cookie, views, tally, folds=number in folded)
        followers.append(follower)
        tasks.append(asyncio.create_task(follower.follow()))

    began, coming = loop.time(), []
    for number in range(scale.sockets):
        coming.append(asyncio.create_task(one(number)))
        if number % 100 == 0:
            say(f"{number} people, {dict(tally.frames)}")
        await asyncio.sleep(max(0.0, began + (number + 1) / scale.per_s - loop.time()))
    await asyncio.gather(*coming)
    return followers, tasks


async def _unlike(rig: Rig, followers: Sequence[Follower]) -> int:
    """Returns how many of the sampled folds are not what the product says the view is."""
    told: list[tuple[Heard, dict[str, Any]]] = []
    for follower in followers:
        for number, heard in follower.heard.items():
            view = follower.views[number]
            told.append((heard, await asyncio.to_thread(rig.get, f"queries/{view}/rows/")))
    await asyncio.sleep(SETTLE_S)  # frames of those epochs may be on their way
    return sum(
        fold_at(heard, view["epoch"]) != dict(Counter(tuple(row) for row in view["rows"]))
        for heard, view in told
    )


def _growth(taken: Sequence[tuple[float, Sample]]) -> dict[str, dict[str, float]]:
    """Judges the memory of every process, and of all, after the first fifth of the time."""
    warm = [(at_s, sample) for at_s, sample in taken if at_s >= taken[-1][0] / 5]
    names = [name for name in warm[-1][1] if name.endswith("memory MB")]
    at_s = [one for one, _ in warm]
    levels = {name: [sample.get(name, 0.0) for _, sample in warm] for name in names}
    levels["all: memory MB"] = [sum(parts) for parts in zip(*levels.values(), strict=True)]
    return {name: asdict(flatness(name, at_s, those)) for name, those in levels.items()}
