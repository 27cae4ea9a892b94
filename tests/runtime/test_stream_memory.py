"""A new window begins as if it had stood; where too little is remembered, it says since when."""

from __future__ import annotations

import json
import math
import zlib
from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aspen.algebra.explain import plan_text
from aspen.algebra.lowerable import REMEMBERED_BELOW_HZ
from aspen.log.entry import Change, Declare, OneTimeKind, OneTimeQuery, Register, Tick, Transaction
from aspen.model.catalog import Catalog
from aspen.runtime import stream_memory
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query, parse

HELD = 4

(CREATED,) = parse("CREATE STREAM reading (k INT NOT NULL, v INT NOT NULL)")
(KEYED,) = parse("CREATE STREAM heard (k INT NOT NULL, v INT NOT NULL, KEY (k))")
(PASSING,) = parse("CREATE STREAM passing (k INT NOT NULL, v INT NOT NULL) TTL 5 SECONDS")
STREAMS = [one.relation for one in (CREATED, KEYED, PASSING)]
CATALOG = Catalog.of(STREAMS)

GAP_S = 4

# name: window, rows, range_s, slide_s, parted
WINDOWS = {
    "range": ("[RANGE 10 SECONDS]", None, 10, None, False),
    "sliding": ("[RANGE 10 SECONDS SLIDE 5 SECONDS]", None, 10, 5, False),
    "rows": ("[ROWS 3]", 3, math.inf, None, False),
    "parted": ("[PARTITION BY k ROWS 2]", 2, math.inf, None, True),
    "counted": ("[ROWS 3 SLIDE 2]", 3, math.inf, None, False),
    "session": (f"[PARTITION BY k SESSION {GAP_S} SECONDS]", None, math.inf, None, True),
    "both": ("[PARTITION BY k ROWS 2 RANGE 10 SECONDS]", 2, 10, None, True),
}
moments = st.one_of(
    st.tuples(
        st.just("rows"), st.lists(st.tuples(st.integers(0, 1), st.integers(0, 9)), max_size=3)
    ),
    st.tuples(st.just("tick"), st.integers(1, 6)),
)


def brought(readings: int) -> House:
    """A house with a reading a second, numbered from 0."""
    house = House()
    for number in range(readings):
        house.lives("rows", [(0, number)])
        house.lives("tick", 1)
    return house


def register(name, sql):
    return Register(0.0, name, plan_text(compile_query(sql, CATALOG).plan))


