"""Circles in small graphs, against networkx."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from aspen.circles import components, reached

graphs = st.dictionaries(st.integers(0, 7), st.lists(st.integers(0, 7), max_size=4), max_size=8)


@given(graphs)
def test_parts_reach_each_other_and_stand_behind_what_they_need(edges):
    vertices = list(range(8))
    graph = nx.DiGraph()
    graph.add_nodes_from(vertices)
    graph.add_edges_from((one, other) for one, others in edges.items() for other in others)
    parts = components(vertices, edges)
    assert {frozenset(part) for part in parts} == set(
        map(frozenset, nx.strongly_connected_components(graph))
    )
    place = {vertex: number for number, part in enumerate(parts) for vertex in part}
    assert all(place[other] <= place[one] for one, others in edges.items() for other in others)
    for start in vertices:
        assert reached(start, edges) == {
            end for other in graph[start] for end in {other, *nx.descendants(graph, other)}
        }


def test_without_edges_the_order_stays():
    assert components("bac", {}) == [("b",), ("a",), ("c",)]


def test_a_long_chain_needs_no_deep_stack():
    chain = {number: [number + 1] for number in range(5_000)}
    assert components(range(5_001), chain)[0] == (5_000,)
    assert len(reached(0, chain)) == 5_000
