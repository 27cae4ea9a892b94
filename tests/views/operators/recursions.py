"""Recursions of every kind in one lane, under one strategy, beside the oracle."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st
from views import small_world as world
from views.lanes import assert_empty
from views.operators.laws import Tables, compiled

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Entry, Register, Transaction
from aspen.model.delta import Delta
from aspen.model.schema import Row
from aspen.runtime.lane import Lane
from aspen.views.operators.fixpoint import FixpointOperator
from aspen.views.operators.support.strategies import STRATEGIES
from tests.oracle import evaluate

SPELT = [
    *STRATEGIES,
    "absorption-eager(size=1)",
    "absorption-eager(size=3,interval=3)",
    "absorption-eager(nodes=12)",
    "absorption-lazy(nodes=9)",
]
"""Every strategy, eager with its options, and those with a budget they outgrow."""

QUERIES = {
    "reach": world.QUERIES["reach"],
    "region": world.QUERIES["region"],
    "wide": world.QUERIES["wide"],
    "hops": world.QUERIES["hops"],
    "way": """WITH RECURSIVE walk(name, node, cost) AS (
        SELECT s.name, s.node, 0 FROM seed s
      UNION
        SELECT w.name, r.dst, MIN(w.cost + r.cost) FROM walk w
        JOIN (SELECT w.src, w.dst, w.cost FROM wall w
              UNION ALL SELECT l.src, l.dst, l.cost FROM link l JOIN lit t ON t.node = l.src) r
          ON r.src = w.node
        GROUP BY w.name, r.dst
    ) SELECT name, node, cost FROM walk""",
    "doubling": """WITH RECURSIVE reach(src, dst) AS (
        SELECT l.src, l.dst FROM link l
      UNION SELECT a.src, b.dst FROM reach a JOIN reach b ON b.src = a.dst
    ) SELECT src, dst FROM reach""",
    "halves": """WITH RECURSIVE way(src, dst, cost) AS (
        SELECT l.src, l.dst, l.cost FROM link l
      UNION
        SELECT a.src, b.dst, MIN(a.cost + b.cost) FROM way a JOIN way b ON b.src = a.dst
        GROUP BY a.src, b.dst
    ) SELECT src, dst, cost FROM way""",
    "apart": """WITH RECURSIVE reach(src, dst) AS (
        SELECT l.src, l.dst FROM link l
      UNION SELECT a.src, b.dst FROM reach a JOIN reach b ON b.src = a.dst WHERE a.src <> b.dst
    ) SELECT src, dst FROM reach""",
    "halves apart": """WITH RECURSIVE way(src, dst, cost) AS (
        SELECT l.src, l.dst, l.cost FROM link l
      UNION
        SELECT a.src, b.dst, MIN(a.cost + b.cost) FROM way a JOIN way b ON b.src = a.dst
        WHERE a.src <> b.dst GROUP BY a.src, b.dst
    ) SELECT src, dst, cost FROM way""",
    "nearer": """WITH RECURSIVE go(node) AS (
        SELECT s.node FROM seed s
      UNION
        SELECT l.dst FROM go g JOIN link l ON l.src = g.node
        WHERE EXISTS (SELECT 1 FROM lit t WHERE t.node > g.node) AND l.cost < 3
    ) SELECT node FROM go""",
    "even": """WITH RECURSIVE odd(src, dst) AS (
        SELECT l.src, l.dst FROM link l
      UNION SELECT e.src, l.dst FROM even e JOIN link l ON l.src = e.dst
    ), even(src, dst) AS (
        SELECT o.src, l.dst FROM odd o JOIN link l ON l.src = o.dst
    ) SELECT src, dst FROM even""",
    "unlit": """WITH RECURSIVE go(node) AS (
        SELECT s.node FROM seed s
      UNION
        SELECT l.dst FROM go g JOIN link l ON l.src = g.node
        WHERE NOT EXISTS (SELECT 1 FROM lit t WHERE t.node = l.dst)
    ) SELECT node FROM go""",
}
PLANS = {name: compiled(sql) for name, sql in QUERIES.items()}

place = st.integers(0, 4)
cost = st.integers(0, 3)
rows: dict[str, st.SearchStrategy[Row]] = {
    "link": st.tuples(place, place, cost),
    "seed": st.tuples(st.sampled_from("ab"), place),
    "lit": st.tuples(place),
    "wall": st.tuples(place, place, cost),
}
most = {"link": 10, "seed": 3, "lit": 5, "wall": 3}
tables = st.fixed_dictionaries(
    {name: st.dictionaries(rows[name], st.just(1), max_size=most[name]) for name in rows}
)
NOTHING: Tables = {name: {} for name in rows}


class Host:
    """A lane with all recursions under one strategy."""

    def __init__(self, strategy: str, queries: Iterable[str] = QUERIES) -> None:
        self.queries = list(queries)
        self.lane = Lane()
        self.take(*(Declare(0.0, relation) for relation in world.BASE))
        self.take(*(Register(0.0, q, plan_text(PLANS[q]), strategy) for q in self.queries))

    def take(self, *entries: Entry) -> None:
        first = self.lane.position + 1
        for change in self.lane.apply(list(enumerate(entries, start=first))):
            assert change.error is None, change.error

    def change(self, *moves: tuple[str, Row, int]) -> None:
        self.take(Transaction(1.0, tuple(Change(name, times, row) for name, row, times in moves)))

    def rows(self) -> dict[str, Delta]:
        return {query: self.lane.rows(query) for query in self.queries}

    def fixpoints(self) -> list[FixpointOperator]:
        return [
            node for node in self.lane.circuit._known.values() if isinstance(node, FixpointOperator)
        ]

    def assert_empty(self) -> None:
        for fixpoint in self.fixpoints():
            assert_empty(fixpoint)


def answers(held: Tables, queries: Iterable[str] = QUERIES) -> dict[str, Delta]:
    """Returns what the oracle says."""
    contents = {relation.name: held.get(relation.name, {}) for relation in world.BASE}
    return {query: evaluate(PLANS[query], contents) for query in queries}
