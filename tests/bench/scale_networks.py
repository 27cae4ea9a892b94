"""A recursion split by floors on one lane and on two: what crosses borders, and what it costs.

    whole      all of it in one lane
    split      each lane has its floors; border rows cross in supersteps, one micro-batch each

How far each place of a high house is from the nearest exit: one search for all, so that only where
a row is can part it. What crosses is counted in one process, where the same lanes can be looked
into; the engine says how long a door takes until everybody sees it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import networkx as nx

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import Plan
from aspen.log.entry import Change, Declare, Entry, Register, Tick, Transaction
from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, Type
from aspen.runtime.assignment import Bordered
from aspen.runtime.borders import Borders
from aspen.streamsql import compile_query
from tests.bench.engine_rig import engine_running
from tests.bench.report import spread
from tests.bench.scale_campus_run import WrongAnswer, wait_for
from tests.experiments.border_meter import BorderMeter, metered
from tests.experiments.lanes import Lanes

VIEW = "way_out"
FLOORS, SIDE = 6, 20
STAIRS = 4
PAUSE_S = 0.2
MASTER = "local[2,4]"

EDGE = Relation(
    "edge",
    (Column("src", Type.INT), Column("dst", Type.INT), Column("length_mm", Type.INT, "mm")),
)
PLACE = Relation(
    "place", (Column("node", Type.INT), Column("floor", Type.TEXT)), key=("node",), network="floor"
)
EXIT = Relation("exit", (Column("node", Type.INT),), key=("node",))
RELATIONS = (EDGE, PLACE, EXIT)
WAY_OUT = """
WITH RECURSIVE way(node, cost_mm) AS (
  SELECT x.node, 0 FROM exit x
UNION
  SELECT e.dst, MIN(w.cost_mm + e.length_mm)
  FROM way w JOIN edge e ON e.src = w.node
  GROUP BY e.dst
)
SELECT node, cost_mm FROM way
"""

Way = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Door:
    """What moves: a step in both directions, there or not."""

    way: Way
    weight: int

    @property
    def entry(self) -> Transaction:
        """As it stands in the log."""
        one, other, length_mm = self.way
        both = ((one, other, length_mm), (other, one, length_mm))
        return Transaction(2.0, tuple(Change(EDGE.name, self.weight, row) for row in both))


class House:
    """Floors that are grids, joined by stairs, with an exit at the lowest one.

    Args:
        floors: above each other.
        seed: of everything that is drawn.
    """

    def __init__(self, floors: int = FLOORS, seed: int = 9) -> None:
        draw, area = Random(seed), SIDE**2
        self.floors = {node: f"floor {node // area}" for node in range(floors * area)}
        self.ways: list[Way] = []
        for node in self.floors:
            near = [node + 1] if node % SIDE < SIDE - 1 else []
            near += [node + SIDE] if node % area < area - SIDE else []
            self.ways += [(node, other, draw.randint(1_000, 5_000)) for other in near]
        for floor in range(1, floors):
            for place in draw.sample(range(area), STAIRS):
                self.ways.append(((floor - 1) * area + place, floor * area + place, 6_000))
        self.exits = (0, area - 1)
        self.shut: set[Way] = set()

    def opening(self) -> list[Entry]:
        """Returns all there is, as the log begins."""
        rows = [Change(PLACE.name, 1, row) for row in self.floors.items()]
        rows += [Change(EXIT.name, 1, (node,)) for node in self.exits]
        for one, other, length_mm in self.ways:
            rows += [
                Change(EDGE.name, 1, (one, other, length_mm)),
                Change(EDGE.name, 1, (other, one, length_mm)),
            ]
        declared = [Declare(0.0, relation) for relation in RELATIONS]
        # Registered behind the rows: floors that are known by then are shared out evenly.
        return [*declared, Transaction(0.0, tuple(rows)), Register(0.0, VIEW, plan_text(_plan()))]

    def move(self, draw: Random) -> Door:
        """Shut a way, or open it again if it is shut."""
        way = self.ways[draw.randrange(len(self.ways))]
        weight = 1 if way in self.shut else -1
        self.shut ^= {way}
        return Door(way, weight)

    def check(self, rows: Any) -> None:
        """Compare a view's rows with networkx.

        Raises:
            WrongAnswer: they differ.
        """
        graph: Any = nx.Graph()
        graph.add_nodes_from(self.floors)
        graph.add_weighted_edges_from(way for way in self.ways if way not in self.shut)
        found = nx.multi_source_dijkstra_path_length(graph, set(self.exits), weight="weight")
        expected = dict.fromkeys(found.items(), 1)
        if dict(rows) != expected:
            raise WrongAnswer(f"{len(dict(rows).items() ^ expected.items())} rows differ")


def measure(changes: int, say: Callable[[str], Any]) -> dict[str, Any]:
    """Move doors in one process, where all is counted, and in the engine on one lane and two."""
    found: dict[str, Any] = {"nodes": FLOORS * SIDE**2, "crossing": _counted(changes)}
    crossing = found["crossing"]
    say(f"networks: {crossing['shipped_rows']} of {crossing['rows']} rows shipped at the load")
    for lanes in (1, 2):
        found[f"lanes_{lanes}"] = one = _engine(lanes, changes)
        say(f"networks, {lanes} lanes: p95 {one['latency_ms']['p95']} ms")
    return found


def _counted(changes: int) -> dict[str, Any]:
    with metered() as meters:
        return _counted_by(meters, changes)


def _counted_by(meters: dict[Borders, BorderMeter], changes: int) -> dict[str, Any]:
    house, lanes, draw = House(), Lanes(2), Random(3)
    position = _apply(lanes, 0, house.opening())
    place = lanes.lanes[0].assignments.of(VIEW)
    if not isinstance(place, Bordered):
        raise WrongAnswer(f"the view is not split by networks: {place}")
    meter = meters[lanes.lanes[0].assignments.borders[place.crossing.name]]
    loaded = (lanes.supersteps, meter.derived, meter.shipped)
    here = [lane.borders._here.get(place.crossing.name) for lane in lanes.lanes]
    derived = sum(one.leaving.kept() for one in here if one is not None)
    supersteps: list[float] = []
    for _ in range(changes):
        before = lanes.supersteps
        position = _apply(lanes, position, [house.move(draw).entry])
        supersteps.append(lanes.supersteps - before)
        house.check(lanes.rows(VIEW))
    return {
        "rows": len(lanes.rows(VIEW)),
        "rows_by_lane": [len(lane.rows(VIEW)) for lane in lanes.lanes],
        "load_rounds": loaded[0],
        "derived_border_rows": derived,
        "told_rows": loaded[1],
        "shipped_rows": loaded[2],
        "doors": changes,
        "doors_with_rounds": sum(map(bool, supersteps)),
        "rounds_per_door": spread(supersteps),
        "told_rows_by_doors": meter.derived - loaded[1],
        "shipped_rows_by_doors": meter.shipped - loaded[2],
        "withdrawn_rows_by_doors": meter.withdrawn,
    }


def _apply(lanes: Lanes, position: int, entries: Sequence[Entry]) -> int:
    lanes.apply(list(enumerate(entries, start=position + 1)))
    return position + len(entries)


def _engine(lanes: int, changes: int) -> dict[str, Any]:
    house, draw = House(), Random(3)
    settings = {"SMARTCIS_ENGINE_MASTER": MASTER, "SMARTCIS_ENGINE_LANES": str(lanes)}
    with engine_running(settings) as rig:
        log, results = rig.log(), rig.results()
        wait_for(results, log.append([Tick(0.5)]))
        began_s = time.monotonic()
        wait_for(results, log.append(house.opening()))
        load_s = time.monotonic() - began_s
        late: dict[bool, list[float]] = {False: [], True: []}
        supersteps: list[float] = []
        for _ in range(changes):
            time.sleep(PAUSE_S)
            asked_ms = time.time() * 1000
            epoch = wait_for(results, log.append([house.move(draw).entry]))
            supersteps.append(epoch.timing_ms.get("supersteps", 0.0))
            late[bool(supersteps[-1])].append(epoch.timing_ms["written_at"] - asked_ms)
        snapshot = results.snapshot(VIEW)
        house.check({} if snapshot is None else snapshot.rows)
    return {
        "load_s": round(load_s, 1),
        "latency_ms": spread([*late[False], *late[True]]),
        **{
            f"latency_{'with' if crossed else 'without'}_rounds_ms": spread(found)
            for crossed, found in late.items()
            if found
        },
        "rounds_per_epoch": spread(supersteps),
    }


def _plan() -> Plan:
    return compile_query(WAY_OUT, Catalog.of(RELATIONS)).plan
