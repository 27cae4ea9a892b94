"""A building small enough to check by hand: two floors, six machines, a day and a half of readings.

Mon 16 Nov 00:00 ── a reading an hour ── Tue 17 Nov 06:00 ── one in ten minutes ── 12:00
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from aspen.log.entry import Change, Tick, Transaction

MONDAY_S = datetime(2026, 11, 16, tzinfo=UTC).timestamp()
TUESDAY_S = MONDAY_S + 86_400
NOON_S = TUESDAY_S + 12 * 3600
HOUR_S = 3600.0

OPERATORS = """
CREATE TABLE feeds (upstream TEXT, downstream TEXT, medium TEXT);
CREATE TABLE equipment (name TEXT NOT NULL, kind TEXT NOT NULL, rated_w FLOAT UNIT 'W');
CREATE TABLE place (place TEXT NOT NULL, part_of TEXT);
CREATE TABLE part (assembly TEXT NOT NULL, component TEXT NOT NULL, pieces INT NOT NULL);
CREATE TABLE part_weight (component TEXT NOT NULL, weight_kg FLOAT UNIT 'kg' NOT NULL)
"""
"""Tables of another database that an operator declared."""

WALKS = (  # src, dst, mm, step-free, way, door
    (1, 2, 5000, True, "door", "d1"),
    (1, 3, 7000, True, "door", "d2"),
    (3, 4, 4000, True, "door", "d3"),
    (1, 5, 6000, True, "walk", None),
    (5, 7, 8000, False, "stairs", None),
    (1, 6, 3000, True, "walk", None),
    (6, 7, 6000, True, "lift", None),
    (7, 8, 5000, True, "door", "d4"),
    (7, 9, 9000, True, "door", "d5"),
    (9, 10, 3000, True, "door", "d6"),
)
ROOMS = {  # rid: node, level, name, category
    "hall": (1, "L0", "Hall", "walkway"),
    "r01": (2, "L0", "Office 01", "room"),
    "r02": (3, "L0", "Laboratory", "room"),
    "server": (4, "L0", "Server room", "room"),
    "stairs": (5, "L0", "Stairs", "stairs"),
    "lift": (6, "L0", "Lift", "elevator"),
    "corridor": (7, "L1", "Corridor", "walkway"),
    "r11": (8, "L1", "Meeting room", "room"),
    "r12": (9, "L1", "Office 12", "room"),
    "r13": (10, "L1", "Store", "room"),
}
MACHINES = {"m1": "r01", "m2": "r01", "m3": "r02", "m4": "server", "m5": "r12", "m6": "r12"}


def two_by_two(words: list[str]) -> Iterator[tuple[str, str]]:
    """Returns the words two by two."""
    return zip(words[::2], words[1::2], strict=True)


WHERE = {  # kind: each sensor, and what it watches
    "seat": "seat1 m1 seat2 m2 seat3 m3 seat4 m4 seat5 m5 seat6 m6",
    "energy": "e1 m1 e2 m2 e5 m5 e6 m6",
    "temperature": "t01 r01 t02 r02 t11 r11 t12 r12 t13 r13 tcor corridor tsrv server",
    "humidity": "h01 r01 h11 r11 h12 r12",
    "light": "l01 r01 l11 r11 l12 r12",
    "door": "dc1 hall dc2 r02 dc3 r12",
    "window": "w01 r01 w12 r12",
    "heating": "hv01 r01 hv12 r12",
    "co2": "c01 r01 c11 r11 c12 r12",
    "power": "p-main hall p-l0 hall p-l1 corridor p-srv server",
}
SENSORS = {
    sid: (kind, where) for kind, words in WHERE.items() for sid, where in two_by_two(words.split())
}
KINDS = (  # of an operator: key, name, unit
    ("window", "Window", ""),
    ("heating", "Heating valve", "%"),
    ("co2", "CO2", "ppm"),
    ("power", "Meter", "W"),
)
OUTLETS = {("pdu-a", "1"): "m4", ("pdu-b", "1"): "m3", ("pdu-b", "2"): "m4", ("pdu-b", "3"): None}
PARENTS = {  # sid: to whom it sends, share of frames acknowledged
    "e1": ("base", 0.97),
    "e5": ("e1", 0.9),
    "e2": ("base", 0.93),
    "t01": ("e1", 0.95),
    "h01": ("e1", 0.7),
    "t11": ("e5", 0.85),
    "h11": ("t11", 0.6),
    "t12": ("e5", 0.99),
    "t02": ("e2", 0.75),
}


def _feeds() -> Iterator[tuple]:
    electric = "grid>main main>ups main>pdu-b ups>pdu-a ups>panel-1 pdu-a>m1 pdu-a>m2 pdu-a>m4"
    electric += " pdu-b>m3 pdu-b>m4 panel-1>m5 panel-1>m6"
    air = "ahu-1>vav-1 ahu-1>vav-2 vav-1>r01 vav-2>r02 vav-2>server ahu-2>vav-3 vav-3>r12"
    meters = "p-main>p-l0 p-main>p-l1 p-l0>p-srv"
    for medium, pairs in (
        ("electricity", electric),
        ("air", air),
        ("water", "boiler>ahu-1 boiler>ahu-2 pump>boiler boiler>pump"),
        ("metering", meters),
    ):
        yield from ((*pair.split(">"), medium) for pair in pairs.split())


def tables() -> Iterator[tuple[str, tuple]]:
    """Returns the rows that stand before anything is measured, each with its relation."""
    yield from (("level", row) for row in (("L0", 0.0, "Ground floor"), ("L1", 1.0, "First floor")))
    for rid, (node, level, name, category) in ROOMS.items():
        yield "room", (rid, level, name, category)
        yield "room_point", (rid, 3.0 * node, 2.0)
        yield "routing_node", (node, level, rid, 3.0 * node, 2.0)
    for src, dst, mm, flat, way, door in WALKS:
        for one, other in ((src, dst), (dst, src)):
            yield "routing_edge", (one, other, mm, flat, way, door)
        if door is not None:
            yield "door", (door, "locked" if door == "d6" else "open", 0.0, 0.0, "L0", MONDAY_S)
    yield "building_exit", (1, "hall", "L0", "main", 3.0, 2.0)
    yield "building_exit", (4, "server", "L0", "back", 12.0, 2.0)
    for mid, rid in MACHINES.items():
        node, level = ROOMS[rid][:2]
        yield "machine", (mid, f"pc-{mid}", rid, node, level, 3.0 * node, 2.0)
    software = {"m1": "LaTeX", "m2": "Word", "m3": "LaTeX", "m5": "LaTeX", "m6": "R"}
    yield from (("machine_software", row) for row in software.items())
    for place, (sid, (kind, where)) in enumerate(SENSORS.items()):
        mid = where if where in MACHINES else None
        rid = MACHINES.get(where, where)
        node, level = ROOMS[rid][:2]
        yield "sensor", (sid, kind, rid, mid, node, level, 2.0 * place, 1.0 + place % 3, True)
    for key, name, unit in KINDS:
        yield "sensor_kind", (key, name, unit, 0.0, 100_000.0)
    yield from (("sensor_interval", (s, 600.0, 1500.0)) for s, (k, _) in SENSORS.items() if _own(k))
    yield from (
        ("source", (s, "pdu", s, None, None, 60.0, 1e6, MONDAY_S)) for s in ("pdu-a", "pdu-b")
    )
    yield from (("feeds", row) for row in _feeds())
    for row in (
        *(("main", "panel", 5000.0), ("ups", "ups", 700.0), ("panel-1", "panel", 400.0)),
        *(("pdu-a", "pdu", 500.0), ("pdu-b", "pdu", 300.0), ("ahu-1", "ahu", None)),
    ):
        yield "equipment", row
    for part, of in two_by_two(["b1", "campus", "west", "b1", "L0", "west", "L1", "west"]):
        yield "place", (part, of)
    yield "place", ("campus", None)
    yield from (("place", (rid, row[1])) for rid, row in ROOMS.items())
    for row in (
        *(("ahu-1", "fan", 2), ("ahu-1", "filter", 4), ("fan", "motor", 1), ("fan", "belt", 2)),
        *(("motor", "bearing", 2), ("belt", "bearing", 1), ("ahu-2", "fan", 1)),
    ):
        yield "part", row
    weights = {"fan": 12.0, "filter": 1.5, "motor": 8.0, "belt": 0.4, "bearing": 0.25}
    yield from (("part_weight", row) for row in weights.items())
    for number, (rid, start, hours, title) in enumerate(
        (
            *(("r11", -20, 1, "Board"), ("r11", -2, 1, "Jour fixe"), ("r11", 1, 1, "Interview")),
            *(("r12", -2, 2, "Training"), ("r12", -0.5, 2, "Clash"), ("r01", 3, 1.5, "Review")),
            *(("r01", -3, 1, "Kick-off"), ("r02", -1, 0.5, "Demo")),
        )
    ):
        start_s = NOON_S + start * HOUR_S
        yield "reservation", (number, rid, start_s, start_s + hours * HOUR_S, title)
    for number, (rid, severity, hours, known) in enumerate(
        (
            *(("r01", "warning", 30, False), ("server", "critical", 2, False)),
            *(("r12", "warning", 50, True), (None, "info", 1, False)),
        )
    ):
        at_s, kind = NOON_S - hours * HOUR_S, "threshold"
        yield (
            "alarm",
            (
                *(number, "q", f"alarm {number}", rid or "", kind, severity, "", 1.0, "", rid),
                *(None, None, at_s, at_s, known, None, False),
            ),
        )


def _own(kind: str) -> bool:
    return kind in {key for key, _, _ in KINDS}


def _hour(at_s: float) -> float:
    """Returns the hour of the day, in fractions."""
    return (at_s - MONDAY_S) % 86_400 / HOUR_S


def _value(sid: str, at_s: float) -> float:
    """Returns what a sensor measures at a time."""
    hour, today = _hour(at_s), at_s >= TUESDAY_S
    step = int(at_s // 600)
    kind, where = SENSORS[sid]
    match kind:
        case "seat":
            used = {"m1": 9 <= hour < 12, "m5": 10 <= hour < 11, "m6": not today and hour < 3}
            return 71.5 if used.get(where) else 0.3
        case "energy":
            base = {"m1": 35.0, "m2": 60.0, "m5": 30.0, "m6": 45.0}[where]
            busy = 90.0 + 10 * today + 20 * (10 <= hour < 10.2)
            return base + (busy if where == "m1" and 9 <= hour < 12 else step % 4)
        case "temperature":
            warm = {"t01": 21.0, "t11": 17.0, "t12": 20.5, "tcor": 20.0, "tsrv": 34.0, "t13": 19.0}
            if sid == "t12" and today and hour > 11:
                return 20.5 + 3 * (hour - 11)
            return warm[sid] + 0.25 * (step % 5) if sid in warm else 19.5
        case "humidity":
            return {"h01": 48.0, "h11": 78.0, "h12": 62.0}[sid] + step % 3
        case "light":
            return {"l01": 480.0, "l11": 520.0, "l12": 15.0}[sid]
        case "door":
            ajar = {"dc1": hour % 4 < 1, "dc2": today and hour > 11.5, "dc3": 7 < hour < 8}
            return float(ajar[sid])
        case "window":
            opened = {"w01": 8 <= hour < 8.6 or 10 <= hour < 10.3, "w12": today and hour < 2}
            return float(opened[sid])
        case "heating":
            on = {"hv01": 7 <= hour < 9 or 10 <= hour < 11, "hv12": hour < 1 or hour % 3 < 0.5}
            return 60.0 if on[sid] else 0.0
        case "co2":
            return {"c01": 600.0, "c11": 900.0, "c12": 800.0}[sid] + (500 if 9 <= hour < 11 else 0)
    return {"p-main": 900.0, "p-l0": 400.0, "p-l1": 350.0, "p-srv": 120.0}[sid] + step % 7


def readings(at_s: float, *, silent: tuple[str, ...] = ()) -> Transaction:
    """Returns what all sensors report at a time, as one entry that arrives a second later."""
    changes: list[Change] = []
    for sid, (kind, where) in SENSORS.items():
        if sid in silent:
            continue
        value, rid = _value(sid, at_s), MACHINES.get(where, where)
        match kind:
            case "seat" | "energy":
                row: tuple = (where, sid, value, at_s)
            case "temperature":
                row = (sid, rid, value, at_s)
            case "humidity" | "light" | "door":
                row = (rid, sid, value, at_s)
            case _:
                unit = next(unit for key, _, unit in KINDS if key == kind)
                row = (sid, kind, rid, None, value, unit, at_s)
        changes.append(Change("reading" if _own(kind) else f"{kind}_reading", 1, row))
        changes.append(Change("past_reading", 1, (sid, value, at_s)))
    for (source, outlet), mid in OUTLETS.items():
        watts = {"m4": 110.0, "m3": 75.0}.get(mid or "", 0.0)
        changes.append(Change("pdu_power", 1, (source, outlet, mid, watts, at_s)))
    for place, (sid, (parent, quality)) in enumerate(PARENTS.items()):
        spent = 1.8e6 * (place + 4) + 2.0 * (place + 1) * (at_s - MONDAY_S)
        changes.append(Change("mote_status", 1, (sid, parent, spent, place, quality, at_s)))
    return Transaction(at_s + 1, tuple(changes))


def until_noon() -> Iterator[Transaction | Tick]:
    """Returns the history: readings, and the ticks behind them."""
    yield Transaction(MONDAY_S, tuple(Change(name, 1, row) for name, row in tables()))
    times = [MONDAY_S + 30 + n * HOUR_S for n in range(30)]
    times += [TUESDAY_S + 6 * HOUR_S + 30 + n * 600 for n in range(36)]
    for at_s in (*times, NOON_S - 30):
        silent = ("h12",) if 2 <= _hour(at_s) < 5 else ()
        yield readings(at_s, silent=(*silent, "t13") if at_s > MONDAY_S + 20_000 else silent)
        yield Tick(at_s + 10)
    yield Tick(NOON_S)


def afterwards() -> Iterator[tuple[Transaction | Tick, ...]]:
    """Returns what happens after noon, in steps between which everything is asked again."""
    some = NOON_S + 270
    yield (
        readings(some, silent=("t13", "l12")),
        _change(some, ("door", ("d2", "open", 0.0, 0.0, "L0", MONDAY_S), None)),
        _change(some, ("door", None, ("d2", "locked", 0.0, 0.0, "L0", some))),
        _change(some, ("feeds", ("main", "pdu-b", "electricity"), None)),
        _change(some, ("place", ("r13", "L1"), None), ("place", None, ("r13", "r12"))),
        _change(some, ("reservation", (4, "r12", NOON_S - 1800, NOON_S + 5400, "Clash"), None)),
        Tick(NOON_S + 300),
    )
    lift = ((6, 7, 6000, True, "lift", None), (7, 6, 6000, True, "lift", None))
    some = NOON_S + 580
    old = (1, "q", "alarm 1", "server", "threshold", "critical", "", 1.0, "", "server", None)
    old += (None, NOON_S - 2 * HOUR_S, NOON_S - 2 * HOUR_S)
    yield (
        _change(some, *(("routing_edge", row, None) for row in lift)),
        _change(some, ("feeds", None, ("ups", "pdu-b", "electricity"))),
        _change(some, ("feeds", ("boiler", "pump", "water"), None)),
        _change(some, ("mote_status", None, ("t11", "e2", 2.5e7, 3, 0.65, some))),
        _change(some, ("seat_reading", None, ("m3", "seat3", 80.0, some))),
        _change(some, ("part", ("belt", "bearing", 1), None), ("part", None, ("belt", "clip", 3))),
        _change(some, ("alarm", (*old, False, None, False), None)),
        _change(some, ("alarm", None, (*old, True, None, False))),
        Tick(NOON_S + 600),
    )
    yield (Tick(NOON_S + 2 * HOUR_S), readings(NOON_S + 2 * HOUR_S + 30), Tick(NOON_S + 7300))


def _change(at_s: float, *changes: tuple[str, tuple | None, tuple | None]) -> Transaction:
    """Returns an entry in which rows go and come."""
    made = [
        Change(relation, weight, row)
        for relation, gone, new in changes
        for weight, row in ((-1, gone), (1, new))
        if row is not None
    ]
    return Transaction(at_s, tuple(made))
