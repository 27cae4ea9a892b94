"""Bench `motes`: thousands of motes in the shipped building, against real time, twice the same.

Workloads, every mote sampling every 30 s: `rows` brings every row to the base; `tree` averages by
room on the way; `selected` lets one row in ten through. Time is the process's own processor time,
so that neighbours on the machine do not count; wall time stands beside it.
"""

from __future__ import annotations

import hashlib
import math
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from shapely.geometry import Point
from shapely.geometry.base import BaseGeometry

from aspen.algebra.expr import Col, Const, Op
from aspen.algebra.plan import Aggregate, AggregateFunction, Filter, GroupBy, Plan, Scan
from aspen.model.schema import Column, Row, Type
from aspen.motes.hardware import WAKE_S
from sensors_sim.innet.compile import Fragment
from sensors_sim.motes import Attached, DeviceStream, Field, MoteSpec, base_station, walls_of
from sensors_sim.network.links import Radio
from sensors_sim.sensor_network import SensorNetwork
from smartcis.catalog import CATALOG
from smartcis.importers.derive import derive
from smartcis.importers.formats import drawing_of
from smartcis.importers.run import SHIPPED
from tests.bench.report import Target, report

MOTES = 5_000
PERIOD_S = 30.0
BASES = 48
RADIO = {1_000: Radio(power_dbm=-15), MOTES: Radio(power_dbm=-25, range_m=30.0)}  # denser, softer
FORM_S = 120.0
RUN_S = 600.0
SPEED_TARGET = 10.0
STREAM = "temperature_reading"
TRACED_MOTES = 300

Say = Callable[[str], None]


def run(*, quick: bool, say: Say) -> dict[str, Any]:
    """Measure, and give the report."""
    motes, seconds = (1_000, 300.0) if quick else (MOTES, RUN_S)
    began_s = time.perf_counter()
    field = building_field(motes, seed=5)
    say(f"{motes} motes among {len(field.walls)} walls: {time.perf_counter() - began_s:.1f} s")
    figures: dict[str, Any] = {"motes": motes, "bases": BASES, "period_s": PERIOD_S}
    speeds = []
    for name, plan in workloads().items():
        figures[name] = one = _measure(field, plan, motes, seconds)
        speeds.append(one["times_real_time"])
        say(f"{name}: {one['times_real_time']} times real time")
    digests = {_digest_elsewhere() for _ in range(2)}
    figures["trace_sha256"] = sorted(digests)
    targets = [
        Target(
            f"{motes} motes, slowest workload, times real time on one core",
            min(speeds),
            SPEED_TARGET,
            "times",
            at_most=False,
        ),
        Target("different traces of one seed in two processes", len(digests), 1, "traces"),
    ]
    return report("motes", figures, targets)


def workloads() -> dict[str, Plan]:
    """Returns the queries by name."""
    relation = CATALOG.get(STREAM)
    columns = tuple(Column(f"t.{c.name}", c.type, c.unit, c.nullable) for c in relation.columns)
    scan = Scan(STREAM, "t", columns, stream=True)
    mean = Aggregate(AggregateFunction.AVG, "t.celsius", Column("mean", Type.FLOAT))
    count = Aggregate(AggregateFunction.COUNT, None, Column("n", Type.INT))
    return {
        "rows": scan,
        "tree": GroupBy(scan, (), (count, mean)),
        "selected": Filter(scan, Op(">=", Col("t.celsius"), Const(27.0))),
    }


def building_field(motes: int, seed: int) -> Field:
    """Strew motes over the rooms of the shipped building, evenly by area, and walls around them."""
    plan = derive(drawing_of(SHIPPED))
    rng = Random(seed)
    spaces = [space for space in plan.spaces if space.polygon.geom_type == "Polygon"]
    areas = [space.polygon.area for space in spaces]
    specs: list[MoteSpec] = []
    for number in range(motes):
        space = rng.choices(spaces, areas)[0]
        x_m, y_m = _inside(space.polygon, rng)
        sid = f"t{number}"
        fixed = {"sid": sid, "rid": f"{space.level}-{spaces.index(space)}"}
        attached = (Attached(sid, STREAM, fixed),)
        specs.append(
            MoteSpec(sid, x_m, y_m, f"L{space.level}", int(space.level), attached, wake_s=WAKE_S)
        )
    walls = tuple(
        wall
        for level in sorted({space.level for space in spaces})
        for wall in walls_of(
            f"L{level}",
            [list(one.polygon.exterior.coords) for one in spaces if one.level == level],
        )
    )
    stream = DeviceStream(CATALOG.get(STREAM), ("celsius",), decimals={"celsius": 2})
    return Field((*_spread_bases(specs), *specs), walls, {STREAM: stream})


