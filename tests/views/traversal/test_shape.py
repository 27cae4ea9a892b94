"""Which recursions are traversals, and which are left to the general engine."""

from __future__ import annotations

import pytest
from views import small_world as world

from aspen.algebra.plan import Fixpoint, Join, children
from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, Type
from aspen.streamsql import compile_query
from aspen.views.traversal.shape import traversal_shape

PART = Relation(
    "part",
    (Column("a", Type.INT), Column("b", Type.INT), Column("n", Type.INT), Column("ok", Type.BOOL)),
)
CATALOG = Catalog.of((PART,))


def recursion(plan) -> Fixpoint:
    found = [plan]
    while not isinstance(found[-1], Fixpoint):
        (inner,) = children(found[-1])
        found.append(inner)
    return found[-1]


@pytest.mark.parametrize(
    ("view", "invariant", "vertex", "cost"),
    [("reach", (0,), (1,), None), ("way", (0,), (1,), 2), ("region", (0,), (1,), None)],
)
def test_a_traversal_has_invariant_columns_a_vertex_and_perhaps_a_cost(
    view, invariant, vertex, cost
) -> None:
    shape = traversal_shape(recursion(world.VIEWS[view].plan))
    assert shape is not None
    assert (shape.invariant, shape.vertex, shape.cost) == (invariant, vertex, cost)


def test_the_widest_way_is_a_walk_with_signs_turned() -> None:
    shape = traversal_shape(recursion(world.VIEWS["wide"].plan))
    assert shape is not None
    assert (shape.invariant, shape.vertex, shape.cost) == ((), (0,), 1)
    assert (shape.adds, shape.sign) == (False, -1)


def test_what_counts_its_steps_is_no_walk() -> None:
    assert traversal_shape(recursion(world.VIEWS["hops"].plan)) is None


@pytest.mark.parametrize(
    "step",
    [
        "SELECT r.b, r.a FROM r JOIN part p ON p.a = r.b",  # columns change places
        "SELECT r.a, p.b FROM r JOIN part p ON p.a < r.b",  # no equality to go along
        "SELECT r.a, p.b FROM r JOIN part p ON p.a = r.b AND p.n <> r.a",  # each origin its own
        "SELECT r.a, p.b FROM r JOIN r s ON s.a = r.b JOIN part p ON p.a = s.b",  # reads it twice
        "SELECT r.a, r.b + 1 FROM r JOIN part p ON p.a = r.b AND r.b < 9",  # computes the vertex
        "SELECT r.a, r.b FROM r WHERE r.a > 3",  # goes nowhere
    ],
)
def test_other_steps_are_left_to_the_general_engine(step) -> None:
    sql = f"WITH RECURSIVE r(a, b) AS (SELECT a, b FROM part UNION {step}) SELECT a, b FROM r"
    assert traversal_shape(recursion(compile_query(sql, CATALOG).plan)) is None


def test_edges_are_joined_on_what_they_share() -> None:
    shape = traversal_shape(recursion(world.VIEWS["region"].plan))
    assert shape is not None
    joins = shape.edges.child
    assert isinstance(joins, Join)
    assert joins.on == (("a1.c1", "a2.c0"),)
