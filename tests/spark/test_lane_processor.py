"""A lane in Spark's own test harness: crashes, other workers and repeated batches do not show."""

from __future__ import annotations

import json
import random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester
from views import small_world as world

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, OneTimeQuery, Transaction, encode
from aspen.model.delta import merge
from aspen.results.wire import decode_changes
from aspen.runtime.outcome import merge_parts
from aspen.spark import question_children, residents
from aspen.spark.lane_processor import LaneProcessor, LaneSettings

KEY = 0


class Worker:
    """The state store of one lane, and Python workers that may come and go."""

    def __init__(self, lanes=1, number=0, **settings):
        self.keys = tuple(range(lanes))
        self.key = self.keys[number]
        self.tester = TwsTester(LaneProcessor(LaneSettings("log", keys=self.keys, **settings)))
        self.residents = [{}]
        self.position = 0

    def run(self, data, worker=0, base=None):
        """Process one batch of encoded entries in a worker; give the output row."""
        while len(self.residents) <= worker:
            self.residents.append({})
        residents.RESIDENT.clear()
        residents.RESIDENT.update(self.residents[worker])
        where = {"after": self.position, "supersteps": 0, "since": self.position}
        rows = [
            Row(
                lane=self.key,
                position=self.position + n,
                entry=entry,
                appended_ms=5,
                read_ms=6.0,
                snapshot=False,
                **where,
            )
            for n, entry in enumerate(data, start=1)
        ]
        if base is not None:
            rows.append(
                Row(
                    lane=self.key,
                    position=self.position,
                    entry=base,
                    appended_ms=0,
                    read_ms=6.0,
                    snapshot=True,
                    **where,
                )
            )
        random.Random(len(data)).shuffle(rows)
        (row,) = self.tester.test(self.key, rows)
        self.residents[worker] = dict(residents.RESIDENT)
        return row

    def accept(self, row):
        self.position = row.position

    def history(self):
        return self.tester.peekListState("history", self.key)


def how(row):
    return next(
        key
        for key in json.loads(row.timing)
        if key in {"lane_warm", "lane_asked", "lane_behind", "lane_rebuilt"}
    )


def first_batch():
    return [encode(entry) for entry in (*world.declarations(), *world.registrations(plan_text))]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(world.histories, st.data())
def test_law_crashes_and_repeats_do_not_show(history, data):
    worker, model, folded = Worker(compact_entries=12), world.Model(), {}
    batches = [first_batch()]
    for epoch in history:
        entries = [encode(entry) for operation in epoch for entry in model.entries(operation)]
        batches += [entries] if entries else []
    for batch in batches:
        before = worker.history()
        row = worker.run(batch, data.draw(st.integers(0, 2), label="worker"))
        if data.draw(st.booleans(), label="Spark repeats the batch"):
            # The store goes back to its last version, the worker's memory does not.
            worker.tester.updateListState("history", worker.key, before)
            if data.draw(st.booleans(), label="in a fresh worker"):
                worker.residents = [{}]
            again = worker.run(batch, data.draw(st.integers(0, 2), label="worker"))
            assert folded_by(again) == folded_by(row)
        worker.accept(row)
        for view, delta in folded_by(row).items():
            merge(folded.setdefault(view, {}), delta)
    for view, rows in model.answers().items():
        assert folded[view] == rows, view


def folded_by(row):
    out = {}
    for change in decode_changes(row.changes):
        assert change.error is None
        merge(out.setdefault(change.view, {}), change.delta)
    return out


def test_a_lane_stays_in_its_worker_and_catches_up_in_another():
    worker, model = Worker(), world.Model()
    worker.accept(worker.run(first_batch()))
    found = []
    for number, place in enumerate([0, 0, 1, 1, 0, 2, 0]):
        row = worker.run([encode(e) for e in model.entries(("ins", "lit", (number,)))], place)
        worker.accept(row)
        found.append(how(row).removeprefix("lane_"))
    assert found == ["warm", "warm", "rebuilt", "warm", "behind", "rebuilt", "behind"]


