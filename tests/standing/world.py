"""A small building that remembers its tables, and says what each standing view must hold.

Written on its own with networkx and plain loops over the current tables; it shares no code with
the engine and knows nothing of deltas.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from dataclasses import dataclass, field

import networkx as nx

from aspen.log.entry import Change, Tick, Transaction

START_S = 1_700_000_000.0
SOFTWARE = ("LaTeX", "Word", "R")
SESSIONS = ("anna", "ben", "chris")
TAGS = ("t1", "t2", "t3")
READINGS = (
    "seat_reading",
    "cpu_reading",
    "light_reading",
    "temperature_reading",
    "rfid_reading",
)


@dataclass
class World:
    """The current tables, the newest readings, and the time of the last tick.

    Args:
        seed: shapes the building: nodes, corridors, doors, rooms, machines.
    """

    seed: int
    now_s: float | None = None
    at_s: float = START_S + 0.5
    tables: dict[str, set[tuple]] = field(default_factory=lambda: defaultdict(set))
    # stream -> partition key -> (log time, row)
    newest: dict[str, dict[object, tuple[float, tuple]]] = field(
        default_factory=lambda: {stream: {} for stream in READINGS}
    )
    pending: list[Change] = field(default_factory=list)

    def build(self) -> Transaction:
        """Lay out the building and give its rows as one transaction."""
        rng = random.Random(self.seed)
        nodes = rng.randint(6, 12)
        rooms = [f"room{i}" for i in range(rng.randint(2, 4))]
        for room in rooms:
            self._put("room", (room, "L0", room.title(), "room"))
        for node in range(nodes):
            x, y = rng.uniform(0, 60), rng.uniform(0, 30)
            self._put("routing_node", (node, f"L{node % 2}", rng.choice(rooms), x, y))
        doors = [f"door{i}" for i in range(3)]
        for door in doors:
            self._put("door", (door, "open", 0.0, 0.0, "L0"))
        pairs = {(a, a + 1) for a in range(nodes - 1)}
        pairs |= {tuple(sorted(rng.sample(range(nodes), 2))) for _ in range(nodes)}
        for a, b in sorted(pairs):
            door = rng.choice([None, None, *doors])
            length_mm, flat = rng.randint(1, 6) * 1000, rng.random() < 0.8
            way = "door" if door else "walk" if flat else "stairs"
            self._put("routing_edge", (a, b, length_mm, flat, way, door))
            self._put("routing_edge", (b, a, length_mm, flat, way, door))
        for i in range(4):
            node = rng.randrange(nodes)
            self._put("machine", (f"m{i}", f"host{i}", rng.choice(rooms), node, "L0", 1.0, 2.0))
            self._put("machine_software", (f"m{i}", rng.choice(SOFTWARE)))
        for i in range(6):
            x = rng.uniform(0, 60)
            self._put("sensor", (f"s{i}", "temperature", rooms[0], None, 0, "L0", x, 0.0, True))
        for i in range(3):
            self._put("region_seed", (f"region{i}", f"s{i}"))
        return self.commit()

    # ── changing ──────────────────────────────────────────────────────────────────────────────

    def _put(self, relation: str, row: tuple) -> None:
        if row not in self.tables[relation]:
            self.tables[relation].add(row)
            self.pending.append(Change(relation, 1, row))

    def _drop(self, relation: str, row: tuple) -> None:
        if row in self.tables[relation]:
            self.tables[relation].remove(row)
            self.pending.append(Change(relation, -1, row))

    def _read(self, stream: str, key: object, row: tuple) -> None:
        self.newest[stream][key] = (self.at_s, row)
        self.pending.append(Change(stream, 1, row))

    def commit(self) -> Transaction:
        """Give what changed since the last commit as one log entry."""
        changes, self.pending = tuple(self.pending), []
        return Transaction(self.at_s, changes)

    def tick(self, seconds: int) -> Tick:
        """Let time pass; ticks fall on whole seconds, readings between them."""
        self.at_s += seconds
        self.now_s = math.floor(self.at_s)
        return Tick(self.now_s)

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
                self._read("seat_reading", mid, (mid, f"seat-{mid}", weight, self.at_s))
            case "cpu":
                busy = (5.0, 95.0)[b % 2]
                self._read("cpu_reading", mid, (mid, f"cpu-{mid}", busy, self.at_s))
            case "light":
                sid = f"light-{rid}-{b % 2}"
                lux = (3.0, 300.0)[b // 2 % 2]
                self._read("light_reading", sid, (rid, sid, lux, self.at_s))
            case "temperature":
                sid, celsius = f"s{a % 6}", (20.0, 31.0)[b % 2]
                self._read("temperature_reading", sid, (sid, rooms[0], celsius, self.at_s))
            case "rfid":
                tag = TAGS[a % 3]
                self._read("rfid_reading", tag, (tag, "hall", b % nodes, -60.0, self.at_s))
            case "door":
                old = sorted(tables["door"])[a % 3]
                self._drop("door", old)
                state = "locked" if old[1] == "open" else "open"
                self._put("door", (old[0], state, *old[2:]))
            case "software":
                row = (mid, SOFTWARE[b % 3])
                change = self._drop if row in tables["machine_software"] else self._put
                change("machine_software", row)
            case "reserve":
                start = (self.now_s or START_S) + b % 5 * 10
                self._put("reservation", (a, rid, start, start + 25.0, "seminar"))
            case "cancel":
                if tables["reservation"]:
                    rows = sorted(tables["reservation"])
                    self._drop("reservation", rows[a % len(rows)])
            case "ask":
                session = SESSIONS[a % 3]
                self.act("leave", a, 0)
                row = (session, b % nodes, SOFTWARE[b // 3 % 3], b % 2 == 0)
                self._put("route_request", row)
            case "leave":
                for row in [r for r in tables["route_request"] if r[0] == SESSIONS[a % 3]]:
                    self._drop("route_request", row)
            case "machine":
                row = next((r for r in tables["machine"] if r[0] == mid), None)
                if row is None:
                    self._put("machine", (mid, "again", rid, b % nodes, "L0", 1.0, 2.0))
                else:
                    self._drop("machine", row)

    # ── what the views must hold ──────────────────────────────────────────────────────────────

    def _now(self, stream: str, range_s: float) -> list[tuple]:
        horizon = -math.inf if self.now_s is None else self.now_s - range_s
        return [row for at_s, row in self.newest[stream].values() if at_s > horizon]

    def _graph(self, *, step_free: bool) -> nx.DiGraph:
        locked = {door[0] for door in self.tables["door"] if door[1] != "open"}
        graph = nx.DiGraph()
        for src, dst, length_mm, flat, _way, door in self.tables["routing_edge"]:
            if door in locked or (step_free and not flat):
                continue
            known = graph.get_edge_data(src, dst, {"weight": math.inf})["weight"]
            graph.add_edge(src, dst, weight=min(length_mm, known))
        return graph

    def costs(self) -> dict[tuple[int, bool], dict[int, int]]:
        """Give the cheapest walk from each demanded position to each node."""
        found = {}
        for _session, node, _software, step_free in self.tables["route_request"]:
            graph = self._graph(step_free=step_free)
            graph.add_node(node)
            found[node, step_free] = nx.single_source_dijkstra_path_length(graph, node)
        return found

    def expected(self) -> dict[str, set[tuple]]:
        """Give the rows of every standing view, from scratch."""
        tables = self.tables
        seats = {row[0]: row for row in self._now("seat_reading", 120)}
        cpus = {row[0]: row for row in self._now("cpu_reading", 120)}
        reserved = {
            row[1]
            for row in tables["reservation"]
            if self.now_s is not None and row[2] <= self.now_s < row[3]
        }
        brightest: dict[str, float] = {}
        for rid, _sid, lux, _at in self._now("light_reading", 120):
            brightest[rid] = max(lux, brightest.get(rid, 0.0))
        dark = {rid for rid, lux in brightest.items() if lux < 50}
        closed = {(r, "reserved") for r in reserved} | {(r, "dark") for r in dark}
        open_rooms = {row[0] for row in tables["room"]} - reserved - dark
        free = {
            (m[0], m[2], m[3])
            for m in tables["machine"]
            if m[2] in open_rooms
            and m[0] in seats
            and m[0] in cpus
            and seats[m[0]][2] < 5
            and cpus[m[0]][2] < 80
        }
        used = {(mid, "seat") for mid, row in seats.items() if row[2] >= 5}
        used |= {(mid, "cpu") for mid, row in cpus.items() if row[2] >= 80}
        costs = self.costs()
        nodes = {row[0]: row for row in tables["routing_node"]}
        return {
            "closed_room": closed,
            "open_room": {(rid,) for rid in open_rooms},
            "free_machine": free,
            "machine_in_use": used,
            "machine_vitals": {
                (mid, seats[mid][2], cpus[mid][2], max(seats[mid][3], cpus[mid][3]))
                for mid in seats.keys() & cpus.keys()
            },
            "door_state": {(row[0], row[1]) for row in tables["door"]},
            "visitor_position": {
                (tag, node, nodes[node][1], nodes[node][3], nodes[node][4], at_s)
                for tag, _sid, node, _rssi, at_s in self._now("rfid_reading", 60)
            },
            "walking_cost": {
                (origin, flat, node, cost)
                for (origin, flat), by_node in costs.items()
                for node, cost in by_node.items()
            },
            **self._routes(costs, free, nodes),
            **self._regions(),
        }

    def _routes(self, costs, free, nodes) -> dict[str, set[tuple]]:
        nearest, steps = set(), set()
        for session, origin, software, flat in self.tables["route_request"]:
            reach = costs[origin, flat]
            offers = sorted(
                (reach[node], mid, node)
                for mid, _rid, node in free
                if node in reach and (mid, software) in self.tables["machine_software"]
            )
            if not offers:
                continue
            cost, mid, node = offers[0]
            nearest.add((session, mid, node, cost))
            graph = self._graph(step_free=flat)
            while True:
                at = nodes[node]
                steps.add((session, node, reach[node], at[1], at[3], at[4]))
                if reach[node] == 0:
                    break
                node = min(
                    before
                    for before, _, data in graph.in_edges(node, data=True)
                    if before in reach and reach[before] + data["weight"] == reach[node]
                )
        return {"nearest_machine": nearest, "route_step": steps}

    def _regions(self) -> dict[str, set[tuple]]:
        hot = {row[0] for row in self._now("temperature_reading", 300) if row[2] >= 26}
        at = {row[0]: row[6] for row in self.tables["sensor"]}
        graph = nx.Graph()
        graph.add_nodes_from(hot)
        graph.add_edges_from(
            (a, b) for a in hot for b in hot if a < b and abs(at[a] - at[b]) < 20.0
        )
        regions = {
            region: nx.node_connected_component(graph, sid)
            for region, sid in self.tables["region_seed"]
            if sid in hot
        }
        sizes = {(region, len(members)) for region, members in regions.items()}
        largest = max((size for _, size in sizes), default=0)
        return {
            "active_region": {(region, sid) for region, s in regions.items() for sid in s},
            "region_size": sizes,
            "largest_region": {(region, size) for region, size in sizes if size == largest},
        }
