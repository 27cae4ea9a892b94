"""Recursions by sub-network: however many lanes, the rows are those of the oracle."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aspen.algebra.plan import Fixpoint, children
from aspen.algebra.subnetwork import CannotSplit, Networks
from aspen.log.entry import Change, Transaction
from aspen.model.catalog import Catalog
from aspen.model.delta import accumulate, merge
from aspen.model.schema import Column, Relation, Type
from aspen.runtime.subnetworks import SubNetworks
from aspen.streamsql import compile_query
from aspen.views.oracle import evaluate

INT = Type.INT
EDGE = Relation("edge", (Column("src", INT), Column("dst", INT), Column("len", INT)))
DEMAND = Relation("demand", (Column("node", INT),))
FLOOR = Relation("floor", (Column("node", INT), Column("level", INT)), deletable=False)
RELATIONS = (EDGE, DEMAND, FLOOR)
NETWORKS = Networks(FLOOR, "node", "level")

WALK = """WITH RECURSIVE walk(origin, node, cost) AS (
    SELECT d.node, d.node, 0 FROM demand d
  UNION
    SELECT w.origin, e.dst, MIN(w.cost + e.len) FROM walk w JOIN edge e ON e.src = w.node
    GROUP BY w.origin, e.dst
) SELECT origin, node, cost FROM walk"""
REACH = """WITH RECURSIVE reach(src, node) AS (
    SELECT e.src, e.dst FROM edge e
  UNION SELECT r.src, e.dst FROM reach r JOIN edge e ON e.src = r.node
) SELECT src, node FROM reach"""


def recursion(text):
    plan = compile_query(text, Catalog.of(RELATIONS)).plan
    while not isinstance(plan, Fixpoint):
        (plan,) = children(plan)
    return plan


def place_of(plan):
    return next(c.name for c in plan.columns if c.name.endswith("node"))


NODES = 9
node = st.integers(0, NODES - 1)
edges = st.tuples(node, node, st.integers(0, 3))
operations = st.one_of(
    st.tuples(st.just("edge"), edges),
    st.tuples(st.just("edge"), edges),
    st.tuples(st.just("demand"), st.tuples(node)),
    st.tuples(st.just("drop"), st.integers(0, 50)),
    st.tuples(st.just("drop"), st.integers(0, 50)),
)


@pytest.mark.parametrize("text", [WALK, REACH], ids=["walk", "reach"])
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.integers(1, 4),
    st.lists(st.integers(0, 3), min_size=NODES, max_size=NODES),
    st.lists(st.lists(operations, min_size=1, max_size=8), min_size=1, max_size=6),
)
def test_oracle_networks_in_lanes_equal_from_scratch(text, lanes, levels, epochs):
    plan = recursion(text)
    split = SubNetworks(plan, place_of(plan), NETWORKS, RELATIONS, lanes)
    tables = {"edge": {}, "demand": {}, "floor": dict.fromkeys(enumerate(levels), 1)}
    folded = {}
    floor = tuple(Change("floor", 1, row) for row in tables["floor"])
    merge(folded, split.apply([Transaction(0.0, floor)]))
    for epoch in epochs:
        changes = []
        for kind, what in epoch:
            relation, weight, row = kind, 1, what
            if kind == "drop":
                there = sorted((name, row) for name in ("demand", "edge") for row in tables[name])
                if not there:
                    continue
                relation, row = there[what % len(there)]
                weight = -1
            accumulate(tables[relation], row, weight)
            changes.append(Change(relation, weight, row))
        merge(folded, split.apply([Transaction(1.0, tuple(changes))]))
        assert split.rows() == evaluate(plan, tables)
        assert folded == split.rows()


def building(levels, side, seed=1):
    """Grids of floors, joined by two stairs."""
    draw = random.Random(seed)
    edges, floors = set(), {}
    for level in range(levels):
        first = level * side * side
        for y in range(side):
            for x in range(side):
                here = first + y * side + x
                floors[here] = level
                for other in ([here + 1] if x + 1 < side else []) + (
                    [here + side] if y + 1 < side else []
                ):
                    length = draw.randrange(1, 5)
                    edges |= {(here, other, length), (other, here, length)}
        if level:
            for stair in (0, side * side - 1):
                edges |= {(first + stair, first - side * side + stair, 6)}
                edges |= {(first - side * side + stair, first + stair, 6)}
    return edges, floors


def test_rounds_count_border_crossings_and_not_hops():
    edges, floors = building(4, 6)
    plan = recursion(WALK)
    split = SubNetworks(plan, place_of(plan), NETWORKS, RELATIONS, 2)
    base = [Change("floor", 1, row) for row in floors.items()] + [
        Change("edge", 1, e) for e in sorted(edges)
    ]
    split.apply([Transaction(0.0, tuple(base))])
    assert split.meter.rounds == 0
    split.apply([Transaction(1.0, (Change("demand", 1, (0,)),))])
    assert len(split.rows()) == len(floors)
    crossings = 3  # from the lowest floor to the highest, if each border lies between two lanes
    assert split.meter.rounds <= 2 * crossings
    assert split.meter.shipped < len(floors) / 4
    before = split.rows()
    lost = next(e for e in sorted(edges) if floors[e[0]] == 1 and floors[e[1]] == 2)
    change = split.apply([Transaction(2.0, (Change("edge", -1, lost),))])
    back = split.apply([Transaction(3.0, (Change("edge", 1, lost),))])
    merge(change, back)
    assert change == {}
    assert split.rows() == before


@pytest.mark.parametrize(
    "text",
    [
        WALK.replace("MIN(w.cost + e.len)", "MIN(greatest(w.cost, e.len))"),
        REACH.replace(
            "r.src, e.dst FROM reach r JOIN edge e ON e.src",
            "r.src, s.node FROM reach r JOIN reach s ON s.src",
        ),
    ],
    ids=["bottleneck", "not linear"],
)
def test_what_does_not_go_along_edges_is_refused(text):
    with pytest.raises(CannotSplit):
        SubNetworks(recursion(text), place_of(recursion(text)), NETWORKS, RELATIONS, 2)
