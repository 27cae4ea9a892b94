"""Window: the laws of the operator by itself; rows go by ticks, or for newer ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from views import small_world as world
from views.operators.laws import Bench, compiled, quick, shuffles, weight

from aspen.log.entry import Change, Entry, Tick, Transaction
from aspen.runtime.lane import Lane
from aspen.views.operators.range_window import RangeWindow
from aspen.views.operators.rows_window import RowsWindow
from tests.oracle import evaluate

QUERIES = {
    "time": "SELECT r.sid, r.v FROM reading r [RANGE 10 SECONDS]",
    "tuple": "SELECT r.sid, r.v FROM reading r [ROWS 3]",
    "tuple_and_time": "SELECT r.sid, r.v FROM reading r [ROWS 3 RANGE 10 SECONDS]",
    "partitioned": "SELECT r.sid, r.v FROM reading r [PARTITION BY sid ROWS 2]",
    "partitioned_by_value": "SELECT r.sid, r.v FROM reading r [PARTITION BY v ROWS 1]",
    "partitioned_and_time": """SELECT r.sid, r.v
        FROM reading r [PARTITION BY sid ROWS 1 RANGE 10 SECONDS]""",
}

arrival = st.tuples(st.integers(0, 2), st.integers(0, 2), st.sampled_from((0, 0, 0, 4, 10, 12)))
event = arrival | st.integers(1, 7)
"""What arrives, (sid, v) and how many seconds late, or seconds that pass."""


class Feed:
    """A stream as the log has it, and what the window must hold by its law."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.model = world.Model()
        (self.window,) = world.windows_of(bench.plan)

    def entry(self, happens) -> Entry:
        if isinstance(happens, tuple):
            sid, v, late_s = happens
            at_s = self.model.at_s - late_s
            row = (sid, v, at_s)
            self.model.arrivals.append((at_s, row))
            return Transaction(at_s, (Change("reading", 1, row),))
        self.model.at_s += happens
        self.model.now_s = self.model.at_s
        return Tick(self.model.at_s)

    def expected(self):
        return evaluate(self.bench.plan, {}, {self.window: self.model.held(self.window)})


@pytest.mark.parametrize("case", sorted(QUERIES))
@quick
@given(events=st.lists(event, max_size=20), random=shuffles)
def test_laws(case, events, random) -> None:
    plan = compiled(QUERIES[case])
    single, whole = Bench(plan), Bench(plan)
    assert single.nodes(RangeWindow if case == "time" else RowsWindow)
    feed, entries = Feed(single), []
    for happens in events:
        entries.append(feed.entry(happens))
        single.take(entries[-1])
        assert single.rows() == feed.expected()
        if random.random() < 0.2:
            single.lane = Lane.restore(single.lane.snapshot())
            assert single.rows() == feed.expected()
    whole.take(*entries)
    assert whole.rows() == single.rows()


@pytest.mark.parametrize("case", sorted(case for case in QUERIES if "time" in case))
@quick
@given(events=st.lists(event, max_size=20))
def test_what_expired_leaves_nothing_behind(case, events) -> None:
    bench = Bench(compiled(QUERIES[case]))
    feed = Feed(bench)
    bench.take(feed.entry(1))
    for happens in [*events, 11]:
        bench.take(feed.entry(happens))
    assert bench.rows() == {}
    # The clock's one row came with the first tick.
    assert weight(bench.lane.circuit) <= bench.at_first + 1


@pytest.mark.parametrize("case", sorted(case for case in QUERIES if "time" in case))
@pytest.mark.parametrize(("age_s", "inside"), [(9.5, True), (10.0, False), (10.5, False)])
def test_the_range_is_open_where_it_begins(case, age_s, inside) -> None:
    """A row is outside from the tick at its time plus the range on, also one that comes so late."""
    early, late = Bench(compiled(QUERIES[case])), Bench(compiled(QUERIES[case]))
    row = Transaction(100.0, (Change("reading", 1, (1, 1, 100.0)),))
    early.take(Tick(100.0), row, Tick(100.0 + age_s))
    late.take(Tick(100.0 + age_s), row)
    assert early.rows() == late.rows() == ({(1, 1): 1} if inside else {})
    assert Lane.restore(early.lane.snapshot()).rows("v") == early.rows()


@pytest.mark.parametrize(
    ("case", "pushed_out"),
    [("time", False), ("tuple", True), ("tuple_and_time", True), ("partitioned", False)],
)
def test_a_hypothetical_row_pushes_out_only_when_the_window_is_full(case, pushed_out) -> None:
    bench = Bench(compiled(QUERIES[case]))
    feed = Feed(bench)
    (window,) = bench.lane.circuit.windows()
    oldest, new = (1, 1, 100.0), (2, 2, 100.0)
    bench.take(feed.entry((1, 1, 0)), feed.entry((1, 1, 0)))
    assert window.hypothetical(new, 1) == {new: 1}
    bench.take(feed.entry((0, 1, 0)))
    assert window.hypothetical(new, 1) == {new: 1, **({oldest: -1} if pushed_out else {})}
    assert window.hypothetical(oldest, -1) == {oldest: -1}
    assert window.hypothetical(new, -1) == {}
    assert bench.rows() == feed.expected()


def test_a_hypothetical_departure_is_named_by_the_reading_or_by_what_is_kept_of_it() -> None:
    window = RangeWindow("reading", lambda row: (row[1] + 1,), 10.0, None)
    window.take(0.0, [(7, 1), (8, 1), (7, 4)])
    for row in ((7, 1), (2,)):
        assert window.hypothetical(row, -1) == {(2,): -1}
    assert window.hypothetical((7, 2), -1) == {}


def test_rows_that_were_pushed_out_are_not_kept_for_the_range() -> None:
    """Of many rows a second, ROWS 1 RANGE 1 HOUR keeps one, and no queue of all that came."""
    bench = Bench(
        compiled("SELECT r.sid, r.v FROM reading r [PARTITION BY sid ROWS 1 RANGE 1 HOUR]")
    )
    bench.take(Tick(0.0))
    for number in range(3_000):
        bench.take(Transaction(1.0, (Change("reading", 1, (number % 2, number, 1.0)),)))
    assert set(bench.rows()) == {(0, 2_998), (1, 2_999)}
    assert weight(bench.lane.circuit) < 1_500


def test_rows_do_not_expire_before_a_tick_says_so() -> None:
    bench = Bench(compiled(QUERIES["time"]))
    feed = Feed(bench)
    bench.take(feed.entry((1, 1, 0)))
    bench.take(Transaction(1_000.0, (Change("reading", 1, (2, 2, 1_000.0)),)))
    assert set(bench.rows()) == {(1, 1), (2, 2)}
    bench.take(Tick(1_001.0))
    assert set(bench.rows()) == {(2, 2)}
