"""Registering costs nothing; the first who looks builds, the last who leaves takes all away."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from runtime.test_sharing import CATALOG, HEAT, NOW, ROOM

from aspen.algebra.explain import plan_text
from aspen.log.entry import (
    Change,
    Declare,
    Interest,
    Register,
    Tick,
    Transaction,
    Uninterest,
    Unregister,
)
from aspen.model.delta import merge
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query

QUERIES = {
    "warm": f"SELECT h.rid, h.sid FROM {NOW} WHERE h.celsius > 1.0",
    "upstairs": f"SELECT h.sid FROM {NOW} JOIN room r ON r.rid = h.rid WHERE r.level = 1",
    "downstairs": f"SELECT h.sid FROM {NOW} JOIN room r ON r.rid = h.rid WHERE r.level = 0",
    "counted": "SELECT w.rid, COUNT(*) AS n FROM warm w GROUP BY w.rid",
}
KEEP_S = 50.0


def plans():
    catalog, found = CATALOG, {}
    for name, sql in QUERIES.items():
        compiled = compile_query(f"CREATE VIEW {name} AS {sql}", catalog)
        catalog = catalog.of([*catalog, compiled.relation])
        found[name] = plan_text(compiled.plan)
    return found


PLANS = plans()
names = st.sampled_from(sorted(QUERIES))
steps = st.lists(
    st.one_of(
        st.tuples(st.just("room"), st.integers(0, 2), st.integers(0, 1)),
        st.tuples(st.just("heat"), st.integers(0, 4), st.integers(0, 2)),
        st.tuples(st.just("look"), names, st.sampled_from("ab")),
        st.tuples(st.just("look"), names, st.sampled_from("ab")),
        st.tuples(st.just("leave"), names, st.sampled_from("ab")),
        st.tuples(st.just("tick"), st.integers(1, 40), st.just(0)),
        st.tuples(st.just("restart"), st.just(0), st.just(0)),
    ),
    max_size=40,
)


class House:
    """A lane whose queries are kept on demand, and one that keeps them always."""

    def __init__(self):
        self.lane, self.always = Lane(), Lane()
        self.position, self.now_s = 0, 0.0
        self.rooms, self.until, self.folded = {}, {}, {}
        self.take([Declare(0.0, ROOM), Declare(0.0, HEAT)])
        self.take([Register(0.0, n, p, sharing="auto", on_demand=True) for n, p in PLANS.items()])

    def take(self, entries):
        numbered = list(enumerate(entries, self.position + 1))
        self.position += len(entries)
        for change in self.lane.apply(numbered):
            assert change.error is None, change
            if change.closed:
                self.folded.pop(change.view, None)
            else:
                assert change.columns or change.view in self.folded, "rows follow an opening"
                merge(self.folded.setdefault(change.view, {}), change.delta)
        self.always.apply(
            [
                (n, Register(0.0, e.view, e.plan_text) if isinstance(e, Register) else e)
                for n, e in numbered
            ]
        )

    def run(self, step):
        kind, one, other = step
        if kind == "room":
            rid = f"r{one}"
            old, self.rooms[rid] = self.rooms.get(rid), (rid, other)
            gone = [Change("room", -1, old)] if old else []
            new = Change("room", 1, (rid, other))
            self.take([Transaction(self.now_s, (*gone, new))])
        elif kind == "heat":
            row = (f"r{one % 3}", f"s{one}", float(other))
            self.take([Transaction(self.now_s, (Change("heat", 1, row),))])
        elif kind == "look":
            self.until[one, other] = self.now_s + KEEP_S
            self.take([Interest(self.now_s, one, other, KEEP_S)])
        elif kind == "leave":
            self.until.pop((one, other), None)
            self.take([Uninterest(self.now_s, one, other)])
        elif kind == "tick":
            self.now_s += one
            self.until = {k: until for k, until in self.until.items() if until >= self.now_s}
            self.take([Tick(self.now_s)])
        else:
            self.lane = Lane.restore(self.lane.snapshot())
            self.always = Lane.restore(self.always.snapshot())

    def check(self):
        looked_at = {name for name, _ in self.until}
        for name in QUERIES:
            if name in looked_at:
                assert self.folded[name] == self.always.rows(name) == self.lane.rows(name)
            else:
                assert name not in self.folded
                assert self.lane.rows(name) == {}
        if not looked_at:
            assert not self.lane.circuit._known


@settings(max_examples=60, deadline=None)
@given(steps)
def test_law_who_looks_sees_what_would_have_been_there_always(history):
    house = House()
    for step in history:
        house.run(step)
        house.check()
    house.take([Unregister(house.now_s, name) for name in QUERIES])
    assert not house.lane.circuit._known


def test_a_query_that_cannot_be_is_refused_before_anybody_looks():
    lane = Lane()
    entry = Register(0.0, "warm", PLANS["warm"], on_demand=True)
    (change,) = lane.apply([(1, entry)])
    assert change.error["code"] == "aspen.views.unknown_source"
    changes = lane.apply([(2, Declare(0.0, HEAT)), (3, Interest(0.0, "warm", "a", 9.0))])
    assert changes[-1].columns
    assert changes[-1].error is None


def test_who_dies_is_forgotten_by_log_time():
    house = House()
    house.run(("look", "warm", "a"))
    assert "warm" in house.folded
    house.run(("tick", 49, 0))
    assert "warm" in house.folded
    house.run(("tick", 2, 0))
    assert "warm" not in house.folded
    assert not house.lane.circuit._known
