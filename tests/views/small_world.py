"""A small world for random tests: a few relations, queries that use every operator, and a model.

The model knows nothing of the engine: it keeps tables and arrivals, and asks the oracle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from aspen.algebra.plan import Plan, Window, children
from aspen.log.entry import Change, Declare, Entry, Register, Tick, Transaction
from aspen.model.catalog import Catalog
from aspen.model.delta import Delta, accumulate
from aspen.model.schema import Column, Relation, Row, SourceKind, Type
from aspen.streamsql import Compiled, compile_views
from tests.oracle import evaluate

INT, TEXT, FLOAT, BOOL = Type.INT, Type.TEXT, Type.FLOAT, Type.BOOL

LINK = Relation("link", (Column("src", INT), Column("dst", INT), Column("cost", INT)))
WALL = Relation(
    "wall", (Column("src", INT), Column("dst", INT), Column("cost", INT)), deletable=False
)
SEED = Relation("seed", (Column("name", TEXT), Column("node", INT)))
LIT = Relation("lit", (Column("node", INT),))
ITEM = Relation(
    "item",
    (
        Column("k", INT),
        Column("g", TEXT, nullable=True),
        Column("x", INT, nullable=True),
        Column("f", FLOAT, nullable=True),
    ),
)
PAIR = Relation("pair", (Column("k", INT, nullable=True), Column("v", INT)))
READING = Relation(
    "reading",
    (Column("sid", INT), Column("v", INT), Column("at_s", FLOAT)),
    kind=SourceKind.STREAM,
    key=("sid",),
)
CLOCK = Relation("clock", (Column("now_s", FLOAT),))

BASE = (LINK, WALL, SEED, LIT, ITEM, PAIR, READING)
CATALOG = Catalog.of((*BASE, CLOCK))

QUERIES = {
    "picked": "SELECT i.k, i.x + 1 AS y FROM item i WHERE i.x > 1 OR i.g IS NULL",
    "joined": "SELECT i.k, i.g, p.v FROM item i JOIN pair p ON p.k = i.k AND p.v <> i.x",
    "theta": "SELECT i.k, p.v FROM item i JOIN pair p ON p.v < i.x",
    "self_joined": "SELECT a.k, b.v FROM pair a JOIN pair b ON b.k = a.v",
    "lonely": "SELECT i.k, i.g FROM item i WHERE NOT EXISTS (SELECT 1 FROM pair p WHERE p.k = i.k)",
    "lonelier": """SELECT i.k, i.g FROM item i
        WHERE NOT EXISTS (SELECT 1 FROM pair p WHERE p.k = i.k AND p.v > i.x)""",
    "both": "SELECT k FROM item UNION ALL SELECT v FROM pair",
    "either": "SELECT DISTINCT k FROM both",
    "grouped": """SELECT i.g, COUNT(*) AS n, COUNT(i.x) AS nx, SUM(i.x) AS sx, MIN(i.x) AS lo,
        MAX(i.f) AS hi, AVG(i.f) AS af, SUM(i.f) AS sf, COUNT(DISTINCT i.x) AS dx
        FROM item i GROUP BY i.g""",
    "whole": "SELECT COUNT(*) AS n, SUM(f) AS s, AVG(x) AS a FROM item",
    "frequent": "SELECT g, COUNT(*) AS n FROM item GROUP BY g HAVING COUNT(*) > 1",
    "last": "SELECT r.sid, r.v FROM reading [PARTITION BY sid ROWS 1] r",
    "recent": "SELECT r.sid, r.v FROM reading [PARTITION BY sid ROWS 1 RANGE 10 SECONDS] r",
    "two": "SELECT r.sid, r.v, r.at_s FROM reading [PARTITION BY sid ROWS 2 RANGE 15 SECONDS] r",
    "three": "SELECT r.sid, r.v FROM reading [ROWS 3] r",
    "minute": "SELECT r.v, COUNT(*) AS n FROM reading [RANGE 12 SECONDS] r GROUP BY r.v",
    "late": "SELECT r.sid, c.now_s FROM recent r JOIN clock c ON c.now_s > r.v",
    "road": """SELECT w.src, w.dst, w.cost FROM wall w
        UNION ALL SELECT l.src, l.dst, l.cost FROM link l JOIN lit t ON t.node = l.src""",
    "reach": """WITH RECURSIVE reach(src, dst) AS (
            SELECT l.src, l.dst FROM link l
          UNION SELECT r.src, l.dst FROM reach r JOIN link l ON l.src = r.dst
        ) SELECT src, dst FROM reach""",
    "way": """WITH RECURSIVE walk(name, node, cost) AS (
            SELECT s.name, s.node, 0 FROM seed s
          UNION
            SELECT w.name, r.dst, MIN(w.cost + r.cost) FROM walk w JOIN road r ON r.src = w.node
            GROUP BY w.name, r.dst
        ) SELECT name, node, cost FROM walk""",
    "wide": """WITH RECURSIVE flow(node, width) AS (
            SELECT s.node, 9 FROM seed s
          UNION
            SELECT l.dst, MAX(least(f.width, l.cost)) FROM flow f JOIN link l ON l.src = f.node
            GROUP BY l.dst
        ) SELECT node, width FROM flow""",
    "region": """WITH RECURSIVE region(name, node) AS (
            SELECT s.name, s.node FROM seed s JOIN lit t ON t.node = s.node
          UNION
            SELECT r.name, n.dst FROM region r JOIN link n ON n.src = r.node
            JOIN lit t ON t.node = n.dst
        ) SELECT name, node FROM region""",
    "size": "SELECT name, COUNT(node) AS n FROM region GROUP BY name",
    "hops": """WITH RECURSIVE hop(node, n) AS (
            SELECT s.node, 0 FROM seed s
          UNION SELECT l.dst, h.n + 1 FROM hop h JOIN link l ON l.src = h.node WHERE h.n < 3
        ) SELECT node, n FROM hop""",
    "parent": """SELECT far.name, far.node, MIN(near.node) AS parent
        FROM way near JOIN road r ON r.src = near.node
        JOIN way far ON far.name = near.name AND far.node = r.dst
        WHERE far.cost = near.cost + r.cost GROUP BY far.name, far.node""",
}


def compiled() -> list[Compiled]:
    """Compile the queries, each after those it reads."""
    return compile_views({n: f"CREATE VIEW {n} AS {q}" for n, q in QUERIES.items()}, CATALOG)


VIEWS = {one.name: one for one in compiled()}

node = st.integers(0, 4)
small = st.integers(0, 3)
name = st.sampled_from(["a", "b"])
quarter = st.sampled_from([0.1, 0.2, 0.3, 1e16, -1e16, 2.5])

rows: dict[str, st.SearchStrategy[Row]] = {
    "link": st.tuples(node, node, st.integers(0, 4)),
    "wall": st.tuples(node, node, st.integers(0, 4)),
    "seed": st.tuples(name, node),
    "lit": st.tuples(node),
    "item": st.tuples(small, st.none() | name, st.none() | small, st.none() | quarter),
    "pair": st.tuples(st.none() | small, small),
}

inserts = st.one_of(
    *[st.tuples(st.just("ins"), st.just(relation), row) for relation, row in rows.items()]
)
weights = {"link": 4, "seed": 1, "lit": 2, "item": 2, "pair": 2, "wall": 1}
deletes = st.tuples(
    st.just("del"),
    st.sampled_from([relation for relation, times in weights.items() for _ in range(times)]),
    st.integers(0, 30),
)
readings = st.tuples(st.just("read"), st.just("reading"), st.tuples(small, small))
ticks = st.tuples(st.just("tick"), st.just(""), st.integers(1, 9))
operations = st.one_of(inserts, inserts, inserts, deletes, deletes, readings, ticks)
histories = st.lists(st.lists(operations, max_size=6), min_size=1, max_size=8)


@dataclass
class Model:
    """Tables, arrivals and time, as plain as can be."""

    tables: dict[str, Delta] = field(
        default_factory=lambda: {relation.name: {} for relation in (*BASE, CLOCK)}
    )
    arrivals: list[tuple[float, Row]] = field(default_factory=list)
    at_s: float = 100.0
    now_s: float = float("-inf")
    since: int = 0

    def entries(self, operation: tuple[str, str, Any]) -> list[Entry]:
        """Apply one operation, and give its log entries."""
        kind, relation, what = operation
        table = self.tables.get(relation, {})
        if kind == "ins":
            accumulate(table, what, 1)
            return [Transaction(self.at_s, (Change(relation, 1, what),))]
        if kind == "del":
            if not table:
                return []
            row = sorted(table, key=repr)[what % len(table)]
            accumulate(table, row, -1)
            return [Transaction(self.at_s, (Change(relation, -1, row),))]
        if kind == "read":
            row = (*what, self.at_s)
            self.arrivals.append((self.at_s, row))
            return [Transaction(self.at_s, (Change(relation, 1, row),))]
        self.at_s += what
        self.now_s = self.at_s
        self.tables["clock"] = {(self.now_s,): 1}
        return [Tick(self.at_s)]

    def answers(self) -> dict[str, Delta]:
        """Returns what every view must hold."""
        contents: dict[str, Delta] = dict(self.tables)
        for view in VIEWS.values():
            held = {w: self.held(w) for w in windows_of(view.plan)}
            contents[view.name] = evaluate(view.plan, contents, held)
        return {view: contents[view] for view in VIEWS}

    def held(self, window: Window) -> Delta:
        """Returns a window's rows by its law."""
        names = [column.name for column in window.columns]
        places = [names.index(column) for column in window.partition_by]
        parts: dict[Row, list[tuple[float, Row]]] = {}
        for at_s, row in self.arrivals:
            parts.setdefault(tuple(row[place] for place in places), []).append((at_s, row))
        inside: Delta = {}
        for part in parts.values():
            for at_s, row in part if window.rows is None else part[-window.rows :]:
                if window.range_s is None or at_s > self.now_s - window.range_s:
                    accumulate(inside, row, 1)
        return inside


def windows_of(plan: Plan) -> Iterator[Window]:
    """Returns the windows of a plan."""
    if isinstance(plan, Window):
        yield plan
    for child in children(plan):
        yield from windows_of(child)


def declarations() -> list[Entry]:
    """Returns the entries that begin the world."""
    return [Declare(0.0, relation) for relation in BASE]


def registrations(text: Any) -> list[Entry]:
    """Returns the entries that register all views; `text` prints a plan."""
    return [Register(0.0, view.name, text(view.plan)) for view in VIEWS.values()]
