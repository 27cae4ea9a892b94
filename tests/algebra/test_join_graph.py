"""JoinGraph: what it takes apart, what it calls cyclic, what it refuses."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aspen.algebra.expr import Col, Const, Op
from aspen.algebra.join_graph import JoinGraph, join_graph
from aspen.algebra.plan import Filter, Join, PlanError, Scan
from aspen.model.schema import Column, Type


def scan(alias: str, width: int = 2, type_: Type = Type.INT) -> Scan:
    return Scan("r", alias, tuple(Column(f"{alias}.c{n}", type_) for n in range(width)))


def graph_of(*members: set[int]) -> JoinGraph:
    """A graph whose inputs have the variables given."""
    inputs = tuple(scan(f"i{n}", max(1, len(own))) for n, own in enumerate(members))
    places = [{v: f"a{n}.c{i}" for i, v in enumerate(sorted(own))} for n, own in enumerate(members)]
    found = {v: tuple(own[v] for own in places if v in own) for v in set[int]().union(*members)}
    return JoinGraph(inputs, tuple(names for names in found.values() if len(names) > 1))


CASES = {
    "triangle": (({0, 1}, {1, 2}, {2, 0}), True),
    "square": (({0, 1}, {1, 2}, {2, 3}, {3, 0}), True),
    "clique": (({0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}), True),
    "triangle with a tail": (({0, 1}, {1, 2}, {2, 0}, {2, 3}), True),
    "triangle within one input": (({0, 1}, {1, 2}, {2, 0}, {0, 1, 2}), False),
    "there and back": (({0, 1}, {0, 1}, {1, 2}), False),
    "star": (({0}, {0}, {0}, {0}), False),
    "chain": (({0, 1}, {1, 2}, {2, 3}), False),
}


@pytest.mark.parametrize("name", CASES)
def test_shapes(name) -> None:
    members, cyclic = CASES[name]
    graph = graph_of(*members)
    assert graph.cyclic is cyclic
    assert graph.connected


def has_join_tree(members: list[set[int]]) -> bool:
    """Whether a spanning tree keeps each variable's inputs together (Bernstein, Goodman 1981)."""
    tied = nx.Graph()
    tied.add_nodes_from(range(len(members)))
    for one in range(len(members)):
        for other in range(one):
            tied.add_edge(one, other, weight=len(members[one] & members[other]))
    tree = nx.maximum_spanning_tree(tied)
    return all(
        nx.is_connected(tree.subgraph(n for n, own in enumerate(members) if variable in own))
        for variable in set().union(*members)
    )


@given(st.lists(st.sets(st.integers(0, 4), min_size=1, max_size=3), min_size=2, max_size=6))
def test_oracle_cyclic_is_what_has_no_join_tree(members) -> None:
    graph = graph_of(*members)
    assert graph.cyclic is not has_join_tree(members)
    tied = nx.Graph([(f"i{n}", v) for n, own in enumerate(members) for v in own])
    assert graph.connected is nx.is_connected(tied)


def test_joins_are_taken_apart_whatever_stands_between_them() -> None:
    inner = Filter(Join(scan("a"), scan("b"), (("a.c1", "b.c0"),)), Op("<", Col("a.c0"), Const(3)))
    kept = Filter(scan("c"), Op("=", Col("c.c1"), Const(1)))
    graph = join_graph(Join(inner, kept, (("b.c0", "c.c0"), ("b.c0", "c.c1"))))
    assert graph.inputs == (scan("a"), scan("b"), kept)
    assert graph.variables == (("a0.c1", "a1.c0", "a2.c0"),)
    assert graph.conditions == (
        Op("<", Col("a0.c0"), Const(3)),
        Op("=", Col("a2.c0"), Col("a2.c1")),
    )


def test_one_and_one_point_nought_are_equal_and_not_the_same() -> None:
    mixed = join_graph(Join(scan("a", 1), scan("b", 1, Type.FLOAT), (("a.c0", "b.c0"),)))
    same = join_graph(Join(scan("a", 1), scan("b", 1), (("a.c0", "b.c0"),)))
    assert not mixed.is_exact(0)
    assert same.is_exact(0)


def test_nonsense_is_refused() -> None:
    two = (scan("a"), scan("b"))
    with pytest.raises(PlanError, match="two inputs at least"):
        JoinGraph(two[:1], ())
    with pytest.raises(PlanError, match="column of no input"):
        JoinGraph(two, (("a0.c0", "a1.c7"),))
    with pytest.raises(PlanError, match="column of no input"):
        JoinGraph(two, (), (Op("<", Col("a2.c0"), Const(1)),))
    for wrong in ((("a0.c0", "a0.c1"),), (("a0.c0",),), (("a0.c0", "a1.c0"), ("a0.c0", "a1.c1"))):
        with pytest.raises(PlanError, match="stands for one column"):
            JoinGraph(two, wrong)
