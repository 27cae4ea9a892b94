"""The order is a depth-first walk's after every change; cases (a) to (d), and orphans."""

from __future__ import annotations

from collections import Counter

import pytest
from dd import autoref
from hypothesis import given
from hypothesis import strategies as st

from aspen.provenance.bdd import Bdd
from tests.dfs_order import DepthFirstOrder, arrange, level_of

VERTICES = st.integers(0, 7)
CHANGES = st.lists(st.tuples(st.booleans(), VERTICES, VERTICES), max_size=40)


def assert_is_a_depth_first_walk(edges):
    """Follow the order with a stack: no edge is passed while a deeper one waits."""
    waiting = Counter(edge.start for edge in edges)
    entered, stack = set(), []
    for _, start, end in edges:
        while stack and not waiting[stack[-1]]:
            stack.pop()
        if not stack:
            assert start not in entered
            entered.add(start)
            stack.append(start)
        assert stack[-1] == start
        waiting[start] -= 1
        if end not in entered and waiting[end]:
            entered.add(end)
            stack.append(end)


@given(changes=CHANGES)
def test_is_a_walk_after_every_change(changes):
    order, live = DepthFirstOrder(), set()
    for inserts, start, end in changes:
        pair = (start, end)
        if inserts and pair not in live:
            order.add(pair, [pair])
            live.add(pair)
        elif not inserts and pair in live:
            order.remove(pair)
            live.remove(pair)
        assert_is_a_depth_first_walk(order.edges())
        assert sorted(order.items()) == sorted(live)
        for vertex, (first, last) in order.labels().items():
            starts = [edge.start for edge in order.edges()]
            assert first == starts.index(vertex)
            assert last == max(at for at, start in enumerate(starts) if start == vertex)
    for pair in live:
        order.remove(pair)
    assert not order.edges()
    assert not any((order._leaving, order._arriving, order._roots, order._edges_of))


@given(changes=CHANGES)
def test_a_batch_is_a_walk_too(changes):
    order, live = DepthFirstOrder(), {}
    for number, (_, start, end) in enumerate(changes):
        order.add(number, [(start, end), (end, (start + 1) % 8)])
        live[number] = None
    for number in [number for number, (stays, _, _) in enumerate(changes) if not stays]:
        order.remove(number)
        del live[number]
    assert_is_a_depth_first_walk(order.edges())
    assert sorted(order.items()) == list(live)


def after(*changes):
    order = DepthFirstOrder()
    for change in changes:
        pair = change.strip("-")
        if change.startswith("-"):
            order.remove(pair)
        else:
            order.add(pair, [(pair[0], pair[1])])
        order.edges()
    return " ".join(order.items())


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ("ab cd", "ab cd"),  # (a) x is new, y leads nowhere
        ("bc ab", "ab bc"),  # (b) x is new, y began a walk
        ("ab bc db", "ab bc db"),  # (b) x is new, y was led to
        ("ab cd bc", "ab bc cd"),  # (c) x was led to; y moves forward
        ("ab bc bd ef ae", "ab bc bd ae ef"),  # (d) behind all that x leads to
        ("ab bc ae ef be", "ab bc be ef ae"),  # (d) y moves forward
        ("ab bc ad cd de ec", "ab bc cd de ec ad"),  # into what it has passed: nothing moves
    ],
)
def test_the_four_cases_of_insertion(changes, expected):
    assert after(*changes.split()) == expected


def test_what_a_moved_place_leads_to_moves_along():
    # As printed only [yd] moves, and de stands behind ad, though yd has met d before.
    assert after("ax", "ad", "de", "ay", "yd", "xy") == "ax xy yd de ad ay"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ("ab bc cd be ef -bc", "ab be ef cd"),  # head of the module
        ("ab bc cd be ef -bc fc", "ab be ef fc cd"),
        ("ab bc cd be ec -bc", "ab be ec cd"),  # re-attached where another edge leads
        ("ab bc cd -ab", "bc cd"),  # nothing leads there: a walk of its own
        ("ab bc cd ae -bc", "ab ae cd"),  # the same, behind the others
        ("ab bc cb -ab", "bc cb"),  # a cycle keeps itself no longer than its edges
    ],
)
def test_orphans_find_another_place(changes, expected):
    assert after(*changes.split()) == expected


def test_the_way_back_stands_beside_the_way_there():
    assert after("ab", "bc", "ca", "ba", "cb") == "ab ba bc cb ca"


@pytest.mark.parametrize("backend", [None, autoref])
@given(data=st.data())
def test_a_manager_takes_any_order_and_functions_keep_their_meaning(backend, data):
    manager = Bdd(backend)
    variables = [manager.allocate() for _ in range(6)]
    a, b, c, d, e, f = map(manager.literal, variables)
    whole = manager.disjoin(
        manager.disjoin(manager.conjoin(a, b), manager.conjoin(c, d)), manager.conjoin(e, f)
    )
    wanted = data.draw(st.permutations(variables))[: data.draw(st.integers(0, 6))]
    before = sorted(variables, key=lambda v: level_of(manager, v))
    arrange(manager, wanted)
    after = sorted(variables, key=lambda v: level_of(manager, v))
    assert after == [*wanted, *(v for v in before if v not in wanted)]
    assert manager.support(whole) == tuple(sorted(variables))
    assert manager.without(whole, variables[2:]) == manager.conjoin(a, b)
    assert manager.without(whole, variables[:5]) == manager.false
    del whole, a, b, c, d, e, f


def test_order_decides_the_size_of_a_sum_of_pairs():
    manager = Bdd()
    variables = [manager.allocate() for _ in range(12)]
    pairs = list(zip(variables[:6], variables[6:], strict=True))
    whole = manager.false
    for one, other in pairs:
        both = manager.conjoin(manager.literal(one), manager.literal(other))
        whole = manager.disjoin(whole, both)
    arrange(manager, variables)
    apart = manager.size(whole)
    arrange(manager, [variable for pair in pairs for variable in pair])
    assert manager.size(whole) < apart / 5


@given(changes=CHANGES, elsewhere=CHANGES)
def test_changes_elsewhere_move_nothing_here(changes, elsewhere):
    """Two networks without a way between them, in one order."""
    order, live = DepthFirstOrder(), set()

    def change(inserts, pair):
        if inserts and pair not in live:
            order.add(pair, [pair])
            live.add(pair)
        elif not inserts and pair in live:
            order.remove(pair)
            live.remove(pair)

    for inserts, start, end in changes:
        change(inserts, (start, end))
    here = order.items()
    for inserts, start, end in elsewhere:
        change(inserts, (start + 100, end + 100))
        assert [pair for pair in order.items() if pair[0] < 100] == here
