"""What the views behind the panels of single things must hold, computed from scratch."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

Rows = set[tuple[Any, ...]]
Now = Callable[[str, float], list[tuple[Any, ...]]]
WORD_OF = {  # stream -> indexes of sensor, value, time; and the unit
    "seat_reading": (1, 2, 3, "kg"),
    "cpu_reading": (1, 2, 3, "%"),
    "energy_reading": (1, 2, 3, "W"),
    "light_reading": (1, 2, 3, "lx"),
    "temperature_reading": (0, 2, 3, "°C"),
    "humidity_reading": (1, 2, 3, "%"),
}
ON_THE_MAINS = {"energy", "rfid"}
CELLS_MJ = 27_000_000.0


def details(tables: Mapping[str, Rows], now_s: float | None, now: Now) -> dict[str, Rows]:
    """Returns the rows of each of these views.

    Args:
        now: the newest rows of a stream that are not older than so many seconds.
    """
    power = _power(now)
    return {
        "machine_power": {(mid, *rest) for mid, rest in power.items()},
        **_inside(tables, now, power),
        **_overlays(tables, now, power),
        "room_booking": _bookings(tables["reservation"], now_s),
        "mote_health": _motes(tables["sensor"], now),
        "sensor_reading": {
            (row[sid], row[value], unit, row[at_s])
            for stream, (sid, value, at_s, unit) in WORD_OF.items()
            for row in now(stream, math.inf)
        }
        | {(row[0], row[4], row[5], row[6]) for row in now("reading", math.inf)},
    }


def _power(now: Now) -> dict[str, tuple[str, float, float]]:
    """Returns source, watts and time by machine; its meter counts before its outlets."""
    outlets = defaultdict(list)
    for source, _outlet, mid, watts, at_s in now("pdu_power", 120):
        if mid is not None:
            outlets[mid].append((source, watts, at_s))
    found = {}
    for mid, rows in outlets.items():
        sources, watts, times = zip(*rows, strict=True)
        found[mid] = (min(sources), sum(watts), max(times))
    found |= {mid: (sid, watts, at_s) for mid, sid, watts, at_s in now("energy_reading", 120)}
    return found


def _inside(tables: Mapping[str, Rows], now: Now, power: Mapping[str, Any]) -> dict[str, Rows]:
    loads = {row[0]: row for row in now("host_load", 120)}
    tasks = now("host_process", 120)
    machines = [(row[0], row[1]) for row in tables["machine"]]
    load: Rows = set()
    task: Rows = set()
    for mid, host in machines:
        if host not in loads:
            continue
        _, cpu, memory, users, jobs, _requests, at_s = loads[host]
        load.add((mid, cpu, memory, users, jobs, at_s))
        mine = [row for row in tasks if row[0] == host]
        work = max(cpu, math.fsum(row[4] for row in mine), 0.1)
        for _, place, pid, name, share, mb, seen_s in mine:
            watts = power[mid][1] * share / work if mid in power else None
            task.add((mid, place, pid, name, share, mb, watts, seen_s))
    return {"machine_load": load, "machine_task": task}


def _overlays(tables: Mapping[str, Rows], now: Now, power: Mapping[str, Any]) -> dict[str, Rows]:
    room_of = {row[0]: row[2] for row in tables["machine"]}
    watts = defaultdict(list)
    for mid, (_source, drawn, _at_s) in power.items():
        if mid in room_of:
            watts[room_of[mid]].append(drawn)
    humid = defaultdict(list)
    for rid, _sid, pct, _at_s in now("humidity_reading", 300):
        humid[rid].append(pct)
    stale = defaultdict(list)
    silent_s = {sid: limit_s for sid, _period_s, limit_s in tables["sensor_interval"]}
    (now_s,) = [at_s for (at_s,) in tables["clock"]] or [-math.inf]
    for sid, kind, rid, _mid, value, _unit, at_s in now("reading", math.inf):
        if kind == "co2" and now_s - at_s <= silent_s.get(sid, -math.inf):
            stale[rid].append(value)
    return {
        "room_power": {(rid, math.fsum(them), len(them)) for rid, them in watts.items()},
        "room_air": {
            (
                rid,
                math.fsum(humid[rid]) / len(humid[rid]) if rid in humid else None,
                max(stale[rid]) if rid in stale else None,
            )
            for rid in humid.keys() | stale.keys()
        },
    }


def _bookings(reservations: Rows, now_s: float | None) -> Rows:
    found: Rows = set()
    if now_s is None:
        return found
    rooms = defaultdict(list)
    for _, rid, start_s, end_s, title in reservations:
        rooms[rid].append((start_s, end_s, title))
    for rid, booked in rooms.items():
        later = min((start for start, _, _ in booked if start > now_s), default=None)
        for start_s, end_s, title in booked:
            if start_s <= now_s < end_s:
                found.add((rid, "now", title, start_s, end_s))
            elif start_s == later:
                found.add((rid, "next", title, start_s, end_s))
    return found


def _motes(sensors: Rows, now: Now) -> Rows:
    kinds = {row[0]: row[1] for row in sensors}
    found: Rows = set()
    for sid, parent, energy_mj, hops, quality, at_s in now("mote_status", math.inf):
        if sid in kinds:
            left = max(0.0, 100.0 - energy_mj / (CELLS_MJ / 100.0))
            battery = None if kinds[sid] in ON_THE_MAINS else left
            found.add((sid, parent, hops, quality, energy_mj, battery, at_s))
    return found
