"""Crossing: which recursions are split by networks, and by which table."""

from __future__ import annotations

import pytest

from aspen.algebra.crossing import Crossing, choose_crossing, explain_place, recursion_of
from aspen.algebra.partition import choose_root
from aspen.algebra.subnetwork import CannotSplit
from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, SchemaError, SourceKind, Type
from aspen.streamsql import compile_query

INT = Type.INT
EDGE = Relation("edge", (Column("src", INT), Column("dst", INT), Column("len", INT)))
START = Relation("start", (Column("node", INT),))
FLOOR = Relation(
    "floor", (Column("node", INT), Column("level", INT)), key=("node",), network="level"
)
RELATIONS = (EDGE, START, FLOOR)
BY_NAME = {relation.name: relation for relation in RELATIONS}
CATALOG = Catalog.of(RELATIONS)
FAR = """WITH RECURSIVE far(node, cost) AS (
    SELECT s.node, 0 FROM start s
  UNION
    SELECT e.dst, MIN(f.cost + e.len) FROM far f JOIN edge e ON e.src = f.node GROUP BY e.dst
) SELECT node, cost FROM far"""
PLANS = {
    "far": compile_query(FAR, CATALOG).plan,
    "near": compile_query(FAR + " WHERE cost < 4", CATALOG).plan,
}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (FAR.replace("MIN(f.cost + e.len)", "MIN(greatest(f.cost, e.len))"), "grow"),
        (FAR.replace("SELECT e.dst, MIN(f.cost + e.len)", "SELECT f.node, MIN(f.cost + e.len)")
         .replace("GROUP BY e.dst", "GROUP BY f.node"), "changes one column"),
        (FAR + " ORDER BY cost LIMIT 2", "selections and projections"),
        ("SELECT src FROM edge", "selections and projections"),
    ],
    ids=["bottleneck", "goes nowhere", "best of all", "no recursion"],
)  # fmt: skip
def test_what_does_not_go_along_edges_row_by_row_stays_whole(text, why):
    plan = compile_query(text, CATALOG).plan
    found = choose_crossing(plan, BY_NAME, 2)
    assert isinstance(found, CannotSplit)
    assert why in found.message
    assert "by sub-network" not in explain_place(plan, BY_NAME, 2)


def test_only_a_declared_table_says_networks():
    plan = PLANS["far"]
    assert isinstance(choose_crossing(plan, BY_NAME, 2), Crossing)
    assert "sub-network, floor.level, because" in explain_place(plan, BY_NAME, 2)
    plain = {**BY_NAME, "floor": Relation("floor", FLOOR.columns, key=("node",))}
    two = {**BY_NAME, "room": Relation("room", FLOOR.columns, key=("node",), network="level")}
    for relations in (plain, two):
        assert isinstance(choose_crossing(plan, relations, 2), CannotSplit)
    assert choose_root(plan, BY_NAME, 2) is None
    assert recursion_of(PLANS["near"]).best is not None


@pytest.mark.parametrize(
    "changed",
    [
        {"key": ()},
        {"key": ("node", "level")},
        {"network": "node"},
        {"network": "storey"},
        {"columns": (Column("node", INT), Column("level", Type.FLOAT))},
        {"kind": SourceKind.STREAM},
    ],
)
def test_a_table_says_networks_of_the_places_of_its_key(changed):
    fields = {"columns": FLOOR.columns, "key": FLOOR.key, "network": "level", **changed}
    with pytest.raises(SchemaError, match="which network"):
        Relation("floor", **fields)


def test_few_networks_are_noted_and_many_are_hashed():
    plan = PLANS["far"]
    few = choose_crossing(plan, BY_NAME, 2, lambda _relation: {3, None, 1, 2})
    many = choose_crossing(plan, BY_NAME, 2, lambda _relation: range(1_000))
    assert (few.dealt, many.dealt) == ((1, 2, 3), ())
    assert few.name != many.name, "lanes that have other networks do not mix"
