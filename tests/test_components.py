"""Components: their order, which networkx does not promise."""

from __future__ import annotations

from itertools import chain

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from aspen.components import connected_groups, directed, strong_components

graphs = st.fixed_dictionaries(
    {vertex: st.lists(st.integers(0, 7), max_size=4) for vertex in range(8)}
)


@given(graphs)
def test_components_reach_each_other_and_come_after_what_they_need(edges):
    parts = strong_components(edges)
    graph = directed(edges)
    number = {vertex: index for index, part in enumerate(parts) for vertex in part}
    assert sorted(number) == list(range(8))
    assert all(number[other] <= number[one] for one, others in edges.items() for other in others)
    assert all(list(part) == [one for one in edges if one in part] for part in parts)
    for one in edges:
        back = {other for other in nx.descendants(graph, one) if nx.has_path(graph, other, one)}
        assert set(parts[number[one]]) == {one, *back}


def test_without_edges_the_order_stays():
    assert strong_components(dict.fromkeys("bac", ())) == [("b",), ("a",), ("c",)]


def test_a_long_chain_needs_no_deep_stack():
    line = {number: [number + 1] for number in range(5_000)}
    assert strong_components(line)[0] == (5_000,)


@given(st.lists(st.sets(st.integers(0, 9), min_size=1, max_size=3).map(tuple), max_size=12))
def test_oracle_groups_are_connected_by_what_they_share(groups):
    parts = connected_groups(list(enumerate(groups)), lambda one: one[1])
    # Parts come in order of their first groups, and groups keep theirs.
    indexes = [[index for index, _ in part] for part in parts]
    assert indexes == sorted(sorted(part) for part in indexes)
    assert sorted(chain.from_iterable(indexes)) == list(range(len(groups)))
    shared = [{member for _, group in part for member in group} for part in parts]
    assert all(not one & other for one, other in nx.utils.pairwise([set(), *shared]))
    assert sum(map(len, shared)) == len(set().union(*map(set, groups)))
    for part in parts:
        together = {index for index, _ in part[:1]}
        for _ in part:
            together |= {
                n for n, group in part if any(set(group) & set(groups[other]) for other in together)
            }
        assert together == {index for index, _ in part}
