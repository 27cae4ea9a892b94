"""What each standing view must hold, computed from scratch from the log.

Written on its own with networkx and plain loops over the current tables; it shares no code with
the engine and knows nothing of deltas. Slow and obvious on purpose.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import networkx as nx

from aspen.log.entry import Entry, Tick, Transaction
from tests.standing.details import details
from tests.standing.walks import Walks
from tests.standing.ways_out import ways_out

# stream -> indexes of the columns that windows partition by
READING_KEYS = {
    "seat_reading": (0,),
    "cpu_reading": (0,),
    "energy_reading": (0,),
    "light_reading": (1,),
    "temperature_reading": (0,),
    "rfid_reading": (0,),
    "pdu_power": (0, 1),
    "host_load": (0,),
    "host_process": (0, 1),
    "mote_status": (0,),
    "humidity_reading": (1,),
    "reading": (0,),
}
PASSAGES = {"walkway", "stairs", "elevator", "ramp", "escalator", "steps"}
K = 3  # so many people make a number that may be told
Rows = set[tuple[Any, ...]]


class Oracle:
    """The current tables, the newest readings and the time of the last tick."""

    def __init__(self) -> None:
        self.now_s: float | None = None
        self.tables: dict[str, Rows] = defaultdict(set)
        self.newest: dict[str, dict[Any, tuple[float, tuple[Any, ...]]]] = {
            stream: {} for stream in READING_KEYS
        }

    def feed(self, entry: Entry) -> None:
        """Take one log entry in."""
        match entry:
            case Tick(at_s):
                self.now_s = at_s
                self.tables["clock"] = {(at_s,)}
            case Transaction(at_s, changes):
                for change in changes:
                    keys = READING_KEYS.get(change.relation)
                    if keys is not None:
                        key = tuple(change.row[index] for index in keys)
                        self.newest[change.relation][key] = (at_s, change.row)
                    elif change.weight > 0:
                        self.tables[change.relation].add(change.row)
                    else:
                        self.tables[change.relation].discard(change.row)
            case _:
                pass  # declarations and registrations change no rows

    def _now(self, stream: str, range_s: float) -> list[tuple[Any, ...]]:
        horizon = -math.inf if self.now_s is None else self.now_s - range_s
        return [row for at_s, row in self.newest[stream].values() if at_s > horizon]

    def _current(self, stream: str, range_s: float) -> Rows:
        """Returns what is not too old, for its sensor's own interval where it has one."""
        now_s = -math.inf if self.now_s is None else self.now_s
        silent_s = {sid: limit_s for sid, _period_s, limit_s in self.tables["sensor_interval"]}
        newest = self.newest[stream].items()
        slow = {
            row for (sid,), (_, row) in newest if now_s - row[3] <= silent_s.get(sid, -math.inf)
        }
        return slow | set(self._now(stream, range_s))

    @staticmethod
    def _last(rows: Rows, room: int) -> Rows:
        """Returns room, value and time of the last reading of each room, the higher of equals."""
        last: dict[Any, tuple[float, float]] = {}
        for row in rows:
            last[row[room]] = max((row[3], row[2]), last.get(row[room], (-math.inf, -math.inf)))
        return {(rid, value, at_s) for rid, (at_s, value) in last.items()}

    def _graph(self, *, step_free: bool) -> Any:
        locked = {door[0] for door in self.tables["door"] if door[1] != "open"}
        graph: Any = nx.DiGraph()
        for src, dst, length_mm, flat, _way, door in self.tables["routing_edge"]:
            if door in locked or (step_free and not flat):
                continue
            known = graph.get_edge_data(src, dst, {"weight": math.inf})["weight"]
            graph.add_edge(src, dst, weight=min(length_mm, known))
        return graph

    def costs(self) -> dict[tuple[int, bool], dict[int, int]]:
        """Returns the cheapest walk from each demanded position to each node."""
        found: dict[tuple[int, bool], dict[int, int]] = {}
        for _session, node, _goal, step_free in self.tables["route_request"]:
            graph = self._graph(step_free=step_free)
            graph.add_node(node)
            found[node, step_free] = dict(nx.single_source_dijkstra_path_length(graph, node))
        return found

    def expected(self) -> dict[str, Rows]:
        """Returns the rows of every standing view, from scratch."""
        tables = self.tables
        seats = {row[0]: row for row in self._now("seat_reading", 120)}
        cpus = {row[0]: row for row in self._now("cpu_reading", 120)}
        reserved = {
            row[1]
            for row in tables["reservation"]
            if self.now_s is not None and row[2] <= self.now_s < row[3]
        }
        lights = self._current("light_reading", 120)
        climate = self._current("temperature_reading", 300)
        brightest: dict[str, float] = {}
        for rid, _sid, lux, _at in lights:
            brightest[rid] = max(lux, brightest.get(rid, 0.0))
        dark = {rid for rid, lux in brightest.items() if lux < 50}
        measured = {row[2] for row in tables["sensor"] if row[1] == "light"}
        silent = measured - set(brightest)
        reasons = (("reserved", reserved), ("dark", dark), ("no data", silent))
        closed = {(rid, reason) for reason, rooms in reasons for rid in rooms}
        open_rooms = {row[0] for row in tables["room"]} - {rid for rid, _ in closed}
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
        machines = [self._machine(m, used, closed, free) for m in tables["machine"]]
        rooms = [self._room(row, closed) for row in tables["room"]]
        states = {row[0]: row[1:] for row in (*machines, *rooms)}
        return {
            "closed_room": closed,
            "open_room": {(rid,) for rid in open_rooms},
            "free_machine": free,
            "machine_in_use": used,
            "machine_state": set(machines),
            "room_state": set(rooms),
            "room_occupancy": self._occupancy(tables["machine"], set(machines)),
            "newest_seat": {(mid, row[2], row[3]) for mid, row in seats.items()},
            "newest_processor": {(mid, row[2], row[3]) for mid, row in cpus.items()},
            "room_climate": {(rid, sid, value, at_s) for sid, rid, value, at_s in climate},
            "room_light": {(rid, sid, value, at_s) for rid, sid, value, at_s in lights},
            "newest_temperature": self._last(climate, room=1),
            "newest_light": self._last(lights, room=0),
            "door_state": {(row[0], row[1], row[5]) for row in tables["door"]},
            "walking_cost": {
                (origin, flat, node, cost)
                for (origin, flat), by_node in costs.items()
                for node, cost in by_node.items()
            },
            **self._walks(costs, free, states),
            **self._regions(),
            **self._visitors(nodes),
            **details(self.tables, self.now_s, self._now),
            **ways_out(self.tables),
        }

    @staticmethod
    def _room(row: tuple[Any, ...], closed: Rows) -> tuple[str, str, str]:
        """Returns the state of a room: the calendar's reason before the others."""
        reasons = {reason for rid, reason in closed if rid == row[0]}
        for reason in ("reserved", "no data", "dark"):
            if reason in reasons:
                return (row[0], "closed", reason)
        return (row[0], "passage" if row[3] in PASSAGES else "open", "")

    @staticmethod
    def _machine(
        row: tuple[Any, ...], used: Rows, closed: Rows, free: Rows
    ) -> tuple[str, str, str]:
        """Returns the state of a machine; what is known of the machine counts before its room."""
        mid, rid = row[0], row[2]
        for reason in ("seat", "cpu"):
            if (mid, reason) in used:
                return (mid, "in use", reason)
        for reason in ("reserved", "no data", "dark"):
            if (rid, reason) in closed:
                return (mid, "closed", reason)
        return (mid, "free" if mid in {f[0] for f in free} else "no data", "")

    @staticmethod
    def _occupancy(machines: Rows, states: Rows) -> Rows:
        """Returns taken machines, all that say how they are, and the share, by room."""
        known = {mid: state for mid, state, _reason in states if state != "no data"}
        there: dict[str, list[str]] = defaultdict(list)
        for row in machines:
            if row[0] in known:
                there[row[2]].append(known[row[0]])
        return {
            (rid, taken, len(them), 100.0 * taken / len(them))
            for rid, them in there.items()
            for taken in [them.count("in use")]
        }

    def _visitors(self, nodes: dict[int, Any]) -> dict[str, Rows]:
        allowed = {row[0]: row for row in self.tables["visitor"]}
        points = {row[0]: row for row in self.tables["room_point"]}
        heard: Rows = set()
        seen: Rows = set()
        there: dict[str, dict[Any, list[str]]] = {
            "room": defaultdict(list),
            "level": defaultdict(list),
        }
        for tag, _sid, node, _rssi, _at in self._now("rfid_reading", 60):
            if tag not in allowed:
                continue
            _, name, consent, simulated = allowed[tag]
            _, level, rid, x_m, y_m = nodes[node]
            heard.add((tag, name, consent, simulated, level, rid, x_m, y_m))
            there["room"][rid, level].append(consent)
            there["level"][level,].append(consent)
            if consent == "exact":
                seen.add((name, level, rid, x_m, y_m, consent, simulated))
            elif consent == "room":
                seen.add((name, level, rid, *points[rid][1:], consent, simulated))
        counts = {
            what: {
                (*place, len(them))
                for place, them in groups.items()
                if len(them) >= K and them.count("counted") not in range(1, K)
            }
            for what, groups in there.items()
        }
        return {
            "visitor_heard": heard,
            "visitor_position": seen,
            "visitors_in_room": counts["room"],
            "visitors_on_level": counts["level"],
        }

    def _walks(self, costs: Any, free: Rows, states: Any) -> dict[str, Rows]:
        graphs = {flat: self._graph(step_free=flat) for flat in (False, True)}
        return Walks(self.tables, graphs, costs, free, states).expected()

    def _regions(self) -> dict[str, Rows]:
        climate = self._current("temperature_reading", 300)
        hot = {row[0] for row in climate if row[2] >= 26}
        at = {row[0]: row[5:8] for row in self.tables["sensor"] if row[1] == "temperature"}
        graph: Any = nx.Graph()
        graph.add_nodes_from(hot)
        graph.add_edges_from(
            (a, b)
            for a in hot & at.keys()
            for b in hot & at.keys()
            if a < b and at[a][0] == at[b][0] and math.dist(at[a][1:], at[b][1:]) < 20.0
        )
        regions = {
            region: nx.node_connected_component(graph, sid)
            for region, sid in self.tables["region_seed"]
            if sid in hot
        }
        sizes = {(region, len(members)) for region, members in regions.items()}
        largest = max((size for _, size in sizes), default=0)
        rooms = {row[0]: row[2] for row in self.tables["sensor"]}
        in_room: dict[str, list[tuple[bool, str]]] = defaultdict(list)
        for region, members in regions.items():
            for sid in members & rooms.keys():
                in_room[rooms[sid]].append((len(members) != largest, region))
        return {
            "room_region": {
                (rid, min(parts)[1], not min(parts)[0]) for rid, parts in in_room.items()
            },
            "active_region": {(region, sid) for region, s in regions.items() for sid in s},
            "region_size": sizes,
            "largest_region": {(region, size) for region, size in sizes if size == largest},
        }
