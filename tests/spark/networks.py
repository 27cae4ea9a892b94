"""A building of floors under test: its log, and the walks that networkx finds in it."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import networkx as nx

from aspen.algebra.explain import plan_text
from aspen.log import RedisLog
from aspen.log.entry import Change, Declare, Register, Tick, Transaction
from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, Type
from aspen.streamsql import compile_query

INT, TEXT = Type.INT, Type.TEXT
EDGE = Relation("edge", (Column("src", INT), Column("dst", INT), Column("len", INT)))
EXIT = Relation("exit", (Column("node", INT),))
PLACE = Relation(
    "place", (Column("node", INT), Column("floor", TEXT)), key=("node",), network="floor"
)
RELATIONS = (EDGE, EXIT, PLACE)
VIEW = "way_out"
PLAN = compile_query(
    """WITH RECURSIVE way(node, cost) AS (
        SELECT x.node, 0 FROM exit x
      UNION
        SELECT e.dst, MIN(w.cost + e.len) FROM way w JOIN edge e ON e.src = w.node GROUP BY e.dst
    ) SELECT node, cost FROM way""",
    Catalog.of(RELATIONS),
).plan


@dataclass
class Building:
    """Floors of `side` by `side` places, joined by two stairs, whose doors open and close."""

    log: RedisLog
    floors: int = 4
    side: int = 4
    seed: int = 5
    graph: nx.DiGraph = field(default_factory=nx.DiGraph)
    at_position: dict[int, nx.DiGraph] = field(default_factory=dict)

    def __post_init__(self):
        self.random = random.Random(self.seed)
        self.doors = []
        self.exits = {0}
        side, area = self.side, self.side**2
        for place in range(self.floors * area):
            x, y = place % side, place % area // side
            near = [place + 1] if x + 1 < side else []
            near += [place + side] if y + 1 < side else []
            near += [place + area] if x == y and x in (0, side - 1) else []
            for other in near:
                if other < self.floors * area:
                    self.doors.append((place, other, self.random.randrange(1, 6)))

    def begin(self):
        """Declare and fill everything; doors are open."""
        places = range(self.floors * self.side**2)
        rows = [Change("place", 1, (one, f"floor {one // self.side**2}")) for one in places]
        rows += [Change("exit", 1, (one,)) for one in self.exits]
        rows += [change for door in self.doors for change in self._moved(door, 1)]
        self.log.append(
            [
                *(Declare(0.0, relation) for relation in RELATIONS),
                Register(0.0, VIEW, plan_text(PLAN)),
                Transaction(0.0, tuple(rows)),
            ]
        )
        self.at_position[self.log.head()] = self._now()

    def more(self, count):
        """Open or close doors, each in an append of its own, and sometimes an exit."""
        for step in range(count):
            door = self.random.choice(self.doors)
            closed = not self.graph.has_edge(*door[:2])
            changes = self._moved(door, 1 if closed else -1)
            if step % 5 == 4:
                place = self.random.randrange(self.floors * self.side**2)
                changes.append(Change("exit", -1 if place in self.exits else 1, (place,)))
                self.exits ^= {place}
            self.log.append([Transaction(1.0, tuple(changes)), Tick(1.0)])
            self._note()

    def answer(self, position=None):
        """Returns the rows the view must hold at a log position that was noted."""
        graph, exits = self.at_position[max(self.at_position) if position is None else position]
        if not exits:
            return {}
        found = nx.multi_source_dijkstra_path_length(graph, exits, weight="len")
        return dict.fromkeys(found.items(), 1)

    def _moved(self, door, weight):
        one, other, length = door
        for src, dst in ((one, other), (other, one)):
            if weight > 0:
                self.graph.add_edge(src, dst, len=length)
            else:
                self.graph.remove_edge(src, dst)
        return [
            Change("edge", weight, (one, other, length)),
            Change("edge", weight, (other, one, length)),
        ]

    def _note(self):
        head = self.log.head()
        # A batch may end between a transaction and the tick behind it.
        self.at_position[head] = self.at_position[head - 1] = self._now()

    def _now(self):
        graph = self.graph.copy()
        graph.add_nodes_from(self.exits)
        return graph, set(self.exits)