class House:
    """A lane, what was told of view `q`, and what arrived."""

    def __init__(self) -> None:
        self.lane, self.now_s, self.arrived, self.told = Lane(), 100.0, [], None
        self.take(*(Declare(0.0, one) for one in STREAMS), Tick(100.0))

    def take(self, *entries) -> None:
        first = self.lane.position + 1
        for change in self.lane.apply(list(enumerate(entries, start=first))):
            assert change.error is None
            if change.view == "q" and change.columns:
                self.told = change.complete_since_s

    def lives(self, kind, what, stream="reading") -> None:
        if kind == "tick":
            self.now_s += what
            self.take(Tick(self.now_s))
        elif what:
            self.take(Transaction(self.now_s, tuple(Change(stream, 1, row) for row in what)))
            self.arrived += [(self.now_s, row) for row in what]

    def edge_s(self, slide_s) -> float:
        return self.now_s if slide_s is None else math.floor(self.now_s / slide_s) * slide_s

    def expected(self, rows, range_s, slide_s, parted) -> list[tuple[float, tuple[int, int]]]:
        """What a window holds by its law."""
        edge_s = self.edge_s(slide_s)
        parts = defaultdict(list)
        for at_s, row in self.arrived:
            if slide_s is None or at_s <= edge_s:
                parts[row[0] if parted else None].append((at_s, row))
        newest = [one for part in parts.values() for one in part[-(rows or len(part)) :]]
        return [(at_s, row) for at_s, row in newest if at_s > edge_s - range_s]

    def counted(self) -> list[tuple[float, tuple[int, int]]]:
        """The newest three of as many as are in pairs."""
        return self.arrived[: len(self.arrived) // 2 * 2][-3:]

    def sessions(self) -> list[tuple[float, tuple[int, int]]]:
        """What belongs to the sessions that stand, seen from the newest row of each."""
        found, before = [], {0: self.now_s, 1: self.now_s}
        for at_s, row in reversed(self.arrived):
            if before[row[0]] - at_s < GAP_S:
                found.append((at_s, row))
                before[row[0]] = at_s
            else:
                before[row[0]] = math.inf
        return found


@pytest.mark.parametrize("kind", WINDOWS)
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(history=st.lists(moments, max_size=14), late=st.integers(0, 14), data=st.data())
def test_oracle_a_window_holds_what_it_would_had_it_stood(kind, history, late, data, monkeypatch):
    monkeypatch.setattr(stream_memory, "ROWS_HELD", HELD)
    window, *law = WINDOWS[kind]
    query = register("q", f"SELECT k, v FROM reading {window}")
    house = House()
    for number, (what, how) in enumerate(history):
        if number == late:
            house.take(query)
        if data.draw(st.booleans()):
            house.lane = Lane.restore(house.lane.snapshot())
        house.lives(what, how)
        if number < late:
            continue
        since_s = house.lane.views.by_name["q"].complete_since_s
        assert house.told == since_s
        expected, held = house.expected(*law), Counter(house.lane.rows("q"))
        if kind in ("session", "counted"):
            expected = house.sessions() if kind == "session" else house.counted()
        if since_s is None:
            assert held == Counter(row for _, row in expected)
        else:
            assert since_s > house.edge_s(law[2]) - law[1]
            assert not held - Counter(row for _, row in expected)
            assert not Counter(row for at_s, row in expected if at_s > since_s) - held


def test_what_is_remembered_does_not_depend_on_who_asks(monkeypatch):
    """Seven minutes' readings, asked for once, then with a query that stands, then again."""
    house = House()
    for _ in range(300):
        house.lives("rows", [(1, 1)])
        house.lives("tick", 1)
    sql = "SELECT COUNT(*) AS n FROM reading [RANGE 7 MINUTES]"

    for name in ("a", "b", "c"):
        if name == "b":
            house.take(register("q", sql))
            assert house.lane.rows("q") == {(300,): 1}
        plan = plan_text(compile_query(sql, CATALOG).plan)
        question = OneTimeQuery(house.now_s, name, "", (), OneTimeKind.ONCE, plan_text=plan)
        (answer,) = house.lane.apply([(house.lane.position + 1, question)])
        assert (answer.delta, answer.complete_since_s) == ({(300,): 1}, None)


def test_a_view_is_told_since_when_it_is_complete_until_it_is(monkeypatch):
    monkeypatch.setattr(stream_memory, "ROWS_HELD", HELD)
    house = brought(8)
    house.take(register("q", "SELECT v FROM reading [RANGE 6 SECONDS]"))
    assert house.lane.rows("q") == {(4,): 1, (5,): 1, (6,): 1, (7,): 1}  # 3 came at 103
    assert house.told == 103.0
    house.lives("tick", 1)
    # Registered again, and over the window that stands: it says the same.
    house.take(register("q", "SELECT COUNT(*) AS n FROM reading [RANGE 6 SECONDS]"))
    assert house.told is None, "109 less 6 is 103: nothing that is missing counts any more"


def test_rows_count_themselves_whole(monkeypatch):
    monkeypatch.setattr(stream_memory, "ROWS_HELD", HELD)
    house = brought(6)
    house.take(register("q", "SELECT v FROM reading [ROWS 5]"))
    assert (house.told, sum(house.lane.rows("q").values())) == (101.0, 4)
    house.lane = Lane.restore(house.lane.snapshot())
    house.lives("rows", [(0, 9)])
    assert (house.told, sum(house.lane.rows("q").values())) == (None, 5)


def test_nothing_outlives_its_stream(monkeypatch):
    """Where people were is gone from memory and snapshots when the stream's lifetime is over."""
    house = House()
    house.lives("rows", [(7, 4711)], "passing")
    house.lives("tick", 4)
    assert b"4711" in zlib.decompress(house.lane.snapshot())
    house.lives("tick", 1)
    assert b"4711" not in zlib.decompress(house.lane.snapshot())
    house.take(register("q", "SELECT v FROM passing [ROWS 3]"))
    assert (house.lane.rows("q"), house.told) == ({}, None)


def test_the_newest_row_per_key_is_remembered_beyond_the_others(monkeypatch):
    monkeypatch.setattr(stream_memory, "ROWS_HELD", HELD)
    house = House()
    house.lives("rows", [(0, 1)], "heard")
    for number in range(9):
        house.lives("rows", [(1, number)], "heard")
    house.take(register("q", "SELECT k, v FROM heard [PARTITION BY k ROWS 1]"))
    assert (house.lane.rows("q"), house.told) == ({(0, 1): 1, (1, 8): 1}, None)


def test_a_stream_of_another_shape_begins_anew():
    house = House()
    house.lives("rows", [(0, 1)])
    (changed,) = parse("CREATE STREAM reading (v INT NOT NULL)")
    house.take(Declare(0.0, changed.relation), Transaction(100.0, (Change("reading", 1, (5,)),)))
    scan = compile_query("SELECT v FROM reading [ROWS 9]", Catalog.of([changed.relation]))
    house.take(Register(0.0, "q", plan_text(scan.plan)))
    assert (house.lane.rows("q"), house.told) == ({(5,): 1}, None)


def test_snapshots_from_before_say_that_they_know_of_nothing_earlier():
    house = House()
    house.lives("rows", [(0, 1)])
    body = json.loads(zlib.decompress(house.lane.snapshot()))
    del body["recent"], body["since"]
    house.lane = Lane.restore(zlib.compress(json.dumps(body).encode()))
    house.take(register("q", "SELECT v FROM reading [RANGE 6 SECONDS]"))
    assert (house.lane.rows("q"), house.told) == ({}, 100.0)
    house.lives("tick", 6)
    assert house.told is None


def test_a_stream_that_was_too_fast_to_be_remembered_is_remembered_from_then_on():
    house, stream = House(), STREAMS[0]
    house.take(Declare(0.0, replace(stream, rate_hz=REMEMBERED_BELOW_HZ)))
    house.lives("rows", [(0, 1)])
    house.lives("tick", 3)
    house.lane = Lane.restore(house.lane.snapshot())
    house.take(Declare(house.now_s, replace(stream, rate_hz=1.0)))
    house.lives("rows", [(0, 2)])
    house.lives("tick", 1)
    house.take(register("q", "SELECT v FROM reading [RANGE 10 SECONDS]"))
    assert (house.lane.rows("q"), house.told) == ({(2,): 1}, 103.0)
