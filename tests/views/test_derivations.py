"""Depth-first order: parts before wholes, everything once, cycles allowed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.views.derivations import depth_first

graphs = st.dictionaries(st.integers(0, 6), st.lists(st.integers(0, 6), max_size=3), max_size=7)


@settings(deadline=None)
@given(graphs)
def test_all_that_is_reached_comes_once_and_the_goal_last(graph) -> None:
    order = depth_first([0], lambda item: graph.get(item, []))
    reached, stack = {0}, [0]
    while stack:
        for part in graph.get(stack.pop(), []):
            if part not in reached:
                reached.add(part)
                stack.append(part)
    assert sorted(order) == sorted(reached)
    assert order[-1] == 0


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 8), max_size=3), min_size=9, max_size=9))
def test_without_cycles_parts_come_before_wholes(rows) -> None:
    graph = {item: [part for part in parts if part > item] for item, parts in enumerate(rows)}
    order = depth_first([0], graph.__getitem__)
    for item in order:
        assert all(order.index(part) < order.index(item) for part in graph[item])
