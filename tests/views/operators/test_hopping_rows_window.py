"""A window that moves by rows holds the newest as of the last so-many-th that came."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from views import small_world as world
from views.operators.laws import Bench, compiled, quick, shuffles, weight

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import PlanError, Window
from aspen.algebra.read import read_plan
from aspen.log.entry import Change, Declare, Register, Tick, Transaction
from aspen.model.catalog import Catalog
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query, parse
from aspen.streamsql.errors import MisplacedWindow
from aspen.views.operators.hopping_rows_window import HoppingRowsWindow

# window: rows, slide, range
WINDOWS = {
    "[ROWS 3 SLIDE 2]": (3, 2, math.inf),
    "[ROWS 2 SLIDE 5]": (2, 5, math.inf),
    "[ROWS 3 SLIDE 3]": (3, 3, math.inf),
    "[ROWS 4 SLIDE 1]": (4, 1, math.inf),
    "[ROWS 4 SLIDE 3 RANGE 10 SECONDS]": (4, 3, 10.0),
}
RANGED = "[ROWS 4 SLIDE 3 RANGE 10 SECONDS]"

came = st.tuples(
    st.sampled_from((0, 0, 0, 4, 10, 12)), st.lists(st.integers(0, 3), min_size=1, max_size=7)
)
event = came | st.integers(1, 7)
"""What comes, how many seconds late and the values of its rows, or seconds that pass."""


def query(window):
    return f"SELECT r.sid, r.v FROM reading r {window}"


def entry(happens, clock):
    if isinstance(happens, tuple):
        late_s, values = happens
        at_s = clock[0] - late_s
        return Transaction(at_s, tuple(Change("reading", 1, (v, v, 0.0)) for v in values))
    clock[0] += happens
    return Tick(clock[0])


def expected(entries, rows, slide, range_s) -> Counter:
    """What the law says, read from the log."""
    brought, now_s = [], -math.inf
    for one in entries:
        if isinstance(one, Tick):
            now_s = one.at_s
        else:
            brought += [(one.at_s, change.row[:2]) for change in one.changes]
    edge = len(brought) // slide * slide
    return Counter(row for at_s, row in brought[:edge][-rows:] if at_s > now_s - range_s)


@pytest.mark.parametrize("window", WINDOWS)
@quick
@given(events=st.lists(event, max_size=20), random=shuffles)
def test_laws(window, events, random) -> None:
    plan = compiled(query(window))
    single, whole, clock, entries = Bench(plan), Bench(plan), [100.0], []
    assert single.nodes(HoppingRowsWindow)
    for happens in events:
        entries.append(entry(happens, clock))
        single.take(entries[-1])
        if random.random() < 0.2:
            single.lane = Lane.restore(single.lane.snapshot())
        assert single.rows() == expected(entries, *WINDOWS[window])
    whole.take(*entries)
    assert whole.rows() == single.rows()


@pytest.mark.parametrize("lifetime", ["", "TTL 8 SECONDS"])
@pytest.mark.parametrize("window", WINDOWS)
@quick
@given(events=st.lists(event, max_size=20), late=st.integers(0, 20), random=shuffles)
def test_a_window_begun_late_is_where_it_would_be_had_it_stood(
    window, lifetime, events, late, random
) -> None:
    (created,) = parse(f"CREATE STREAM reading (sid INT, v INT, at_s FLOAT) {lifetime}")
    catalog = Catalog.of([created.relation])
    plan_of_q = plan_text(compile_query(query(window), catalog).plan)
    rows, slide, range_s = WINDOWS[window]
    law = (rows, slide, min(range_s, created.relation.ttl_s or math.inf))
    lane, clock, entries = Lane(), [100.0], []
    log = [Declare(0.0, created.relation)]
    for number, happens in enumerate(events):
        entries.append(entry(happens, clock))
        log.append(entries[-1])
        if number == late:
            log.append(Register(0.0, "q", plan_of_q))
        lane.apply(list(enumerate(log, start=lane.position + 1)))
        log.clear()
        if random.random() < 0.2:
            lane = Lane.restore(lane.snapshot())
        if number >= late:
            assert lane.rows("q") == expected(entries, *law)
            assert lane.views.by_name["q"].complete_since_s is None or lifetime


@quick
@given(events=st.lists(event, max_size=20))
def test_what_is_gone_leaves_nothing_behind(events) -> None:
    bench, clock = Bench(compiled(query(RANGED))), [100.0]
    for happens in [1, *events, 11]:
        bench.take(entry(happens, clock))
    assert bench.rows() == {}
    # The clock's one row came with the first tick.
    assert weight(bench.lane.circuit) <= bench.at_first + 1


def test_rows_that_will_never_be_inside_are_not_kept() -> None:
    bench, clock = Bench(compiled(query("[ROWS 2 SLIDE 1000]"))), [100.0]
    for _ in range(2_999):
        bench.take(entry((0, [1]), clock))
    (window,) = bench.lane.circuit.windows()
    assert window.kept() == 3
    assert bench.rows() == {(1, 1): 2}


def test_a_hypothetical_row_moves_the_window_only_if_it_is_the_last_of_so_many() -> None:
    bench, clock = Bench(compiled(query("[ROWS 3 SLIDE 2]"))), [100.0]
    (window,) = bench.lane.circuit.windows()
    new = (9, 9, 100.0)
    bench.take(entry((0, [0, 1, 2, 3]), clock))
    assert window.hypothetical(new, 1) == {}
    bench.take(entry((0, [4]), clock))
    assert window.hypothetical(new, 1) == {
        (1, 1, 0.0): -1,
        (2, 2, 0.0): -1,
        (4, 4, 0.0): 1,
        new: 1,
    }
    bench.take(Transaction(100.0, (Change("reading", 1, new),)))
    assert bench.rows() == {(3, 3): 1, (4, 4): 1, (9, 9): 1}


def test_a_slide_of_rows_is_refused_where_rows_are_not_counted() -> None:
    plan = compiled(query(RANGED))
    assert read_plan(plan_text(plan)) == plan
    (window,) = world.windows_of(plan)
    with pytest.raises(PlanError, match="moves a ROWS window"):
        Window(window.child, (), slide_rows=5, range_s=5.0)
    with pytest.raises(PlanError, match="has no partitions"):
        compiled(query("[PARTITION BY sid ROWS 4 SLIDE 2]"))
    (fast,) = parse("CREATE STREAM fast (k INT) FROM DEVICE d SAMPLE EVERY 0.00001 SECONDS")
    with pytest.raises(MisplacedWindow, match="are not counted"):
        compile_query("SELECT k FROM fast [ROWS 4 SLIDE 2]", Catalog.of([fast.relation]))
