"""What rules mean: sets, negation, several rules, aggregates, streams."""

from __future__ import annotations

import networkx as nx
import pytest
from golden.catalog import CATALOG as BUILDING
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.algebra.plan import Window, children
from aspen.model.schema import SourceKind
from aspen.overlog import compile_program
from aspen.streamsql import compile_query
from overlog.lane import Host
from overlog.network import CATALOG, answers

PAIRS = st.sets(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), max_size=8)
SINGLES = st.sets(st.tuples(st.sampled_from("abcd")), max_size=3)

AVOIDING = """
safe(X, Y) :- link(X, Y), !blocked(Y).
safe(X, Y) :- safe(X, Z), link(Z, Y), !blocked(Y).
"""
CONNECTED = """
connected(X, Y) :- link(X, Y).
connected(X, Y) :- connected(Y, X).
connected(X, Y) :- connected(X, Z), link(Z, Y).
"""
DETOUR = """
far(X, Y, min<C>) :- channel(X, Y, C), !blocked(X).
far(X, Y, min<C>) :-
    far(X, Z, C1), channel(Z, Y, C2), C2 > 1, C = C1 + C2, !link(Z, Y), !blocked(Z).
far(X, Y, min<C>) :- channel(X, Z, C2), far(Z, Y, C1), C = C2 + C1, !blocked(X).
"""


def answer(text, view, **tables):
    rows = {name: dict.fromkeys(held, 1) for name, held in tables.items()}
    return set(answers(compile_program(text, CATALOG), rows)[view])


def avoiding(link, blocked):
    bad = {node for (node,) in blocked}
    graph = nx.DiGraph([(a, b) for a, b in link if b not in bad])
    return {(a, b) for a in graph for via in graph[a] for b in {via} | nx.descendants(graph, via)}


@settings(deadline=None)
@given(link=PAIRS, blocked=SINGLES)
def test_oracle_negation_inside_recursion_keeps_to_the_other_side(link, blocked):
    assert answer(AVOIDING, "safe", link=link, blocked=blocked) == avoiding(link, blocked)


@settings(deadline=None)
@given(link=PAIRS)
def test_oracle_two_recursive_rules_are_one_recursion(link):
    expected: set[tuple[str, str]] = set()
    while True:
        turned = {(b, a) for a, b in expected}
        longer = {(a, c) for a, b in expected for d, c in link if b == d}
        if link | turned | longer == expected:
            break
        expected = link | turned | longer
    assert answer(CONNECTED, "connected", link=link) == expected


@pytest.mark.parametrize("text", [AVOIDING, CONNECTED, DETOUR], ids=["avoid", "connect", "detour"])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_incremental_recursion_equals_the_oracle(text, data):
    views = compile_program(text, CATALOG)
    host = Host(CATALOG, views)
    node = st.sampled_from("abcd")
    row = {
        "link": st.tuples(node, node),
        "blocked": st.tuples(node),
        "channel": st.tuples(node, node, st.integers(1, 3)),
    }
    relations = sorted(views[0].sources)
    for _ in range(data.draw(st.integers(5, 15))):
        relation = data.draw(st.sampled_from(relations))
        host.toggle(relation, data.draw(row[relation]))
        assert host.rows() == answers(views, host.tables)


def test_a_head_is_a_set_over_a_bag():
    rows = {"link": {("a", "b"): 3, ("a", "c"): 1}}
    views = compile_program(
        "from(X) :- link(X, _). degree(X, count<Y>) :- link(X, Y). n(count<*>) :- link(_, _).",
        CATALOG,
    )
    assert answers(views, rows) == {"from": {("a",): 1}, "degree": {("a", 2): 1}, "n": {(2,): 1}}


def test_aggregates_range_over_the_ways_the_body_is_true():
    channel = {("a", "b", 1), ("a", "b", 2), ("a", "c", 2)}
    text = """
    ways(X, count<Y>, sum<B>, avg<B>) :- channel(X, Y, B).
    neighbour(X, Y) :- channel(X, Y, _).
    neighbours(X, count<Y>) :- neighbour(X, Y).
    twice(X, sum<B * 2 + 1>) :- channel(X, _, B).
    """
    assert answer(text, "ways", channel=channel) == {("a", 3, 5, 5 / 3)}
    assert answer(text, "neighbours", channel=channel) == {("a", 2)}
    assert answer(text, "twice", channel=channel) == {("a", 13)}


def test_an_aggregate_over_nothing_derives_nothing():
    assert answer("n(count<*>) :- link(_, _).", "n") == set()
    assert answer("n(max<B>) :- channel(_, _, B).", "n") == set()


