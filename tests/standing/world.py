"""A small building in which things happen, and the log entries that tell of them."""

from __future__ import annotations

import math
import random

from aspen.log.entry import Change, Tick, Transaction
from tests.standing.oracle import Oracle

START_S = 1_700_000_000.0
SOFTWARE = ("LaTeX", "Word", "R")
SESSIONS = ("anna", "ben", "chris")
TAGS = ("t1", "t2", "t3", "t4", "t5", "t6")
OF_TARGETS = ("route_target", "route_target_door", "route_told")
CONSENTS = (None, "counted", "room", "exact")


class World:
    """Does things to a building; `oracle` knows what the views must then hold.

    Args:
        seed: shapes the building: nodes, corridors, doors, rooms, machines.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.at_s = START_S + 0.5
        self.oracle = Oracle()
        self.pending: list[Change] = []

    @property
    def tables(self) -> dict[str, set[tuple]]:
        """The current rows of every table."""
        return self.oracle.tables

    def build(self) -> Transaction:
        """Lay out the building and give its rows as one transaction."""
        rng = random.Random(self.seed)
        nodes = rng.randint(6, 12)
        rooms = [f"room{i}" for i in range(rng.randint(2, 4))]
        for room in rooms:
            category = "walkway" if room == rooms[-1] else "room"
            self._put("room", (room, "L0", room.title(), category))
            self._put("room_point", (room, rng.uniform(0, 60), rng.uniform(0, 30)))
        for tag in TAGS:
            self.allow(tag, rng.choice(CONSENTS), rng.randrange(100))
        for node in range(nodes):
            x, y = rng.uniform(0, 60), rng.uniform(0, 30)
            self._put("routing_node", (node, f"L{node % 2}", rng.choice(rooms), x, y))
        doors = [f"door{i}" for i in range(3)]
        for door in doors:
            self._put("door", (door, "open", 0.0, 0.0, "L0", self.at_s))
        pairs = {(a, a + 1) for a in range(nodes - 1)}
        pairs |= {tuple(sorted(rng.sample(range(nodes), 2))) for _ in range(nodes)}
        for a, b in sorted(pairs):
            door = rng.choice([None, None, *doors])
            length_mm, flat = rng.randint(1, 6) * 1000, rng.random() < 0.8
            way = "door" if door else rng.choice(["walk", "walk", "lift"]) if flat else "stairs"
            for src, dst in ((a, b), (b, a)):
                self._put("routing_edge", (src, dst, length_mm, flat, way, door))
                if way in ("stairs", "lift"):
                    self._put("riser_step", (src, dst, way))
        for node in rng.sample(range(nodes), 2):
            self._put("building_exit", (node, rooms[-1], "L0", "", 0.0, 0.0))
        for i in range(4):
            node = rng.randrange(nodes)
            self._put("machine", (f"m{i}", f"host{i}", rng.choice(rooms), node, "L0", 1.0, 2.0))
            self._put("machine_software", (f"m{i}", rng.choice(SOFTWARE)))
        for i in range(6):
            x = rng.uniform(0, 60)
            self._put("sensor", (f"s{i}", "temperature", rooms[0], None, 0, "L0", x, 0.0, True))
        self._put("sensor", ("meter", "energy", rooms[0], "m0", 0, "L0", 0.0, 0.0, True))
        self._put("sensor_kind", ("co2", "CO₂", "ppm", 0.0, 10_000.0))
        self._put("sensor_interval", ("co2-0", 10.0, 43.0))
        for i in range(3):
            self._put("region_seed", (f"region{i}", f"s{i}"))
        self._put("kiosk", ("k", "Kiosk", rng.randrange(nodes), "L0", 0.0, 0.0))
        return self.commit()

    def _keep(self, session: str) -> None:
        """Note where a visitor is led, as the product does now and then."""
        views = self.oracle.expected()
        for relation in OF_TARGETS:
            for row in [r for r in self.tables[relation] if r[0] == session]:
                self._drop(relation, row)
        for row in views["nearest_destination"]:
            if row[0] == session:
                self._put("route_target", (session, row[4], row[8], self.at_s))
        for row in views["route_door"]:
            if row[0] == session:
                self._put("route_target_door", row)
        for row in views["route_news"]:
            if row[0] == session:
                self._put("route_told", (session, *row[4:]))

    # ── changing ──────────────────────────────────────────────────────────────────────────────

    def allow(self, tag: str, consent: str | None, day: int) -> None:
        """Let the holder of a tag choose what others see; None hides it."""
        for row in [row for row in self.tables["visitor"] if row[0] == tag]:
            self._drop("visitor", row)
        if consent is not None:
            self._put("visitor", (tag, f"v-{tag}-{day}", consent, tag == TAGS[0]))

    def _put(self, relation: str, row: tuple) -> None:
        if row not in self.tables[relation]:
            self._note(Change(relation, 1, row))

    def _drop(self, relation: str, row: tuple) -> None:
        if row in self.tables[relation]:
            self._note(Change(relation, -1, row))

    def _note(self, change: Change) -> None:
        self.pending.append(change)
        self.oracle.feed(Transaction(self.at_s, (change,)))

    def commit(self) -> Transaction:
        """Returns what changed since the last commit as one log entry."""
        changes, self.pending = tuple(self.pending), []
        return Transaction(self.at_s, changes)

    def tick(self, seconds: int) -> Tick:
        """Let time pass; ticks fall on whole seconds, readings between them."""
        self.at_s += seconds
        tick = Tick(float(math.floor(self.at_s)))
        self.oracle.feed(tick)
        return tick

    def act(self, kind: str, a: int, b: int) -> None:
        """Do one thing somebody does in a building; `a` and `b` choose the details."""
        tables = self.tables
        machines = sorted(f"m{i}" for i in range(4))
        rooms = sorted(row[0] for row in tables["room"])
        nodes = len(tables["routing_node"])
        mid, rid = machines[a % 4], rooms[a % len(rooms)]
        match kind:
            case "seat":
                weight = (0.0, 70.0)[b % 2]
                self._note(Change("seat_reading", 1, (mid, f"seat-{mid}", weight, self.at_s)))
            case "cpu":
                busy = (5.0, 95.0)[b % 2]
                self._note(Change("cpu_reading", 1, (mid, f"cpu-{mid}", busy, self.at_s)))
            case "meter":
                self._note(Change("energy_reading", 1, (mid, f"e-{mid}", 40.0 + b, self.at_s)))
            case "outlet":
                on_it = (mid, None)[b % 2]
                row = ("pdu", str(a % 3), on_it, 10.0 * b, self.at_s)
                self._note(Change("pdu_power", 1, row))
            case "inside":
                host = f"host{a % 4}"
                row = (host, 25.0 * (b % 4), 40.0, b % 2, b % 3, None, self.at_s)
                self._note(Change("host_load", 1, row))
                for place in range(1, 1 + b % 3):
                    task = (host, place, 100 + b, f"task{b}", 8.0 * place, 50.0, self.at_s)
                    self._note(Change("host_process", 1, task))
            case "mote":
                sid = ("meter", f"s{a % 6}")[a % 2]
                row = (sid, "base", 3.0e6 * b, b % 4, 0.5, self.at_s)
                self._note(Change("mote_status", 1, row))
            case "air":
                one = (rid, f"damp-{rid}-{b % 2}", 30.0 + b, self.at_s)
                self._note(Change("humidity_reading", 1, one))
                two = (f"co2-{a % 2}", "co2", rid, None, 400.0 + 100 * b, "ppm", self.at_s)
                self._note(Change("reading", 1, two))
            case "light":
                sid = f"light-{rid}-{b % 2}"
                lux = (3.0, 300.0)[b // 2 % 2]
                self._note(Change("light_reading", 1, (rid, sid, lux, self.at_s)))
            case "temperature":
                sid, celsius = f"s{a % 6}", (20.0, 31.0)[b % 2]
                self._note(Change("temperature_reading", 1, (sid, rooms[0], celsius, self.at_s)))
            case "interval":
                sid = (f"s{a % 6}", f"light-{rid}-{a % 2}")[b % 2]
                row = (sid, 90.0, 363.0)
                (self._drop if row in tables["sensor_interval"] else self._put)(
                    "sensor_interval", row
                )
            case "rfid":
                tag = TAGS[a % len(TAGS)]
                self._note(Change("rfid_reading", 1, (tag, "hall", b % nodes, -60.0, self.at_s)))
            case "allow":
                self.allow(TAGS[a % len(TAGS)], CONSENTS[b % len(CONSENTS)], b)
            case "door":
                old = sorted(tables["door"])[a % 3]
                self._drop("door", old)
                state = "locked" if old[1] == "open" else "open"
                self._put("door", (old[0], state, *old[2:5], self.at_s))
            case "software":
                row = (mid, SOFTWARE[b % 3])
                change = self._drop if row in tables["machine_software"] else self._put
                change("machine_software", row)
            case "reserve":
                start = (self.oracle.now_s or START_S) + b % 5 * 10
                self._put("reservation", (a, rid, start, start + 25.0, "seminar"))
            case "cancel":
                if tables["reservation"]:
                    rows = sorted(tables["reservation"])
                    self._drop("reservation", rows[a % len(rows)])
            case "ask":
                session = SESSIONS[a % 3]
                self.act("leave", a, 0)
                goal = (f"free-machine:{SOFTWARE[b // 3 % 3]}", f"room:{rid}", f"machine:{mid}")
                row = (session, b % nodes, goal[max(0, b - 9)], b % 2 == 0)
                self._put("route_request", row)
            case "leave":
                for relation in ("route_request", *OF_TARGETS):
                    for row in [r for r in tables[relation] if r[0] == SESSIONS[a % 3]]:
                        self._drop(relation, row)
            case "keep":
                self._keep(SESSIONS[a % 3])
            case "rule":
                for row in list(tables["route_rule"]):
                    self._drop("route_rule", row)
                self._put("route_rule", (float(b * 5), a * 1000))
            case "machine":
                row = next((r for r in tables["machine"] if r[0] == mid), None)
                if row is None:
                    self._put("machine", (mid, "again", rid, b % nodes, "L0", 1.0, 2.0))
                else:
                    self._drop("machine", row)
