"""Rows of tables with a TTL leave by ticks, and only by them."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Register, Tick, Transaction
from aspen.model.catalog import Catalog
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query, parse

(_CREATED,) = parse("CREATE TABLE seen (tag TEXT NOT NULL) TTL 10 SECONDS")
SEEN = _CREATED.relation
assert SEEN is not None
QUERY = compile_query("SELECT tag, COUNT(*) AS n FROM seen GROUP BY tag", Catalog.of([SEEN]))

tags = st.sampled_from(["a", "b"])
steps = st.one_of(
    st.tuples(st.just("ins"), tags),
    st.tuples(st.just("del"), tags),
    st.tuples(st.just("tick"), st.integers(1, 8)),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(steps, max_size=25), st.integers(0, 25))
def test_oracle_rows_live_for_their_ttl_of_log_time(history, cut):
    lane = Lane()

    def take(*entries):
        lane.apply(list(enumerate(entries, start=lane.position + 1)))

    take(Declare(0.0, SEEN), Register(0.0, "q", plan_text(QUERY.plan)))
    born: list[tuple[float, str]] = []
    now_s = 100.0
    for number, (kind, what) in enumerate(history):
        if number == cut:
            lane = Lane.restore(lane.snapshot())
        if kind == "tick":
            now_s += what
            take(Tick(now_s))
            born = [(at_s, tag) for at_s, tag in born if at_s > now_s - SEEN.ttl_s]
        elif kind == "ins":
            take(Transaction(now_s, (Change("seen", 1, (what,)),)))
            born.append((now_s, what))
        elif any(tag == what for _, tag in born):
            take(Transaction(now_s, (Change("seen", -1, (what,)),)))
            born.remove(min(one for one in born if one[1] == what))
        assert lane.rows("q") == dict.fromkeys(Counter(tag for _, tag in born).items(), 1)
