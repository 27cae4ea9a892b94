"""A snapshot says what a view is made of once, however many read it, and all the same restores."""

from __future__ import annotations

import json
import zlib

from runtime.test_sharing import CATALOG, HEAT, NOW, ROOM

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Register, Transaction, Unregister
from aspen.model.catalog import Catalog
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query

READERS = 20


def registrations():
    warm = compile_query(
        f"CREATE VIEW warm AS SELECT h.rid, h.sid, r.level FROM {NOW} "
        "JOIN room r ON r.rid = h.rid WHERE h.celsius > 1.0",
        CATALOG,
    )
    catalog = Catalog.of([*CATALOG, warm.relation])
    yield Register(0.0, "warm", plan_text(warm.plan))
    for number in range(READERS):
        sql = f"SELECT w.sid FROM warm w WHERE w.rid = 'r{number % 3}' AND w.level < {number}"
        plan = plan_text(compile_query(sql, catalog).plan)
        yield Register(0.0, f"q{number}", plan, sharing="auto")


def filled():
    lane = Lane()
    heat = [Change("heat", 1, (f"r{n % 3}", f"s{n}", 5.0)) for n in range(9)]
    rooms = [Change("room", 1, (f"r{n}", n)) for n in range(3)]
    entries = [Declare(0.0, ROOM), Declare(0.0, HEAT), *registrations()]
    entries.append(Transaction(0.0, (*rooms, *heat)))
    assert not any(change.error for change in lane.apply(list(enumerate(entries, start=1))))
    return lane


def closed_texts(lane):
    body = json.loads(zlib.decompress(lane.snapshot()))
    return [text for _, text, *_ in body["views"] if text is not None]


def answers(lane):
    return {name: lane.rows(name) for name in lane.views.by_name}


def test_readers_of_a_view_are_closed_over_it_again():
    lane = filled()
    assert closed_texts(lane) == []
    restored = Lane.restore(lane.snapshot())
    assert answers(restored) == answers(lane)
    assert any(answers(lane).values())


def test_readers_of_a_view_that_ended_keep_what_it_was():
    lane = filled()
    before = answers(lane)
    lane.apply([(lane.position + 1, Unregister(0.0, "warm"))])
    assert len(closed_texts(lane)) == READERS
    restored = Lane.restore(lane.snapshot())
    assert len(closed_texts(restored)) == READERS, "nor is it forgotten the second time"
    del before["warm"]
    assert answers(restored) == before
    gone = [(lane.position + 1, Transaction(0.0, (Change("room", -1, ("r1", 1)),)))]
    restored.apply(gone)
    lane.apply(gone)
    assert answers(restored) == answers(lane) != before
