"""How joins are made follows from their shape, keys and rows, and a lane makes them so."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Register, Transaction
from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, Type
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query
from aspen.views.choose_joins import choose_joins
from aspen.views.compile_joins import DELTA, WORST_CASE_OPTIMAL
from aspen.views.node import Node
from aspen.views.operators.delta_join import DeltaJoin
from aspen.views.operators.generic_join import GenericJoin
from aspen.views.operators.pipelined_hash_join import PipelinedHashJoin

WIDTH = 5
EDGE = Relation("edge", (Column("src", Type.INT), Column("dst", Type.INT)))
PARTS = [
    Relation(f"t{n}", (Column("id", Type.INT), Column(f"v{n}", Type.INT)), key=("id",))
    for n in range(WIDTH)
]
CATALOG = Catalog.of((EDGE, *PARTS))

TRIANGLE = """SELECT a.src AS x, b.src AS y, c.src AS z FROM edge a, edge b, edge c
    WHERE a.dst = b.src AND b.dst = c.src AND c.dst = a.src"""
STAR = "SELECT t0.id, v4 FROM t0 " + " ".join(
    f"JOIN t{n} ON t{n}.id = t0.id" for n in range(1, WIDTH)
)
CHAIN = "SELECT a.src, c.dst FROM edge a JOIN edge b ON a.dst = b.src JOIN edge c ON b.dst = c.src"
LOOSE = "SELECT a.src, c.dst FROM edge a JOIN edge b ON a.dst = b.src JOIN edge c ON b.dst < c.src"
TWO = "SELECT a.src, b.dst FROM edge a JOIN edge b ON a.dst = b.src AND a.src = b.dst"
PAIRS = "SELECT x.id, y.dst FROM t1 x JOIN edge y ON y.src = x.id JOIN t2 z ON z.id = x.id"


@dataclass(frozen=True)
class Rows:
    number: float

    def rows(self, relation: str) -> float:
        del relation
        return self.number

    def changes(self, relation: str) -> float:
        del relation
        return 1.0


@pytest.mark.parametrize(
    ("sql", "rows", "how", "reason"),
    [
        (TRIANGLE, 1_000.0, WORST_CASE_OPTIMAL, "up to 1,000,000 pairs"),
        (TRIANGLE, 0.0, WORST_CASE_OPTIMAL, "close a cycle"),
        (STAR, 1_000.0, DELTA, "about 3,000 rows in between"),
        (STAR, 10.0, None, "only 30 rows"),
        (CHAIN, 1e6, None, "several partners"),
        (PAIRS, 1e6, None, "several partners"),
        (LOOSE, 1e6, None, "not all inputs are tied"),
    ],
)
def test_the_choice_follows_shape_keys_and_rows(sql, rows, how, reason) -> None:
    plan = compile_query(sql, CATALOG).plan
    (chosen,) = choose_joins(plan, Rows(rows), CATALOG.relations).values()
    assert chosen.how == how
    assert reason in chosen.reason


def test_two_inputs_leave_no_choice() -> None:
    assert choose_joins(compile_query(TWO, CATALOG).plan, Rows(9.0), CATALOG.relations) == {}


def test_many_inputs_are_joined_in_pairs() -> None:
    ring = [f"edge e{n}" for n in range(13)]
    ties = [f"e{n}.dst = e{(n + 1) % 13}.src" for n in range(13)]
    sql = f"SELECT e0.src FROM {', '.join(ring)} WHERE {' AND '.join(ties)}"
    plan = compile_query(sql, CATALOG).plan
    (chosen,) = choose_joins(plan, Rows(9.0), CATALOG.relations).values()
    assert chosen.how is None
    assert "more than 12 inputs" in chosen.reason


def test_joins_beside_a_recursion_are_chosen_and_those_within_are_its_own() -> None:
    sql = f"""WITH RECURSIVE r(x, y) AS (SELECT t.x, t.y FROM ({TRIANGLE}) t
        UNION SELECT r.x, b.dst FROM r, edge a, edge b
        WHERE r.y = a.src AND a.dst = b.src AND b.dst = r.x) SELECT x, y FROM r"""
    plan = compile_query(sql, CATALOG).plan
    chosen = choose_joins(plan, Rows(9.0), CATALOG.relations)
    assert [one.how for one in chosen.values()] == [WORST_CASE_OPTIMAL]


def made(lane: Lane) -> list[type[Node]]:
    """The joins of a lane."""
    kinds = (DeltaJoin, GenericJoin, PipelinedHashJoin)
    return [type(node) for node in lane.circuit._known.values() if isinstance(node, kinds)]


@pytest.mark.parametrize(
    ("sql", "kinds"),
    [
        (TRIANGLE, [GenericJoin]),
        (STAR, [DeltaJoin]),
        (CHAIN, [PipelinedHashJoin] * 2),
        (TWO, [PipelinedHashJoin]),
    ],
)
def test_a_lane_makes_joins_as_chosen_and_equal_ones_once(sql, kinds) -> None:
    lane = Lane()
    text = plan_text(compile_query(sql, CATALOG).plan)
    rows = [Change(part.name, 1, (n, n)) for part in PARTS for n in range(400)]
    ring = [Change("edge", 1, row) for row in ((0, 1), (1, 2), (2, 0), (5, 5))]
    entries = [
        *(Declare(0.0, relation) for relation in CATALOG),
        Transaction(0.0, (*rows, *ring)),
        Register(0.0, "v", text),
        Register(0.0, "w", text),
    ]
    for change in lane.apply(list(enumerate(entries, start=1))):
        assert change.error is None, change.error
    assert made(lane) == kinds
    found = lane.rows("v")
    assert found
    assert found == lane.rows("w") == Lane.restore(lane.snapshot()).rows("v")
    views = lane.views
    assert views.find(views.by_name["v"].closed) is views.by_name["v"].node
