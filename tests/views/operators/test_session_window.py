"""A session holds what came since nothing came for a while, and ends when nothing does again."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from views import small_world as world
from views.operators.laws import Bench, compiled, quick, shuffles, weight

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import PlanError, Window
from aspen.algebra.read import read_plan
from aspen.log.entry import Change, Tick, Transaction
from aspen.model.catalog import Catalog
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query, parse
from aspen.streamsql.errors import MisplacedWindow
from aspen.views.operators.session_window import SessionWindow

GAP_S = 5.0
QUERIES = {
    "whole": "SELECT r.sid, r.v FROM reading r [SESSION 5 SECONDS]",
    "parted": "SELECT r.sid, r.v FROM reading r [PARTITION BY sid SESSION 5 SECONDS]",
}

arrival = st.tuples(st.integers(0, 2), st.integers(0, 2), st.sampled_from((0, 0, 0, 2, 5, 9)))
event = arrival | st.integers(1, 7)
"""What arrives, (sid, v) and how many seconds late, or seconds that pass."""


def entry(happens, clock):
    if isinstance(happens, tuple):
        sid, v, late_s = happens
        return Transaction(clock[0] - late_s, (Change("reading", 1, (sid, v, 0.0)),))
    clock[0] += happens
    return Tick(clock[0])


def expected(entries, *, parted) -> Counter:
    """What the law says, read from the log with every session as the list of its rows' times."""
    sessions, now_s = {}, float("-inf")
    for one in entries:
        if isinstance(one, Tick):
            now_s = one.at_s
            sessions = {
                key: rows
                for key, rows in sessions.items()
                if max(at_s for at_s, _ in rows) + GAP_S > now_s
            }
            continue
        (change,) = one.changes
        key, arrived = change.row[0] if parted else None, (one.at_s, change.row[:2])
        rows = sessions.get(key)
        if rows is not None and one.at_s - max(at_s for at_s, _ in rows) < GAP_S:
            rows.append(arrived)
        elif one.at_s > now_s - GAP_S:
            sessions[key] = [arrived]
    return Counter(row for rows in sessions.values() for _, row in rows)


@pytest.mark.parametrize("case", QUERIES)
@quick
@given(events=st.lists(event, max_size=20), random=shuffles)
def test_laws(case, events, random) -> None:
    plan = compiled(QUERIES[case])
    single, whole = Bench(plan), Bench(plan)
    assert single.nodes(SessionWindow)
    clock, entries = [100.0], []
    for happens in events:
        entries.append(entry(happens, clock))
        single.take(entries[-1])
        assert single.rows() == expected(entries, parted=case == "parted")
        if random.random() < 0.2:
            single.lane = Lane.restore(single.lane.snapshot())
            assert single.rows() == expected(entries, parted=case == "parted")
    whole.take(*entries)
    assert whole.rows() == single.rows()


@pytest.mark.parametrize("case", QUERIES)
@quick
@given(events=st.lists(event, max_size=20))
def test_what_has_ended_leaves_nothing_behind(case, events) -> None:
    bench, clock = Bench(compiled(QUERIES[case])), [100.0]
    for happens in [1, *events, 7, 7]:
        bench.take(entry(happens, clock))
    assert bench.rows() == {}
    # The clock's one row came with the first tick.
    assert weight(bench.lane.circuit) <= bench.at_first + 1


@pytest.mark.parametrize(("later_s", "joins"), [(4.5, True), (5.0, False)])
def test_a_gap_as_long_as_the_gap_ends_a_session(later_s, joins) -> None:
    bench = Bench(compiled(QUERIES["whole"]))
    for number, at_s in enumerate((100.0, 100.0 + later_s)):
        bench.take(Transaction(at_s, (Change("reading", 1, (number, 7, at_s)),)))
    assert bench.rows() == ({(0, 7): 1, (1, 7): 1} if joins else {(1, 7): 1})
    bench.take(Tick(100.0 + later_s + 4.5))
    assert (1, 7) in bench.rows()
    bench.take(Tick(100.0 + later_s + 5.0))
    assert bench.rows() == {}


def test_a_selection_does_not_take_rows_out_of_the_middle_of_a_session() -> None:
    bench = Bench(compiled(f"{QUERIES['whole']} WHERE r.v = 1"))
    for number, v in enumerate((1, 0, 1)):
        at_s = 100.0 + 3 * number
        bench.take(Transaction(at_s, (Change("reading", 1, (number, v, at_s)),)))
    assert bench.rows() == {(0, 1): 1, (2, 1): 1}


def test_a_gap_alone_bounds_a_session() -> None:
    plan = compiled(QUERIES["parted"])
    assert read_plan(plan_text(plan)) == plan
    (window,) = world.windows_of(plan)
    with pytest.raises(PlanError, match="a gap alone"):
        Window(window.child, (), rows=3, session_s=5.0)
    with pytest.raises(PlanError, match="must hold something"):
        Window(window.child, (), session_s=0.0)


def test_a_stream_that_forgets_has_no_sessions() -> None:
    """Where somebody was an hour ago is not kept because he has been moving since."""
    (passing,) = parse("CREATE STREAM passing (v INT NOT NULL) TTL 60 SECONDS")
    with pytest.raises(MisplacedWindow, match="kept for 60 s") as refused:
        compile_query("SELECT v FROM passing [SESSION 5 MINUTES]", Catalog.of([passing.relation]))
    assert refused.value.attempt == "[RANGE 60 SECONDS]"