def test_min_and_max_are_taken_over_all_rules_of_a_predicate():
    text = "low(X, min<B>) :- channel(X, _, B). low(X, min<B>) :- link(X, _), B = 2."
    rows = {"channel": {("a", "b", 1), ("b", "b", 3)}, "link": {("a", "c"), ("b", "c")}}
    assert answer(text, "low", **rows) == {("a", 1), ("b", 2)}


def test_repeated_variables_constants_and_terms_are_conditions():
    link = {("a", "a"), ("a", "b"), ("b", "a")}
    channel = {("a", "b", 1), ("b", "c", 2), ("b", "c", 3)}
    assert answer("loop(X) :- link(X, X).", "loop", link=link) == {("a",)}
    assert answer("p(X) :- link(X, 'b').", "p", link=link) == {("a",)}
    text = "next(X, Y) :- channel(X, _, N), channel(Y, _, N + 1), X != Y."
    assert answer(text, "next", channel=channel) == {("a", "b")}
    assert answer('p(X, X, "k", N) :- link(X, _), N = -1 + 2 * 3.', "p", link=link) == {
        ("a", "a", "k", 5),
        ("b", "b", "k", 5),
    }


def test_assignments_may_stand_anywhere_and_build_on_each_other():
    text = "p(X, D) :- D = C * 2, C = B + 1, C > 2, channel(X, _, B)."
    assert answer(text, "p", channel={("a", "b", 1), ("b", "c", 2)}) == {("b", 6)}


def test_negation_reads_constants_anonymous_columns_and_terms():
    channel = {("a", "b", 1), ("b", "c", 2), ("c", "d", 9)}
    text = "last(X, B) :- channel(X, _, B), !channel(_, _, B + 1)."
    assert answer(text, "last", channel=channel) == {("b", 2), ("c", 9)}
    text = "p(X) :- link(X, _), notin channel(X, 'b', _)."
    assert answer(text, "p", channel=channel, link={("a", "z"), ("b", "z")}) == {("b",)}
    text = "p(X) :- link(X, _), not blocked(_)."
    assert answer(text, "p", link={("a", "z")}) == {("a",)}
    assert answer(text, "p", link={("a", "z")}, blocked={("q",)}) == set()


def test_functions_stand_in_heads_conditions_and_aggregates():
    text = """
    p(upper(X), N) :- link(X, Y), contains(concat(X, Y), "ab"), N = length(Y).
    q(X) :- link(X, Y), !contains(X, Y), length(X) <= 2.
    """
    link = {("a", "b"), ("b", "a"), ("cc", "c"), ("ddd", "x")}
    assert answer(text, "p", link=link) == {("A", 1)}
    assert answer(text, "q", link=link) == {("a",), ("b",)}


def test_views_come_behind_what_they_read_whatever_the_order_of_the_text():
    text = "c(X) :- b(X), !a(X). b(X) :- a(X). a(X) :- link(X, _)."
    views = compile_program(text, CATALOG)
    assert [view.name for view in views] == ["a", "b", "c"]
    assert [view.sources for view in views] == [{"link"}, {"a"}, {"a", "b"}]
    assert {view.relation.kind for view in views} == {SourceKind.VIEW}


def test_columns_are_named_after_variables():
    text = 'p(StepFree, X, X, "k", min<C>, count<*>) :- channel(StepFree, X, C).'
    (view,) = compile_program(text, CATALOG)
    assert view.relation.names == ("step_free", "x", "x_2", "column_4", "min_c", "count")


def test_comments_labels_and_places_are_read_over():
    text = """// one
    r1 p(@X, Y) :- link(@X, Y). /* two
    lines */ r2 p(@X, Y) :- p(@X, Z), link(@Z, Y)."""
    plain = "p(X, Y) :- link(X, Y). p(X, Y) :- p(X, Z), link(Z, Y)."
    assert compile_program(text, CATALOG) == compile_program(plain, CATALOG)


@pytest.mark.parametrize(
    ("says", "window"),
    [
        ("120, infinity, keys(1)", "[PARTITION BY mid ROWS 1 RANGE 120 SECONDS]"),
        ("30, infinity", "[RANGE 30 SECONDS]"),
        ("infinity, 5", "[ROWS 5]"),
        ("30.5, 5", "[ROWS 5 RANGE 30.5 SECONDS]"),
        ("infinity, infinity, keys(1, 2)", "[PARTITION BY mid, sid ROWS 1]"),
    ],
)
def test_materialize_is_a_window(says, window):
    def windows(plan):
        own = [plan] if isinstance(plan, Window) else []
        return own + [found for child in children(plan) for found in windows(child)]

    text = f"materialize(seat_reading, {says}). p(Mid) :- seat_reading(Mid, _, _, _)."
    (view,) = compile_program(text, BUILDING)
    query = compile_query(f"SELECT mid FROM seat_reading {window}", BUILDING)
    assert windows(view.plan) == windows(query.plan) != []
