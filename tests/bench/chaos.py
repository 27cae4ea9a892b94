"""Fault campaign: hurt a running product at random, under load and hostile input; count the harm.

    manage.py bench chaos --minutes 60 --seed 7 --json

    round   ─ fault ─ fault ─ … ─ all are back ─ all is published ─ compare ─ round …

The seed decides whom, how, when, and what is sent; how long recoveries take, the machine. Faults
of a round come in quick succession, so that they hit recoveries, too. After each round every view
equals the oracle, a client's fold equals the view, and what was acknowledged is there once.
"""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from tests.bench.chaos_check import Comparer
from tests.bench.chaos_faults import Hand, Round, schedule
from tests.bench.chaos_load import Load
from tests.bench.client import Client
from tests.bench.comeback import Blow, Comeback
from tests.bench.recovery import VIEWS, ask_for_a_route
from tests.bench.report import Target, percentile, report, spread
from tests.bench.rig import STANDBYS, Rig, running
from tests.bench.victims import ENGINES, STANDBY

MINUTES, QUICK_MINUTES = 60.0, 1.0
FIRST_S = 60.0  # for the load's queries to be maintained
PAUSE_S = 3.0
STAND_BY = "2"  # engines that stand by: those of a round die in quick succession


def run(
    *,
    quick: bool,
    say: Callable[[str], Any],
    minutes: float | None = None,
    seed: int = 1,
) -> dict[str, Any]:
    """Hurt, wait, compare, and give the bench's JSON object."""
    length_s = 60 * (minutes or (QUICK_MINUTES if quick else MINUTES))
    back_s: dict[str, list[float]] = defaultdict(list)
    happened: Counter[str] = Counter()
    never_back: list[str] = []
    rounds = 0
    with running(settings={STANDBYS: os.environ.get(STANDBYS, STAND_BY)}) as rig:
        load = Load(rig, seed)
        client = Client(rig.url, (*VIEWS, *load.views.values()), ask_for_a_route(rig))
        comeback = Comeback(rig)
        hand = Hand(rig, comeback)
        comparer = Comparer(comeback.log, comeback.results, load, client)
        client.start()
        _settle(comeback, load)
        comparer.compare(0)
        ends = time.monotonic() + length_s
        for number, one in enumerate(schedule(seed), 1):
            if time.monotonic() + one.pause_s > ends:
                break
            names, blows = _hurt(hand, one)
            happened.update(names)
            try:
                comeback.wait()
            except TimeoutError as error:
                never_back.append(f"round {number}, {', '.join(names)}: {error}")
                say(never_back[-1])
                break
            for name, blow in blows:
                if blow.back_s is not None and not blow.again:
                    label = name if blow.name in name else f"{name}, {blow.name}"
                    back_s[label].append(blow.back_s)
            rounds = number
            before = len(comparer.found.what)
            comparer.compare(number)
            _forget_hostile(rig)
            longest = max((blow.back_s or 0.0 for _, blow in blows), default=0.0)
            say(f"{number}: {', '.join(names)}: back after {longest:.1f} s, compared")
            for text in comparer.found.what[before:]:
                say(text)
        load.stop()
        client.stop()
        hand.let_go()
    found = comparer.found
    engine, standby, rest = _recoveries(back_s)
    hostile = {f"{what}: {status}": n for (what, status), n in sorted(hand.answers.items())}
    failed = sum(n for (_, status), n in hand.answers.items() if status == 500)
    figures = {
        "seed": seed,
        "minutes": round(length_s / 60, 1),
        "rounds": rounds,
        "faults": sum(happened.values()),
        "happened": dict(sorted(happened.items())),
        "seconds_until_back": {name: spread(times) for name, times in sorted(back_s.items())},
        "engine_back_s": spread(engine or [0.0]),
        "others_back_s": spread(rest or [0.0]),
        "standby_back_s": spread(standby or [0.0]),
        "never_back": never_back,
        "acknowledged": load.acknowledged,
        "asked_to_come_back": {str(code): n for code, n in load.told.items()},
        "hostile_inputs": hostile,
        "client_reconnects": client.reconnects,
        "compared": asdict(found),
        "load_broken": load.broken,
    }
    return report(
        "chaos",
        figures,
        [
            Target("views unlike the oracle", found.wrong_views, 0, "count"),
            Target("folds unlike the view", found.wrong_folds, 0, "count"),
            Target("acknowledged and lost", found.lost, 0, "count"),
            Target("acknowledged and doubled", found.doubled, 0, "count"),
            Target("lost deltas", found.lost_deltas, 0, "count"),
            Target("doubled deltas", found.doubled_deltas, 0, "count"),
            Target("broken chains", found.broken_chains, 0, "count"),
            Target("hostile inputs answered with 500", failed, 0, "count"),
            Target("rounds without recovery", len(never_back) + bool(load.broken), 0, "count"),
            Target("p95 until the engine is back", percentile(engine or [0], 0.95), 15, "s"),
            Target("p95 until others are back", percentile(rest or [0], 0.95), 5, "s"),
        ],
    )


def _settle(comeback: Comeback, load: Load) -> None:
    """Begin to work once the engine shows the queries that say what came of it."""
    wanted = set(load.views.values())
    found = comeback.results.wait_until(
        lambda: wanted <= set(comeback.results.views()) or None, FIRST_S
    )
    if found is None:
        raise TimeoutError(f"the load's queries are not there after {FIRST_S:g} s")
    load.start()
    time.sleep(PAUSE_S)


def _hurt(hand: Hand, one: Round) -> tuple[list[str], list[tuple[str, Blow]]]:
    """Let a round's faults happen; returns which did, and who was hurt by which."""
    time.sleep(one.pause_s)
    names, blows = [], []
    for fault in one.faults:
        time.sleep(fault.gap_s)
        hurt = hand.do(fault)
        if hurt:
            names.append(fault.name)
            blows += [(fault.name, blow) for blow in hurt]
    return names, blows


def _recoveries(back_s: dict[str, list[float]]) -> tuple[list[float], ...]:
    """Returns the seconds of kills and stops: of the engine's processes, a standby, all others.

    Nobody misses a standby, which is begun when the engine is live and computes for long.
    """
    engine: list[float] = []
    standby: list[float] = []
    rest: list[float] = []
    for name, times in back_s.items():
        kind, _, victim = name.partition(" ")
        if kind in {"kill", "stop"}:
            (engine if victim in ENGINES else standby if victim == STANDBY else rest).extend(times)
    return engine, standby, rest


def _forget_hostile(rig: Rig) -> None:
    """End queries that hostile inputs began, so that quotas leave room for the next ones."""
    for query in rig.get("queries/?mine=1")["results"]:
        if "chaos" not in query["sql"] and "weight_kg" not in query["sql"]:
            rig.call("DELETE", f"queries/{query['id']}/")
