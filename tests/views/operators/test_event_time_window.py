"""A window over event time holds what happened lately, in whatever order it came."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from views import small_world as world
from views.operators.laws import Bench, compiled, quick, shuffles, weight

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import PlanError
from aspen.algebra.read import read_plan
from aspen.algebra.times import from_epoch
from aspen.errors import AspenError
from aspen.log.entry import Change, Declare, Register, Tick, Transaction
from aspen.model.catalog import Catalog
from aspen.runtime import stream_memory
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query, parse
from aspen.streamsql.errors import MisplacedWindow
from aspen.views.operators.event_time_window import EventTimeWindow

LATENESS_S = 4.0
# window: range, slide
WINDOWS = {
    "[RANGE 10 SECONDS ON at_s LATENESS 4 SECONDS]": (10, None),
    "[RANGE 10 SECONDS SLIDE 3 SECONDS LATENESS 4 SECONDS ON r.at_s]": (10, 3),
    "[TUMBLE 5 SECONDS ON at_s LATENESS 4 SECONDS]": (5, 5),
}
SIMPLE, *_ = WINDOWS

came = st.tuples(st.integers(0, 3), st.sampled_from((-16, -14, -12, -8, -3, 0, 0, 0, 2, 4, 5)))
event = came | st.integers(1, 7)
"""What comes, and how many seconds its own time is from the log's, or seconds that pass."""


def query(window):
    return f"SELECT r.sid, r.v FROM reading r {window}"


def entry(happens, clock):
    if isinstance(happens, tuple):
        v, off_s = happens
        row = (v, v, clock[0] + off_s)
        return Transaction(clock[0], (Change("reading", 1, row),))
    clock[0] += happens
    return Tick(clock[0])


def edge(now_s, slide_s):
    return now_s if slide_s is None or math.isinf(now_s) else now_s // slide_s * slide_s


def expected(entries, range_s, slide_s) -> tuple[Counter, int]:
    """What the law says, read from the log: the rows inside, and how many were late."""
    taken, late, now_s = [], 0, -math.inf
    for one in entries:
        if isinstance(one, Tick):
            now_s = one.at_s
            continue
        (change,) = one.changes
        own_s = change.row[2]
        late += own_s > one.at_s + LATENESS_S
        late += own_s <= edge(now_s, slide_s) - range_s - LATENESS_S
        if own_s <= one.at_s + LATENESS_S:
            taken.append((own_s, change.row[:2]))
    end_s = edge(now_s, slide_s)
    return Counter(row for own_s, row in taken if end_s - range_s < own_s <= end_s), late


@pytest.mark.parametrize("window", WINDOWS)
@quick
@given(events=st.lists(event, max_size=20), random=shuffles)
def test_laws(window, events, random) -> None:
    plan = compiled(query(window))
    single, whole, clock, entries = Bench(plan), Bench(plan), [100.0], []
    assert single.nodes(EventTimeWindow)
    for happens in events:
        entries.append(entry(happens, clock))
        single.take(entries[-1])
        if random.random() < 0.2:
            single.lane = Lane.restore(single.lane.snapshot())
        rows, late = expected(entries, *WINDOWS[window])
        (operator,) = single.lane.circuit.windows()
        assert (single.rows(), operator.late) == (rows, late)
    whole.take(*entries)
    assert whole.rows() == single.rows()


@pytest.mark.parametrize("window", WINDOWS)
@quick
@given(
    times=st.lists(st.integers(100, 120), max_size=12),
    delays=st.lists(st.integers(-4, 15), min_size=12, max_size=12),
    random=shuffles,
)
def test_the_order_of_arrival_does_not_show(window, times, delays, random) -> None:
    """Each row comes any time from its own less the lateness on, and none after the last tick."""
    ordered = [(float(own_s), (n, n, float(own_s))) for n, own_s in enumerate(times)]
    jumbled = [
        (min(own_s + delay, 121.0), row)
        for (own_s, row), delay in zip(ordered, delays, strict=False)
    ]
    random.shuffle(jumbled)
    benches = []
    for arrivals in (sorted(ordered), sorted(jumbled, key=lambda one: one[0])):
        bench, waiting = Bench(compiled(query(window))), list(arrivals)
        for second in range(96, 122):
            while waiting and waiting[0][0] <= second:
                at_s, row = waiting.pop(0)
                bench.take(Transaction(at_s, (Change("reading", 1, row),)))
            bench.take(Tick(float(second)))
        benches.append(bench)
    assert benches[0].rows() == benches[1].rows()
    range_s, slide_s = WINDOWS[window]
    end_s = edge(121.0, slide_s)
    inside = [n for n, own_s in enumerate(times) if end_s - range_s < own_s <= end_s]
    assert benches[0].rows() == Counter((n, n) for n in inside)


