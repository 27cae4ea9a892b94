"""A sliding window moves at multiples of its slide, whatever the ticks."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from views.operators.laws import weight

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Register, Tick, Transaction
from aspen.model.catalog import Catalog
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query, parse

(_CREATED,) = parse("CREATE STREAM reading (v INT NOT NULL)")
READING = _CREATED.relation
QUERY = compile_query(
    "SELECT v FROM reading [RANGE 20 SECONDS SLIDE 10 SECONDS]", Catalog.of([READING])
)
TUMBLED = compile_query("SELECT v FROM reading [TUMBLE 10 SECONDS]", Catalog.of([READING]))
steps = st.one_of(
    st.tuples(st.just("row"), st.integers(0, 3)), st.tuples(st.just("tick"), st.integers(1, 12))
)


@settings(max_examples=80, deadline=None)
@given(st.lists(steps, max_size=25), st.integers(0, 25), st.sampled_from([QUERY, TUMBLED]))
def test_oracle_contents_are_those_of_the_last_boundary(history, cut, query):
    lane, range_s = Lane(), 20 if query is QUERY else 10

    def take(*entries):
        lane.apply(list(enumerate(entries, start=lane.position + 1)))

    take(Declare(0.0, READING), Tick(100.0), Register(0.0, "q", plan_text(query.plan)))
    arrived: list[tuple[float, int]] = []
    now_s, boundary_s = 100.0, 100.0
    for number, (kind, what) in enumerate(history):
        if number == cut:
            lane = Lane.restore(lane.snapshot())
        if kind == "row":
            take(Transaction(now_s, (Change("reading", 1, (what,)),)))
            arrived.append((now_s, what))
        else:
            now_s += what
            take(Tick(now_s))
            boundary_s = max(boundary_s, math.floor(now_s / 10) * 10)
        inside = [(at_s, v) for at_s, v in arrived if boundary_s - range_s < at_s <= boundary_s]
        assert lane.rows("q") == Counter((v,) for _, v in inside)


@pytest.mark.parametrize(
    ("at_s", "at_once", "after"),
    [
        (80.0, False, False),  # the range is open where it begins
        (80.5, True, False),
        (90.0, True, False),
        (90.5, True, True),
        (100.0, True, True),  # and closed where it ends
        (100.5, False, True),
        (110.0, False, True),
        (110.5, False, False),
    ],
)
def test_a_row_is_inside_from_its_boundary_until_the_range_has_passed(at_s, at_once, after):
    """Rows come when the window stands at 100; the next boundary is 110. A tick is not needed."""
    lane = Lane()

    def take(*entries):
        lane.apply(list(enumerate(entries, start=lane.position + 1)))

    take(Declare(0.0, READING), Tick(103.0), Register(0.0, "q", plan_text(QUERY.plan)))
    take(Transaction(at_s, (Change("reading", 1, (7,)),)))
    assert lane.rows("q") == ({(7,): 1} if at_once else {})
    restored = Lane.restore(lane.snapshot())
    for one in (lane, restored):
        one.apply([(one.position + 1, Tick(109.0))])
        assert one.rows("q") == ({(7,): 1} if at_once else {})
        one.apply([(one.position + 1, Tick(110.0))])
        assert one.rows("q") == ({(7,): 1} if after else {})


def test_a_hypothetical_arrival_waits_for_the_next_boundary():
    lane = Lane()
    entries = (Declare(0.0, READING), Tick(100.0), Register(0.0, "q", plan_text(QUERY.plan)))
    lane.apply(list(enumerate(entries, start=1)))
    assert lane.provenance.what_if("q", [Change("reading", 1, (7,))]) == {}
    lane.apply([(4, Transaction(100.0, (Change("reading", 1, (7,)),)))])
    assert lane.provenance.what_if("q", [Change("reading", -1, (7,))]) == {(7,): -1}


def test_what_slid_out_leaves_nothing_behind():
    lane = Lane()
    entries = (Declare(0.0, READING), Tick(100.0), Register(0.0, "q", plan_text(QUERY.plan)))
    lane.apply(list(enumerate(entries, start=1)))
    at_first = weight(lane.circuit)
    for number in range(9):
        changes = tuple(Change("reading", 1, (v,)) for v in range(3))
        lane.apply([(lane.position + 1, Transaction(100.0 + number, changes))])
    lane.apply([(lane.position + 1, Tick(110.0)), (lane.position + 2, Tick(140.0))])
    assert lane.rows("q") == {}
    assert weight(lane.circuit) == at_first
