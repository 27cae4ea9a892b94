"""A sliding window moves at multiples of its slide, whatever the ticks."""

from __future__ import annotations

import math
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

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
steps = st.one_of(
    st.tuples(st.just("row"), st.integers(0, 3)), st.tuples(st.just("tick"), st.integers(1, 12))
)


@settings(max_examples=80, deadline=None)
@given(st.lists(steps, max_size=25), st.integers(0, 25))
def test_oracle_contents_are_those_of_the_last_boundary(history, cut):
    lane = Lane()

    def take(*entries):
        lane.apply(list(enumerate(entries, start=lane.position + 1)))

    take(Declare(0.0, READING), Tick(100.0), Register(0.0, "q", plan_text(QUERY.plan)))
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
        inside = [(at_s, v) for at_s, v in arrived if boundary_s - 20 < at_s <= boundary_s]
        assert lane.rows("q") == Counter((v,) for _, v in inside)