@pytest.mark.parametrize("kind", ["FLOAT", "TIMESTAMPTZ"])
@pytest.mark.parametrize("lifetime", ["", "TTL 9 SECONDS"])
@pytest.mark.parametrize("window", WINDOWS)
@quick
@given(events=st.lists(event, max_size=20), late=st.integers(0, 20), random=shuffles)
def test_a_window_begun_late_says_since_when_it_is_complete(
    window, lifetime, kind, events, late, random, monkeypatch
) -> None:
    (created,) = parse(f"CREATE STREAM reading (sid INT, v INT, at_s {kind}) {lifetime}")
    catalog = Catalog.of([created.relation])
    plan_of_q = plan_text(compile_query(query(window), catalog).plan)
    range_s, slide_s = WINDOWS[window]
    range_s = min(range_s, (created.relation.ttl_s or math.inf) - LATENESS_S)
    lane, clock, entries = Lane(), [100.0], []
    log = [Declare(0.0, created.relation)]
    monkeypatch.setattr(stream_memory, "ROWS_HELD", 4)
    for number, happens in enumerate(events):
        entries.append(entry(happens, clock))
        log.append(entries[-1])
        if kind == "TIMESTAMPTZ" and isinstance(entries[-1], Transaction):
            (sid, v, own_s) = entries[-1].changes[0].row
            row = (sid, v, from_epoch(own_s))
            log[-1] = Transaction(entries[-1].at_s, (Change("reading", 1, row),))
        if number == late:
            log.append(Register(0.0, "q", plan_of_q))
        lane.apply(list(enumerate(log, start=lane.position + 1)))
        log.clear()
        if random.random() < 0.2:
            lane = Lane.restore(lane.snapshot())
        if number < late:
            continue
        rows, since_s = lane.rows("q"), lane.views.by_name["q"].complete_since_s
        whole, _ = expected(entries, range_s, slide_s)
        assert not Counter(rows) - whole
        if since_s is None:
            assert rows == whole
        newer = (
            [one for one in entries if isinstance(one, Tick) or one.changes[0].row[2] > since_s]
            if since_s is not None
            else entries
        )
        assert not expected(newer, range_s, slide_s)[0] - Counter(rows)


@quick
@given(events=st.lists(event, max_size=20))
def test_what_is_gone_leaves_nothing_behind(events) -> None:
    bench, clock = Bench(compiled(query(SIMPLE))), [100.0]
    for happens in [1, *events, 15]:
        bench.take(entry(happens, clock))
    assert bench.rows() == {}
    # The clock's one row came with the first tick.
    assert weight(bench.lane.circuit) <= bench.at_first + 1


def test_rows_without_a_time_of_their_own_are_late() -> None:
    (created,) = parse("CREATE STREAM reading (sid INT, v INT, at_s TIMESTAMPTZ)")
    plan = compile_query(query(SIMPLE), Catalog.of([created.relation])).plan
    lane = Lane()
    rows = [(1, 1, None), (2, 2, from_epoch(103.0)), (3, 3, from_epoch(104.5))]
    sql = "SELECT o.late_rows FROM sys.operators o WHERE o.kind = 'EventTimeWindow'"
    seen = compile_query(sql, Catalog.of(lane.relations.values()))
    log = [
        Declare(0.0, created.relation),
        Register(0.0, "q", plan_text(plan)),
        Register(0.0, "seen", plan_text(seen.plan)),
        Tick(100.0),
        Transaction(100.0, tuple(Change("reading", 1, row) for row in rows)),
    ]
    lane.apply(list(enumerate(log, start=1)))
    assert lane.rows("q") == {}, "103 has not come yet"
    lane.apply([(6, Tick(103.0))])
    assert (lane.rows("q"), lane.rows("seen")) == ({(2, 2): 1}, {(2,): 1})


def test_a_hypothetical_row_enters_by_its_own_time() -> None:
    bench = Bench(compiled(query(SIMPLE)))
    bench.take(Tick(100.0))
    (window,) = bench.lane.circuit.windows()
    for own_s, inside in ((90.0, False), (90.5, True), (100.0, True), (101.0, False)):
        row = (1, 1, own_s)
        assert window.hypothetical(row, 1) == ({row: 1} if inside else {})


@pytest.mark.parametrize(
    ("window", "error", "says"),
    [
        ("[ROWS 3 ON at_s]", PlanError, "ON bounds a window of time alone"),
        ("[SESSION 5 SECONDS ON at_s]", PlanError, "ON bounds a window of time alone"),
        ("[RANGE 5 SECONDS LATENESS 3 SECONDS]", PlanError, "LATENESS needs the column"),
        ("[RANGE 5 SECONDS ON v]", MisplacedWindow, "'v' does not say when a row happened"),
        ("[RANGE 5 SECONDS ON nowhere]", AspenError, "nowhere"),
    ],
)
def test_what_has_no_event_time_is_refused(window, error, says) -> None:
    with pytest.raises(error, match=says):
        compiled(query(window))


def test_a_lateness_as_long_as_the_stream_lives_is_refused() -> None:
    (created,) = parse("CREATE STREAM reading (sid INT, v INT, at_s FLOAT) TTL 4 SECONDS")
    with pytest.raises(MisplacedWindow, match="no longer than the lateness"):
        compile_query(query(SIMPLE), Catalog.of([created.relation]))


def test_plan_text_reads_back() -> None:
    plan = compiled(query(SIMPLE))
    assert read_plan(plan_text(plan)) == plan
    (window,) = world.windows_of(plan)
    assert (window.on, window.lateness_s) == ("r.at_s", 4.0)