def test_the_store_is_compacted_and_a_fresh_worker_starts_from_the_snapshot():
    worker, model = Worker(compact_entries=40), world.Model()
    worker.accept(worker.run(first_batch()))
    for number in range(25):
        worker.accept(worker.run([encode(e) for e in model.entries(("ins", "lit", (number,)))]))
    history = worker.history()
    assert history[0][1], "the first item is a snapshot"
    assert not any(item[1] for item in history[1:])
    assert len(history) < 25
    worker.residents = [{}]
    row = worker.run([encode(e) for e in model.entries(("ins", "lit", (99,)))])
    assert how(row) == "lane_rebuilt"
    (resident,) = worker.residents[0].values()
    assert resident.lane.rows("region") == model.answers()["region"]


def spread(rows):
    """Returns what several lanes told alone, and what they told together."""
    alone = [set(folded_by(row)) for row in rows]
    return alone, {c.view for row in rows for c in decode_changes(row.parts)}


def test_each_view_is_told_by_one_lane_or_in_parts():
    rows = [Worker(lanes=3, number=number).run(first_batch()) for number in range(3)]
    alone, together = spread(rows)
    assert set().union(*alone) | together == set(world.VIEWS)
    assert sum(map(len, alone)) + len(together) == len(world.VIEWS)
    assert {"reach", "way"} <= together
    (merged,) = [c for c in merge_parts(decode_changes(r.parts) for r in rows) if c.view == "way"]
    assert [name for name, _, _ in merged.columns] == ["name", "node", "cost"]


def test_a_question_is_answered_by_one_lane(monkeypatch):
    monkeypatch.setattr(question_children, "MOMENT_S", 60.0)
    monkeypatch.setattr(question_children, "MOMENTS_PART", 1.0)
    seed = Transaction(1.0, (Change("pair", 1, (1, 2)),))
    data = [*first_batch(), encode(seed), encode(OneTimeQuery(1.0, "q", "both", (2,)))]
    rows = [Worker(lanes=3, number=number).run(data) for number in range(3)]
    (answer,) = filter(None, (folded_by(row).get("why:q") for row in rows))
    assert answer == {(1, "pair", "[1,2]", True, True): 1}


def test_what_is_told_already_is_not_told_again():
    worker, model = Worker(published=40), world.Model()
    row = worker.run(first_batch())
    worker.accept(row)
    silent = 40 - row.position
    assert silent > 0, "the first batch ends before that"
    assert (row.changes, row.parts) == ("[]", "[]")
    entries = [encode(e) for n in range(40) for e in model.entries(("ins", "pair", (n, n)))]
    for part in (entries[:silent], entries[silent:]):
        row = worker.run(part)
        worker.accept(row)
        assert (row.changes == "[]") is (row.position <= 40)


def test_bytes_that_are_no_entry_are_recorded_and_change_no_other_view(caplog):
    worker, model = Worker(), world.Model()
    worker.accept(worker.run(first_batch()))
    entry = [encode(e) for e in model.entries(("ins", "lit", (1,)))]
    row = worker.run([b"\xff\xfe", *entry, b'{"k":"z"}'])
    assert row.position == worker.position + 3
    (resident,) = worker.residents[0].values()
    assert resident.lane.rows("region") == model.answers()["region"]
    first = worker.position + 1
    errors = [(position, code) for position, code, _, _ in resident.lane.errors.rows]
    assert errors == [(first, "aspen.log.bad_entry"), (first + 2, "aspen.log.bad_entry")]
    assert all(f"log position {position}:" in caplog.text for position, _ in errors)
    assert '{"v":"engine_error"' in row.changes
    assert row.at_s == max(e.at_s for e in model.entries(("ins", "lit", (1,))))


def test_a_compacted_log_begins_with_its_base():
    whole, model = Worker(compact_entries=10), world.Model()
    whole.accept(whole.run(first_batch()))
    folded, base = {}, None
    for number in range(20):
        row = whole.run([encode(e) for e in model.entries(("ins", "lit", (number % 5,)))])
        whole.accept(row)
        base = (row.position, row.base) if row.base is not None else base
    assert base is not None
    late = Worker()
    late.position = base[0]
    more = [encode(e) for e in model.entries(("ins", "link", (1, 2, 3)))]
    row = late.run(more, base=bytes(base[1]))
    assert row.position == base[0] + len(more)
    for view, delta in folded_by(row).items():
        merge(folded.setdefault(view, {}), delta)
    (resident,) = late.residents[0].values()
    for view in world.VIEWS:
        assert folded.get(view, {}) == resident.lane.rows(view), view
    again = Worker()
    again.position = base[0]
    row = again.run([], base=bytes(base[1]))
    assert row.position == base[0]
    assert len(again.history()) == 1
