"""Ten more clients a second: what each costs, by how their dataflows are shared.

    own      a dataflow per client over common base tables        [GOE19] fig. 9 (a)
    trunk    equal subplans are one node                                     (b)
    tenant   one dataflow per shape, a parameter row per client              (c)

500 readings a second of simulated devices go through log, Spark and results; each client asks for
the newest readings of one room. A client count at which the first result takes longer than a bound
ends a mode. Afterwards clients of new shapes are timed on the running engine. Last, as many people
come to the whole product over REST and sockets (`tenants_product.py`).
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Entry, Register, Tick, Transaction, Unregister
from aspen.log.redis_log import RedisLog
from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, SourceKind, Type
from aspen.results.redis_results import RedisResults
from aspen.streamsql import compile_query
from tests.bench import tenants_product
from tests.bench.engine_rig import EngineRig, engine_running
from tests.bench.report import Target, report, spread
from tests.bench.tenants_product import HUNDRED, hundred_of
from tests.waiting import wait_for_position

MODES = ("own", "trunk", "tenant")
READINGS_PER_S, CLIENTS_PER_S = 500, 10
FLAT = 1.3
DEVICES, ROOMS = 2_000, 1_000
SLICE_S = 0.1
GIVEN_UP_MS = 5_000.0
_SPAN_S = 2e6  # log time of one mode

_DEVICE = Relation(
    "device", (Column("did", Type.INT), Column("room", Type.TEXT)), key=("did",), deletable=False
)
_READING = Relation(
    "reading",
    (Column("did", Type.INT), Column("celsius", Type.FLOAT, "°C"), Column("at_s", Type.FLOAT, "s")),
    kind=SourceKind.STREAM,
    key=("did",),
)
_CATALOG = Catalog.of([_DEVICE, _READING])
_QUERY = (
    "SELECT d.room, r.did, r.celsius FROM reading [PARTITION BY did ROWS 1] r "
    "JOIN device d ON d.did = r.did WHERE d.room = 'room {room}'"
)
_NEW = (
    "SELECT r.did, r.celsius + {n} AS warmer FROM reading [PARTITION BY did ROWS 1] r "
    "JOIN device d ON d.did = r.did WHERE d.room = 'room {n}'"
)


@dataclass(frozen=True, slots=True)
class _Scale:
    """How much to measure.

    Args:
        shapes: questions of new shapes afterwards.
        together: whether the modes take turns on one engine; each has a fresh one otherwise.
    """

    clients: int
    shapes: int
    warm_up_s: int
    together: bool


FULL = _Scale(clients=1_000, shapes=20, warm_up_s=6, together=False)
QUICK = _Scale(clients=12, shapes=2, warm_up_s=1, together=True)


@dataclass(slots=True)
class _Heard:
    """What the results brought: (clients there, ms from log to results), and first rows by view."""

    epochs: list[tuple[int, float]] = field(default_factory=list)
    opened_ms: dict[str, float] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)


class _Listener(threading.Thread):
    def __init__(self, results: RedisResults) -> None:
        super().__init__(daemon=True)
        self.heard = _Heard()
        self.over = threading.Event()
        self._results = results

    def run(self) -> None:
        number = self._results.head()[0]
        while not self.over.is_set():
            for epoch in self._results.epochs_since(number, 0.2):
                number = epoch.number
                written_ms = epoch.timing_ms["written_at"]
                there = len(self.heard.opened_ms)
                self.heard.epochs.append((there, epoch.timing_ms["total"]))
                for change in epoch.changes:
                    if change.columns:
                        self.heard.opened_ms.setdefault(change.view, written_ms)
                    counts = self.heard.rows
                    counts[change.view] = counts.get(change.view, 0) + len(change.delta)


def run(*, quick: bool, say: Callable[[str], Any]) -> dict[str, Any]:
    """Measure, and give the bench's JSON object."""
    scale = QUICK if quick else FULL
    clients = scale.clients
    modes = _modes(scale, say)
    product = tenants_product.measure(clients, CLIENTS_PER_S, scale.shapes, say)
    tenant, people = modes["tenant"], product["by_hundred"]
    return report(
        "tenants",
        {
            "readings_per_s": READINGS_PER_S,
            "clients_per_s": CLIENTS_PER_S,
            "modes": modes,
            "product": product,
        },
        [
            Target("clients served as tenants", tenant["clients"], clients, "", at_most=False),
            Target("epoch, p95, as tenants", tenant["epoch_ms"]["p95"], 1_000, "ms"),
            Target("epoch p50, last hundred / first", tenant["last_by_first"], FLAT, ""),
            Target("first result, known shape, p95", tenant["first_ms"]["p95"], 700, "ms"),
            Target("first result, new shape, p95", tenant["new_shape_ms"]["p95"], 2_000, "ms"),
            Target("people served by the product", product["people"], clients, "", at_most=False),
            Target("product: epoch, p95", product["epoch_ms"]["p95"], 1_000, "ms"),
            Target("product: first result, p95", product["first_ms"]["p95"], 700, "ms"),
            Target(
                "product: first result, new shape, p95", product["new_shape_ms"]["p95"], 2_000, "ms"
            ),
            Target(
                "product: freshness p50, last hundred / first",
                round(last(people, "fresh_ms") / first(people, "fresh_ms"), 2),
                FLAT,
                "",
            ),
        ],
    )


