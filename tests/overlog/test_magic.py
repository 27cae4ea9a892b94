"""Rules are asked for a goal, and derive what it demands: 171, 60 and 45 ways."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, Type
from aspen.overlog import compile_goal, compile_program
from aspen.overlog.errors import UnknownPredicate
from aspen.views.operators.fixpoint import FixpointOperator
from aspen.views.operators.traversal import Traversal
from overlog.lane import Host
from tests.oracle import evaluate

LINK = Relation("link", (Column("src", Type.TEXT), Column("dst", Type.TEXT)))
ASK = Relation("ask", (Column("session", Type.TEXT), Column("node", Type.TEXT)))
CATALOG = Catalog.of([LINK, ASK])

# [Condie11] section 4.3: four nodes all linked, and 10 → 9 → … → 4; ways visit no node twice.
FIGURE = [(a, b) for a in range(1, 5) for b in range(1, 5) if a != b]
FIGURE += [(node, node - 1) for node in range(10, 4, -1)]

WAYS = """
path(X, Z, P, C) :- link(X, Z), X != Z, P = concat(".", X, ".", Z, "."), C = 1.
path(X, Z, P, C) :- link(X, Y), path(Y, Z, P2, C2), C2 < 10, C = C2 + 1,
    !contains(P2, concat(".", X, ".")), P = concat(".", X, P2).
"""
GOALS = {
    "every": "every(X, Z, P) :- path(X, Z, P, _).",
    "out_of": 'out_of(Z, P) :- path("1", Z, P, _).',
    "into": 'into(X, P) :- path(X, "1", P, _).',
    "asked": "asked(S, Z, P) :- ask(S, X), path(X, Z, P, _).",
}


def asked(goal):
    return compile_goal(WAYS + GOALS[goal], goal, CATALOG)


def derived(host):
    """How many rows each recursion of a lane holds."""
    kept = [
        node
        for node in host.lane.circuit._known.values()
        if isinstance(node, FixpointOperator | Traversal)
    ]
    return sorted(len(node.contents()) for node in kept)


@pytest.mark.parametrize(
    ("goal", "rows", "answers"),
    [("every", [171], 171), ("out_of", [4, 60], 15), ("into", [45], 45)],
)
def test_the_figure_s_ways(goal, rows, answers):
    host = Host(CATALOG, [asked(goal)])
    host.change(("link", (str(a), str(b))) for a, b in FIGURE)
    assert derived(host) == rows
    assert len(host.rows()[goal]) == answers
    whole = {view.name: view for view in compile_program(WAYS + GOALS[goal], CATALOG)}
    paths = evaluate(whole["path"].plan, host.tables)
    assert host.rows()[goal] == evaluate(whole[goal].plan, {"path": paths})


def test_demand_is_rows_that_come_and_go():
    host = Host(CATALOG, [asked("asked")])
    host.change(("link", (str(a), str(b))) for a, b in FIGURE)
    assert derived(host) == [0, 0]
    host.toggle("ask", ("me", "1"))
    assert derived(host) == [4, 60]
    assert len(host.rows()["asked"]) == 15
    host.toggle("ask", ("you", "10"))
    host.toggle("ask", ("me", "1"))
    assert derived(host) == [10, 171]
    assert len(host.rows()["asked"]) == 21
    host.toggle("ask", ("you", "10"))
    assert derived(host) == [0, 0]


toggles = st.lists(
    st.one_of(
        st.tuples(st.just("link"), st.tuples(*[st.sampled_from("1234")] * 2)),
        st.tuples(st.just("ask"), st.tuples(st.sampled_from("ab"), st.sampled_from("1234"))),
    ),
    max_size=14,
)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(sorted(GOALS)), toggles)
def test_law_a_goal_has_the_rows_it_has_in_the_whole_program(goal, changes):
    host = Host(CATALOG, [asked(goal)])
    whole = {view.name: view for view in compile_program(WAYS + GOALS[goal], CATALOG)}
    for relation, row in changes:
        host.toggle(relation, row)
        paths = evaluate(whole["path"].plan, host.tables)
        assert host.rows()[goal] == evaluate(whole[goal].plan, {**host.tables, "path": paths})


def test_a_goal_is_a_head():
    with pytest.raises(UnknownPredicate) as caught:
        compile_goal(WAYS, "paths", CATALOG)
    assert caught.value.exists == ("path",)
