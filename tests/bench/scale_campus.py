"""A made-up campus: buildings of floors that are grids, joined by stairs and by paths outside.

    building 0            building 1          a floor: a square of nodes, edges to neighbours
    floor 1  ▦              ▦                 on all sides, one in twenty with a door
             ┆ stairs       ┆
    floor 0  ▦ ═══ path ═══ ▦

All of it follows from a seed. Source: own.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import networkx as nx

from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, Row, Type

SOFTWARE = ("LaTeX", "MATLAB", "R", "AutoCAD")
DOOR_SHARE, OPEN_SHARE, OCCUPIED_SHARE = 0.05, 0.9, 0.5
STAIRS_PER_FLOOR = 4
STAIRS_MM, PATH_MM = 6_000, 60_000
VIEW = "nearest"

RELATIONS = (
    Relation(
        "routing_edge",
        (
            Column("src", Type.INT),
            Column("dst", Type.INT),
            Column("length_mm", Type.INT, "mm"),
            Column("door_id", Type.INT, nullable=True),
        ),
        deletable=False,
    ),
    Relation("door", (Column("door_id", Type.INT), Column("state", Type.TEXT)), key=("door_id",)),
    Relation(
        "machine",
        (Column("number", Type.INT), Column("mid", Type.TEXT), Column("node", Type.INT)),
        key=("number",),
    ),
    Relation("machine_software", (Column("number", Type.INT), Column("software", Type.TEXT))),
    Relation("occupied", (Column("number", Type.INT),), key=("number",)),
    Relation(
        "route_request",
        (Column("session", Type.TEXT), Column("node", Type.INT), Column("software", Type.TEXT)),
        key=("session",),
    ),
)
CATALOG = Catalog.of(RELATIONS)

RANKS = 1 << 20
"""Ranks of machines: `score = cost · RANKS + number` orders by cost, then by number."""

_PASSABLE = """
passable AS (
  SELECT e.src, e.dst, e.length_mm FROM routing_edge e WHERE e.door_id IS NULL
  UNION ALL
  SELECT e.src, e.dst, e.length_mm
  FROM routing_edge e JOIN door d ON d.door_id = e.door_id WHERE d.state = 'open'
)"""

FROM_RESOURCES = f"""
WITH RECURSIVE {_PASSABLE},
toward(software, node, score) AS (
  SELECT s.software, m.node, m.number
  FROM machine m JOIN machine_software s ON s.number = m.number
  WHERE NOT EXISTS (SELECT 1 FROM occupied o WHERE o.number = m.number)
UNION
  SELECT t.software, p.src, MIN(t.score + p.length_mm * {RANKS})
  FROM toward t JOIN passable p ON p.dst = t.node
  GROUP BY t.software, p.src
)
SELECT q.session, m.mid, m.node, t.score / {RANKS} AS cost_mm
FROM route_request q
JOIN toward t ON t.node = q.node AND t.software = q.software
JOIN machine m ON m.number = t.score % {RANKS}
"""
"""The nearest free machine of each request, recursive from the machines backwards.

