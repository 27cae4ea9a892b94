"""A lane over one table of edges, and queries that ask much of it."""

from __future__ import annotations

from aspen.algebra.explain import plan_text
from aspen.log.entry import (
    Change,
    Declare,
    Transaction,
)
from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, Type
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query

EDGE = Relation("edge", (Column("src", Type.INT), Column("dst", Type.INT)))
CATALOG = Catalog.of((EDGE,))
CROSS = "SELECT COUNT(*) AS n FROM edge a, edge b"
REACH = """WITH RECURSIVE reach(src, dst) AS (
    SELECT src, dst FROM edge UNION SELECT r.src, e.dst FROM reach r JOIN edge e ON e.src = r.dst
) SELECT src, dst FROM reach"""
FAR = """WITH RECURSIVE far(src, dst, hops) AS (
    SELECT src, dst, 1 FROM edge
  UNION SELECT f.src, e.dst, MIN(f.hops + 1) FROM far f JOIN edge e ON e.src = f.dst
  GROUP BY f.src, e.dst
) SELECT src, dst, hops FROM far"""
SQUARED = """WITH RECURSIVE reach(src, dst) AS (
    SELECT src, dst FROM edge UNION SELECT a.src, b.dst FROM reach a JOIN reach b ON a.dst = b.src
) SELECT src, dst FROM reach"""
APART = SQUARED.replace("a.dst = b.src", "a.dst = b.src WHERE a.src <> b.dst")
"""Joined with itself, and no composition: a recursion that no walk keeps."""
LONELY = """SELECT a.src FROM edge a
WHERE NOT EXISTS (SELECT * FROM edge b WHERE b.src + a.src = -1)"""
HEAVY = {
    "cross": CROSS,
    "reach": REACH,
    "far": FAR,
    "squared": SQUARED,
    "apart": APART,
    "lonely": LONELY,
}
MODEST = "SELECT src, COUNT(*) AS n FROM edge GROUP BY src"


def text_of(sql: str) -> str:
    return plan_text(compile_query(sql, CATALOG).plan)


def edges(rows: range, weight: int = 1) -> Transaction:
    return Transaction(1.0, tuple(Change("edge", weight, (n, n + 1)) for n in rows))


class Driver:
    def __init__(self, rows: int) -> None:
        self.lane = Lane()
        self.position = 0
        self.take(Declare(0.0, EDGE), edges(range(rows)))

    def take(self, *entries):
        batch = list(enumerate(entries, start=self.position + 1))
        self.position += len(batch)
        return [change for change in self.lane.apply(batch) if change.view != "engine_error"]


def errors_of(lane: Lane) -> list[tuple]:
    return list(lane.errors.rows)