def _inside(polygon: BaseGeometry, rng: Random) -> tuple[float, float]:
    west, south, east, north = polygon.bounds
    while True:
        x_m, y_m = rng.uniform(west, east), rng.uniform(south, north)
        if polygon.contains(Point(x_m, y_m)):
            return x_m, y_m


def _spread_bases(specs: Sequence[MoteSpec]) -> list[MoteSpec]:
    """Put base stations far apart: each next to the mote farthest from all others."""
    away = [math.inf] * len(specs)
    chosen: list[MoteSpec] = []
    for number in range(BASES):
        place = max(range(len(specs)), key=away.__getitem__)
        one = specs[place]
        chosen.append(base_station(f"base{number}", one.x_m, one.y_m, one.level, one.storey))
        for index, other in enumerate(specs):
            apart_m = math.dist((one.x_m, one.y_m), (other.x_m, other.y_m))
            storeys_m = 40.0 * abs(one.storey - other.storey)  # a ceiling is as good as far away
            away[index] = min(away[index], apart_m + storeys_m)
    return chosen


class Noise:
    """A world that is the same for everybody who asks in the same order: 20 to 28 °C."""

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed).random

    def sample(self, sid: str, at_s: float) -> Sequence[Row]:
        """Measure now."""
        del sid, at_s
        return [(20.0 + 8.0 * self._chance(),)]


def _measure(field: Field, plan: Plan, motes: int, seconds: float) -> dict[str, Any]:
    began_s = time.process_time()
    net = SensorNetwork(field, Noise(1), 7, RADIO[motes])
    links = sum(len(mote.links) for mote in net.motes) / len(net.motes)
    built_s = time.process_time() - began_s
    began_s = time.process_time()
    handle = net.deploy(Fragment(plan, PERIOD_S))
    net.run(FORM_S)
    formed_s = time.process_time() - began_s
    handle.take()
    spent, events = net.query_account(handle), net.events.handled
    frames, sent, energy = spent.frames, spent.sent_bytes, spent.energy_mj
    began_s, wall_s = time.process_time(), time.perf_counter()
    net.run(seconds)
    ran_s, walled_s = time.process_time() - began_s, time.perf_counter() - wall_s
    answers = handle.take()
    spent = net.query_account(handle)
    rooted = [hops for hops in (m.hops for m in net.motes if not m.base) if hops]
    return {
        "times_real_time": round(seconds / ran_s, 1),
        "times_real_time_by_wall": round(seconds / walled_s, 1),
        "times_real_time_while_forming": round(FORM_S / formed_s, 1),
        "build_s": round(built_s, 2),
        "events_per_s": round((net.events.handled - events) / ran_s),
        "links_per_mote": round(links, 1),
        "motes_with_a_route": len(rooted),
        "mean_hops": round(sum(rooted) / max(len(rooted), 1), 2),
        "greatest_hops": max(rooted, default=0),
        "answers": len(answers),
        "motes_in_answer": round(sum(a.motes for a in answers) / max(len(answers), 1), 1),
        "late_packets": handle.late,
        "lost_packets": net.lost,
        "frames_per_answer": round((spent.frames - frames) / max(len(answers), 1), 1),
        "bytes_per_answer": round((spent.sent_bytes - sent) / max(len(answers), 1), 1),
        "energy_mj_per_answer": round((spent.energy_mj - energy) / max(len(answers), 1), 2),
    }


def trace_digest() -> str:
    """Returns the hash of everything a small network in the building sends in ten minutes."""
    digest = hashlib.sha256()
    net = SensorNetwork(
        building_field(TRACED_MOTES, seed=3),
        Noise(2),
        11,
        Radio(power_dbm=-10),
        status_s=60.0,
        trace=lambda line: digest.update(line.encode()),
    )
    handles = [net.deploy(Fragment(plan, PERIOD_S)) for plan in workloads().values()]
    net.run(300.0)
    net.fail("t7")
    net.run(300.0)
    for handle in handles:
        digest.update(repr(handle.take()).encode())
    return digest.hexdigest()


def _digest_elsewhere() -> str:
    """Returns the hash as another process, with other hash seeds, computes it."""
    code = (
        "import django; django.setup(); "
        "from tests.bench.motes import trace_digest; print(trace_digest())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )  # our own code
    return done.stdout.strip()