One row per node and software, however many ask; from the requests it would be one per node and
request: 50 times as many for 200 of them.
"""

FROM_SOURCES = f"""
WITH RECURSIVE {_PASSABLE},
walk(session, software, node, cost_mm) AS (
  SELECT q.session, q.software, q.node, 0 FROM route_request q
UNION
  SELECT w.session, w.software, p.dst, MIN(w.cost_mm + p.length_mm)
  FROM walk w JOIN passable p ON p.src = w.node
  GROUP BY w.session, w.software, p.dst
)
SELECT w.session, MIN(w.cost_mm * {RANKS} + m.number) AS score
FROM walk w
JOIN machine m ON m.node = w.node
JOIN machine_software s ON s.number = m.number AND s.software = w.software
WHERE NOT EXISTS (SELECT 1 FROM occupied o WHERE o.number = m.number)
GROUP BY w.session
"""
"""The same from the requests onwards: it falls apart by request, so that lanes can share it."""


@dataclass(frozen=True, slots=True)
class Size:
    """How large a campus is."""

    buildings: int
    floors: int
    side: int
    machines: int
    requests: int

    @property
    def nodes(self) -> int:
        """How many nodes it has."""
        return self.buildings * self.floors * self.side**2


LARGE = Size(buildings=10, floors=4, side=50, machines=500, requests=200)
SMALL = Size(buildings=2, floors=2, side=25, machines=60, requests=200)


class Campus:
    """One campus, and the state of its doors and machines.

    Args:
        seed: of everything that is drawn.
    """

    def __init__(self, size: Size, seed: int = 4) -> None:
        draw = Random(seed)
        self.size = size
        self.edges: list[tuple[int, int, int, int | None]] = []
        self._doors = 0
        self._grids(draw)
        self.open = [draw.random() < OPEN_SHARE for _ in range(self._doors)]
        places = draw.sample(range(size.nodes), size.machines)
        self.machines = [(n, f"machine {n}", node) for n, node in enumerate(places)]
        self.software = {n: draw.sample(SOFTWARE, draw.randint(1, 2)) for n in range(size.machines)}
        self.occupied = {n for n in range(size.machines) if draw.random() < OCCUPIED_SHARE}
        self.requests = [
            (f"session {n}", draw.randrange(size.nodes), draw.choice(SOFTWARE))
            for n in range(size.requests)
        ]
        self._graph = self._networkx()

    def _grids(self, draw: Random) -> None:
        size, side = self.size, self.size.side
        floor_nodes = side * side
        building_nodes = floor_nodes * size.floors
        for floor in range(size.buildings * size.floors):
            first = floor * floor_nodes
            for node in range(first, first + floor_nodes):
                if (node - first) % side < side - 1:
                    self._edge(node, node + 1, draw.randint(1_000, 5_000), draw)
                if node + side < first + floor_nodes:
                    self._edge(node, node + side, draw.randint(1_000, 5_000), draw)
            if floor % size.floors:
                for place in draw.sample(range(floor_nodes), STAIRS_PER_FLOOR):
                    self._edge(first - floor_nodes + place, first + place, STAIRS_MM, draw)
        for building in range(size.buildings):
            other = (building + 1) % size.buildings
            if other != building:
                here, there = (
                    number * building_nodes + draw.randrange(floor_nodes)
                    for number in (building, other)
                )
                self._edge(here, there, PATH_MM, draw)

    def _edge(self, one: int, other: int, length_mm: int, draw: Random) -> None:
        door = None
        if draw.random() < DOOR_SHARE:
            door, self._doors = self._doors, self._doors + 1
        self.edges += [(one, other, length_mm, door), (other, one, length_mm, door)]

    def rows(self) -> Iterator[tuple[str, Sequence[Row]]]:
        """Returns the contents of each relation."""
        yield "routing_edge", self.edges
        yield "door", [self.door_row(door) for door in range(self._doors)]
        yield "machine", self.machines
        yield "machine_software", [(n, s) for n, held in self.software.items() for s in held]
        yield "occupied", [(n,) for n in sorted(self.occupied)]
        yield "route_request", self.requests

    def door_row(self, door: int) -> Row:
        """Returns a door as a row."""
        return (door, "open" if self.open[door] else "locked")

    def toggle(self, door: int) -> tuple[Row, Row]:
        """Lock or open a door.

        Returns:
            Its row before and after.
        """
        before = self.door_row(door)
        self.open[door] = not self.open[door]
        for number in self._behind[door]:
            one, other, length_mm, _ = self.edges[number]
            if self.open[door]:
                self._graph.add_edge(other, one, score=length_mm * RANKS)
            else:
                self._graph.remove_edge(other, one)
        return before, self.door_row(door)

    def doors_on_ways(self) -> list[int]:
        """Returns the doors that lie on some request's way to its nearest machine."""
        found: dict[int, None] = {}
        at = {(e[0], e[1]): e[3] for e in self.edges if e[3] is not None and self.open[e[3]]}
        for software in SOFTWARE:
            reached, parent = self._dijkstra(software)
            for _, node, wanted in self.requests:
                here = node
                while wanted == software and here in reached and parent[here] >= 0:
                    door = at.get((here, parent[here]))
                    if door is not None:
                        found[door] = None
                    here = parent[here]
        return list(found)

    @property
    def doors(self) -> int:
        """How many doors there are."""
        return self._doors

    def nearest(self) -> set[Row]:
        """Compute the view from scratch with networkx: one search per software."""
        found: set[Row] = set()
        for software in SOFTWARE:
            start = -1  # one node before all machines that are free and have it
            graph = self._graph
            begun = [(n, at) for n, _, at in self.machines if self._serves(n, software)]
            graph.add_node(start)  # also where no machine serves
            graph.add_weighted_edges_from(((start, at, n) for n, at in begun), weight="score")
            scores = nx.single_source_dijkstra_path_length(graph, start, weight="score")
            graph.remove_node(start)
            for session, node, wanted in self.requests:
                if wanted == software and node in scores:
                    cost_mm, number = divmod(int(scores[node]), RANKS)
                    found.add((session, *self.machines[number][1:], cost_mm))
        return found

    def _serves(self, machine: int, software: str) -> bool:
        return machine not in self.occupied and software in self.software[machine]

    def _networkx(self) -> Any:
        self._behind: dict[int, list[int]] = {}
        for number, edge in enumerate(self.edges):
            if edge[3] is not None:
                self._behind.setdefault(edge[3], []).append(number)
        graph: Any = nx.DiGraph()
        graph.add_nodes_from(range(self.size.nodes))
        # Against the walk, from machines to those who look for them.
        graph.add_weighted_edges_from(
            (
                (other, one, length_mm * RANKS)
                for one, other, length_mm, door in self.edges
                if door is None or self.open[door]
            ),
            weight="score",
        )
        return graph

    def _dijkstra(self, software: str) -> tuple[dict[int, int], dict[int, int]]:
        """Returns the score of each node, and the next node on its way, -1 at a machine."""
        reached: dict[int, int] = {}
        parent: dict[int, int] = {}
        heap = [(n, at, -1) for n, _, at in self.machines if self._serves(n, software)]
        heapq.heapify(heap)
        while heap:
            score, node, onwards = heapq.heappop(heap)
            if node in reached:
                continue
            reached[node], parent[node] = score, onwards
            for before, edge in self._graph[node].items():
                if before not in reached:
                    heapq.heappush(heap, (score + edge["score"], before, node))
        return reached, parent
