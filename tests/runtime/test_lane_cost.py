"""What a lane may cost in a building of 2,500 nodes and 20 demanded positions, all standing views.

Bounds are CPU time, several times what was measured (aspen/runtime/README.md), so that only a
change of the order of growth breaks them.
"""

from __future__ import annotations

import random
import time

import pytest

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Entry, Register, Tick, Transaction
from aspen.runtime.lane import Lane
from aspen.runtime.own_relations import CLOCK
from aspen.streamsql import compile_views
from smartcis.catalog import CATALOG
from smartcis.queries import standing_queries

SIDE = 50
NOW_S = 1000.0
pytestmark = pytest.mark.timeout(120)


class Building:
    """A grid of corridors with a door on every tenth step, machines and sensors."""

    def __init__(self) -> None:
        self.random = random.Random(7)
        self.lane = Lane()
        self.doors: list[str] = []
        self.nodes = SIDE * SIDE
        machines = [f"m{n}" for n in range(200)]
        self.take(*(Declare(0.0, r) for r in CATALOG if r.name != CLOCK.name), Tick(NOW_S))
        self.insert("routing_edge", self._edges())
        self.insert("door", [self.door(d, "open") for d in self.doors])
        self.insert("routing_node", [(n, "L", f"r{n // 10}", 0.0, 0.0) for n in range(self.nodes)])
        self.insert("room", [(f"r{n}", "L", f"r{n}", "office") for n in range(250)])
        self.insert(
            "machine", [(m, m, f"r{n}", n * 10, "L", 0.0, 0.0) for n, m in enumerate(machines)]
        )
        self.insert("machine_software", [(m, "LaTeX") for m in machines[::2]])
        for machine in machines:
            self.sit(machine, 0.0)
            self.insert("cpu_reading", [(machine, "c", 5.0, NOW_S)])
        for number in range(20):
            self.ask(number)

    def _edges(self):
        rows = []
        for node in range(self.nodes):
            for other in ([node + 1] if (node + 1) % SIDE else []) + [node + SIDE]:
                if other >= self.nodes:
                    continue
                door = None
                if self.random.random() < 0.1:
                    door = f"d{len(self.doors)}"
                    self.doors.append(door)
                length_mm, free = self.random.randint(500, 5000), self.random.random() < 0.95
                way = "door" if door else "walk"
                rows += [(node, other, length_mm, free, way, door)]
                rows += [(other, node, length_mm, free, way, door)]
        return rows

    @staticmethod
    def door(door: str, state: str):
        return (door, state, 0.0, 0.0, "L")

    def take(self, *entries: Entry) -> float:
        """Apply one batch; give the CPU seconds it took."""
        began = time.process_time()
        changes = self.lane.apply(list(enumerate(entries, start=self.lane.position + 1)))
        took_s = time.process_time() - began
        assert [change.error for change in changes if change.error] == []
        return took_s

    def insert(self, relation: str, rows) -> float:
        return self.take(Transaction(NOW_S, tuple(Change(relation, 1, row) for row in rows)))

    def sit(self, machine: str, weight_kg: float) -> float:
        return self.insert("seat_reading", [(machine, "s", weight_kg, NOW_S)])

    def ask(self, number: int) -> float:
        node = self.random.randrange(self.nodes)
        return self.insert(
            "route_request", [(f"s{number}", node, "free-machine:LaTeX", number % 4 == 0)]
        )

    def turn(self, door: str, before: str, after: str) -> float:
        return self.take(
            Transaction(
                NOW_S,
                (
                    Change("door", -1, self.door(door, before)),
                    Change("door", 1, self.door(door, after)),
                ),
            )
        )


def median(seconds) -> float:
    return sorted(seconds)[len(seconds) // 2]


def test_costs_stay_in_their_order() -> None:
    building = Building()
    views = compile_views(standing_queries(), CATALOG)
    load_s = building.take(*(Register(NOW_S, v.name, plan_text(v.plan)) for v in views))
    assert len(building.lane.rows("walking_cost")) > 45_000
    assert load_s < 60
    assert median([building.ask(number) for number in range(20, 23)]) < 2
    turns = []
    for door in building.doors[:40]:
        turns += [building.turn(door, "open", "locked"), building.turn(door, "locked", "open")]
    assert median(turns) < 0.03
    assert median([building.sit("m4", 60.0 * (n % 2)) for n in range(9)]) < 0.02
    assert median([building.take(Tick(NOW_S + n)) for n in range(1, 10)]) < 0.002
    began = time.process_time()
    again = Lane.restore(building.lane.snapshot())
    assert time.process_time() - began < 60
    for view in views:
        assert again.rows(view.name) == building.lane.rows(view.name)
