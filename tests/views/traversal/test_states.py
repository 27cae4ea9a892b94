"""Forest and Cheapest alone: rows, differences and derivations, against Dijkstra from nothing."""

from __future__ import annotations

from heapq import heappop, heappush

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from aspen.views.traversal.cheapest import Cheapest
from aspen.views.traversal.edges import Edges
from aspen.views.traversal.forest import Forest
from aspen.views.traversal.graph import Graph
from aspen.views.traversal.names import Names
from aspen.views.work import Meter

vertex = st.integers(0, 4)
edges = st.sets(st.tuples(vertex, vertex, st.integers(0, 2)), max_size=8)
roots = st.sets(st.tuples(st.integers(0, 2), vertex, st.integers(0, 3)), max_size=4)


def costs(edges, roots):
    """By invariant value and vertex, the least cost."""
    found, heap = {}, []
    for who, at, cost in roots:
        heappush(heap, (cost, who, at))
    while heap:
        cost, who, at = heappop(heap)
        if found.setdefault((who, at), cost) == cost:
            for start, end, length in edges:
                if start == at and (who, end) not in found:
                    heappush(heap, (cost + length, who, end))
    return found


def spelled(groups, values):
    """Rows of a state as {(invariant, vertex): cost}; a forest has no costs."""
    rows = [row for group in groups for row in group.rows(values, [(n,) for n in range(5)])]
    assert len({row[:2] for row in rows}) == len(rows)
    return {row[:2]: row[2] if len(row) > 2 else 0 for row in rows}


@pytest.mark.parametrize("measured", [False, True])
@pytest.mark.parametrize("apart", [1, 700])  # all in one block, or each in its own
@settings(deadline=None)
@example(  # a root where an edge led before, and then the edge goes
    epochs=[
        ({(0, 1, 0)}, {(0, 0, 0)}),
        ({(0, 1, 0)}, {(0, 0, 0), (0, 1, 0)}),
        (set(), {(0, 0, 0), (0, 1, 0)}),
    ]
)
@given(epochs=st.lists(st.tuples(edges, roots), min_size=1, max_size=5))
def test_law_rows_differences_and_derivations(measured, apart, epochs):
    names = Names()
    for number in range(5):
        assert names.use((number,)) == number
    table = Edges(names, 1, measured=measured)
    graph = Graph(table)
    state = Cheapest(graph, Meter()) if measured else Forest(graph, Meter())
    values = [(n // apart,) for n in range(3 * apart)]
    had_edges, had_roots, before = set(), set(), {}
    for some_edges, some_roots in epochs:
        edges = {(start, end, length * measured) for start, end, length in some_edges}
        # One base row for a vertex, as a select-list that groups by it has.
        least = {(who, at): cost * measured for who, at, cost in sorted(some_roots)}
        roots = {(*key, cost) for key, cost in least.items()}
        delta = dict.fromkeys(sorted(had_edges - edges), -1)
        born, gone = table.take(delta | dict.fromkeys(sorted(edges - had_edges), 1))
        assert all(graph.remove(number) for number in gone)
        for number in born:
            graph.add(number)
        begun = [(who * apart, at, cost) for who, at, cost in sorted(roots - had_roots)]
        ended = [(who * apart, at, cost) for who, at, cost in sorted(had_roots - roots)]
        for one in begun:
            state.begin(*one)
        state.change(gone, born, ended, begun)

        now = costs(edges, roots)
        assert spelled(state.rows(), values) == now
        assert state.count() == len(now)
        went, came = spelled(state.minus(), values), spelled(state.plus(), values)
        assert went == {key: cost for key, cost in before.items() if now.get(key) != cost}
        assert came == {key: cost for key, cost in now.items() if before.get(key) != cost}
        for (who, at), cost in now.items():
            assert state.begins(who * apart, at, cost) == ((who, at, cost) in roots)
            assert {table.rows[n] for n in state.ways(who * apart, at, cost)} == {
                (start, end, length)
                for start, end, length in edges
                if end == at and (who, start) in now and now[who, start] + length == cost
            }
            followed = [at]
            while (edge := state.parent(who * apart, followed[-1])) is not None:
                start, end, length = table.rows[edge]
                assert end == followed[-1]
                assert (start, end, length) in edges
                assert start not in followed, "a row rests on itself"
                assert now[who, start] + length == now[who, end]
                followed.append(start)
            assert (who, followed[-1], now[who, followed[-1]]) in roots
        state.end()
        table.sweep()
        had_edges, had_roots, before = edges, roots, now
