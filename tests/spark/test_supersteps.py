"""Supersteps through the lane processor: crashes, repeats, snapshots do not show."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import Row
from spark.networks import PLAN, RELATIONS, VIEW
from spark.test_lane_processor import Worker

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Register, Transaction, encode
from aspen.log.superstep import decode_superstep, encode_superstep
from aspen.model.delta import accumulate, merge
from aspen.results.wire import decode_changes
from aspen.runtime.outcome import merge_parts
from aspen.spark import residents
from tests.oracle import evaluate

NODES = 6


class Cluster:
    """Two lanes behind a source and a sink that do as Spark does, and whatever happens to them."""

    def __init__(self, draw, begun=7, base=b"", at=0):
        self.draw = draw
        self.lanes = [Worker(lanes=2, number=number, compact_entries=6) for number in range(2)]
        self.position, self.supersteps = 0, begun
        self.begun = begun  # other queries had the supersteps before
        self.base, self.at = base, at
        self.rows = {}
        self.began = False
        self.newest_base = (0, b"")
        residents.RESIDENT.clear()

    def take(self, data):
        """Run batches until an epoch is written."""
        since, after = self.position, self.position or self.at
        self.position = after + len(data)
        steps = [(after + n, one) for n, one in enumerate(data, start=1)]
        rows = self._batch(after, self.supersteps, since, steps)
        while not all(row.quiescent for row in rows):
            heard = encode_superstep(
                rows[0].at_s, self.supersteps + 1, [row.crossing for row in rows]
            )
            rows = self._batch(self.position, self.supersteps, since, [(self.position, heard)])
            self.supersteps += 1
            assert self.supersteps < 1_000, "it never ends"
        assert {(row.position, row.supersteps) for row in rows} == {
            (self.position, self.supersteps)
        }
        told = [change for row in rows for change in decode_changes(row.changes)]
        told += merge_parts(decode_changes(row.parts) for row in rows)
        for change in told:
            assert change.error is None
            merge(self.rows.setdefault(change.view, {}), change.delta)

    def _batch(self, after, supersteps, since, steps):
        rows = [self._run(worker, after, supersteps, since, steps) for worker in self.lanes]
        self.began = True
        return rows

    def _run(self, worker, after, supersteps, since, steps):
        where = {
            "appended_ms": 5,
            "read_ms": 6.0,
            "after": after,
            "supersteps": supersteps,
            "since": since,
        }
        rows = [Row(position=p, entry=data, snapshot=False, **where) for p, data in steps]
        if self.base and not self.began:
            rows.append(Row(position=self.at, entry=self.base, snapshot=True, **where))

        def run():
            if self.draw(st.sampled_from([False, False, True])):
                worker.residents = [{}]
            residents.RESIDENT.clear()
            residents.RESIDENT.update(worker.residents[0])
            (row,) = worker.tester.test(worker.key, rows)
            worker.residents = [dict(residents.RESIDENT)]
            return row

        before = worker.history() if self.began else []
        row = run()
        if before and self.draw(st.sampled_from([False, False, True])):
            # The store goes back to its last version, the worker's memory does not.
            worker.tester.updateListState("history", worker.key, before)
            again = run()
            assert json.loads(again.crossing or "{}") == json.loads(row.crossing or "{}")
            assert (again.quiescent, folded(again)) == (row.quiescent, folded(row))
        if row.base is not None:
            self.newest_base = (row.position, bytes(row.base))
        return row


def folded(row):
    return [{c.view: c.delta for c in decode_changes(text)} for text in (row.changes, row.parts)]


node = st.integers(0, NODES - 1)
edges = st.tuples(st.just("edge"), st.tuples(node, node, st.integers(0, 3)))
exits = st.tuples(st.just("exit"), st.tuples(node))
drops = st.tuples(st.just("drop"), st.integers(0, 40))
histories = st.lists(
    st.lists(st.one_of(edges, edges, exits, drops), min_size=1, max_size=5), min_size=2, max_size=5
)


def opening():
    places = [Change("place", 1, (n, f"floor {n % 4}")) for n in range(NODES)]
    entries = [Declare(0.0, relation) for relation in RELATIONS]
    entries += [Register(0.0, VIEW, plan_text(PLAN)), Transaction(0.0, tuple(places))]
    return [encode(entry) for entry in entries]


def entries_of(tables, epoch):
    for kind, what in epoch:
        name, weight, row = kind, 1, what
        if kind == "drop":
            there = sorted((name, row) for name in ("edge", "exit") for row in tables[name])
            if not there:
                continue
            (name, row), weight = there[what % len(there)], -1
        accumulate(tables[name], row, weight)
        yield encode(Transaction(1.0, (Change(name, weight, row),)))


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(histories, st.data())
def test_law_crashes_repeats_and_snapshots_between_supersteps_do_not_show(history, data):
    cluster = Cluster(data.draw)
    cluster.take(opening())
    tables = {"edge": {}, "exit": {}, "place": {(n, f"floor {n % 4}"): 1 for n in range(NODES)}}
    for epoch in history:
        entries = list(entries_of(tables, epoch))
        if entries:
            cluster.take(entries)
        assert cluster.rows.get(VIEW, {}) == evaluate(PLAN, tables)
    position, base = cluster.newest_base
    if position != cluster.position:
        return
    # Another query begins with what the log was folded into, be it in the middle of an epoch.
    again = Cluster(data.draw, cluster.supersteps + 1, base, position)
    again.take([])
    assert again.rows.get(VIEW, {}) == evaluate(PLAN, tables)
    for epoch in history:
        entries = list(entries_of(tables, epoch))
        if entries:
            again.take(entries)
        assert again.rows.get(VIEW, {}) == evaluate(PLAN, tables)


def test_a_round_is_put_together_without_reading_it():
    told = ['{"r":[[1,"a",null],[-1,"b",2]]}', ""]
    heard = decode_superstep(encode_superstep(1.5, 3, told))
    assert (heard.at_s, heard.number) == (1.5, 3)
    assert heard.sent == ({"r": {("a", None): 1, ("b", 2): -1}}, {})