def first(by_hundred: dict[int, dict[str, float]], name: str) -> float:
    """Returns the median among the first hundred."""
    return by_hundred[min(by_hundred)][name]


def last(by_hundred: dict[int, dict[str, float]], name: str) -> float:
    """Returns the median among the last hundred."""
    return by_hundred[max(by_hundred)][name]


def _modes(scale: _Scale, say: Callable[[str], Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for together in [MODES] if scale.together else [(mode,) for mode in MODES]:
        with engine_running() as rig:
            _furnish(rig.log())
            for number, mode in enumerate(together):
                found[mode] = _mode(rig, mode, number * _SPAN_S, scale, say)
    return found


def _furnish(log: RedisLog) -> None:
    log.append([Declare(0.0, _DEVICE), Declare(0.0, _READING)])
    devices = tuple(Change("device", 1, (n, f"room {n % ROOMS}")) for n in range(DEVICES))
    log.append([Transaction(0.0, devices)])
    log.append([Transaction(0.0, _readings(random.Random(7), range(DEVICES), 0.0))])


def _mode(
    rig: EngineRig, mode: str, from_s: float, scale: _Scale, say: Callable[[str], Any]
) -> dict[str, Any]:
    log, draw = rig.log(), random.Random(7)
    listener = _Listener(rig.results())
    listener.start()
    _warm_up(log, rig.results(), draw, from_s, scale.warm_up_s)
    before = len(listener.heard.epochs)
    asked = _ask(log, mode, from_s, scale.clients, draw, listener.heard)
    say(f"{mode}: {len(asked)} clients")
    begun = range(before, len(listener.heard.epochs))
    served = mode == "tenant" or len(asked) == scale.clients
    shapes = _ask_new_shapes(log, mode, from_s, scale.shapes, draw) if served else {}
    _wait_for_first_results(listener.heard, {**asked, **shapes})
    memory = rig.memory_mb()
    listener.over.set()
    listener.join(5)
    figures = _figures(listener.heard, asked, shapes, begun, memory, rig)
    log.append([Unregister(from_s + _SPAN_S / 2, view) for view in (*asked, *shapes)])
    return figures


def _warm_up(
    log: RedisLog, results: RedisResults, draw: random.Random, at_s: float, warm_up_s: int
) -> None:
    """Lets the JVM meet what it will do, until epochs keep up with readings."""
    for _ in range(warm_up_s):
        for _ in range(round(1 / SLICE_S)):
            log.append([Transaction(at_s, _readings(draw, range(50), at_s))])
            time.sleep(SLICE_S)
    wait_for_position(results, log.head(), wait_s=120)


def _readings(draw: random.Random, devices: Any, at_s: float) -> tuple[Change, ...]:
    return tuple(
        Change("reading", 1, (did, round(draw.uniform(15, 30), 2), at_s)) for did in devices
    )


def _ask(
    log: RedisLog,
    mode: str,
    from_s: float,
    clients: int,
    draw: random.Random,
    heard: _Heard,
) -> dict[str, float]:
    """Let clients come; give when each asked, in ms. Ends early when epochs take too long."""
    asked: dict[str, float] = {}
    began = time.monotonic()
    turn = 0
    while len(asked) < clients:
        turn += 1
        now_s = from_s + turn * SLICE_S
        some = draw.sample(range(DEVICES), round(READINGS_PER_S * SLICE_S))
        entries: list[Entry] = [Transaction(now_s, _readings(draw, some, now_s)), Tick(now_s)]
        for _ in range(round(CLIENTS_PER_S * SLICE_S)):
            name = f"{mode}_{len(asked)}"
            sql = _QUERY.format(room=len(asked) % ROOMS)
            asked[name] = time.time() * 1000
            plan = plan_text(compile_query(sql, _CATALOG).plan)
            entries.append(Register(now_s, name, plan, sharing=mode))
        log.append(entries)
        waiting = [ms for view, ms in asked.items() if view not in heard.opened_ms]
        if waiting and time.time() * 1000 - min(waiting) > GIVEN_UP_MS:
            break
        time.sleep(max(0.0, began + turn * SLICE_S - time.monotonic()))
    return asked


def _ask_new_shapes(
    log: RedisLog, mode: str, from_s: float, shapes: int, draw: random.Random
) -> dict[str, float]:
    asked: dict[str, float] = {}
    for number in range(shapes):
        name = f"{mode}_new_{number}"
        asked[name] = time.time() * 1000
        plan = plan_text(compile_query(_NEW.format(n=number), _CATALOG).plan)
        log.append(
            [
                Register(
                    from_s + _SPAN_S / 2, name, plan, sharing="auto" if mode == "tenant" else mode
                )
            ]
        )
        time.sleep(draw.uniform(0.3, 0.5))
    return asked


def _wait_for_first_results(heard: _Heard, asked: dict[str, float]) -> None:
    """Waits until everybody has a first result, at most a minute."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and set(asked) - set(heard.opened_ms):
        time.sleep(0.1)


def _figures(
    heard: _Heard,
    asked: dict[str, float],
    shapes: dict[str, float],
    epochs: range,
    memory: dict[str, float],
    rig: EngineRig,
) -> dict[str, Any]:
    served = [view for view in asked if view in heard.opened_ms]
    taken = heard.epochs[epochs.start : epochs.stop]
    parts: dict[int, list[float]] = {}
    for there, total in taken:
        parts.setdefault(hundred_of(there), []).append(total)
    by_hundred = {upto: spread(those)["p50"] for upto, those in sorted(parts.items())}
    full = {upto: p50 for upto, p50 in by_hundred.items() if upto <= max(HUNDRED, len(asked))}
    snapshots = rig.results().snapshots(served)
    empty = [view for view in served if not snapshots[view].rows]
    figures = {
        "clients": len(served) if len(served) == len(asked) else _collapse(heard, asked),
        "clients_without_rows": len(empty),
        "epoch_ms": spread([total for _, total in taken]),
        "epoch_p50_ms_by_hundred": by_hundred,
        "last_by_first": round(full[max(full)] / full[min(full)], 2),
        "first_ms": spread([heard.opened_ms[view] - asked[view] for view in served]),
        "memory_mb": memory,
    }
    if shapes:
        figures["new_shape_ms"] = spread(
            [heard.opened_ms[view] - ms for view, ms in shapes.items() if view in heard.opened_ms]
        )
    return figures


def _collapse(heard: _Heard, asked: dict[str, float]) -> int:
    """Returns how many clients were served before one had to wait for too long."""
    for number, (view, ms) in enumerate(asked.items()):
        if heard.opened_ms.get(view, float("inf")) - ms > GIVEN_UP_MS:
            return number
    return len(asked)
