"""The campus has the answers networkx gives, and the gateways' readings those of the window."""

from __future__ import annotations

import math
from random import Random

import pytest

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Register, Tick, Transaction
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query
from tests.bench.scale import TARGETS
from tests.bench.scale_campus import (
    CATALOG,
    FROM_RESOURCES,
    FROM_SOURCES,
    RANKS,
    RELATIONS,
    VIEW,
    Campus,
    Size,
)
from tests.bench.scale_campus_run import transactions
from tests.bench.scale_gateways import READINGS_PER_TRANSACTION, readings
from tests.bench.scale_rate import AGGREGATE, RANGE_S, READING

TINY = Size(buildings=2, floors=2, side=6, machines=12, requests=10)


def fed(lane: Lane, *entries):
    return lane.apply(list(enumerate(entries, start=lane.position + 1)))


@pytest.mark.parametrize("seed", range(3))
def test_differential_both_forms_and_networkx_agree_while_doors_move(seed) -> None:
    campus, lane, draw = Campus(TINY, seed), Lane(), Random(seed)
    fed(lane, *(Declare(0.0, relation) for relation in RELATIONS), *transactions(campus))
    for name, sql in ((VIEW, FROM_RESOURCES), ("from_sources", FROM_SOURCES)):
        fed(lane, Register(1.0, name, plan_text(compile_query(sql, CATALOG).plan), "auto"))
    numbers = {mid: number for number, mid, _ in campus.machines}
    for _ in range(25):
        expected = campus.nearest()
        assert set(lane.rows(VIEW)) == expected
        assert {(s, *divmod(score, RANKS)) for s, score in lane.rows("from_sources")} == {
            (session, cost_mm, numbers[mid]) for session, mid, _, cost_mm in expected
        }
        doors = campus.doors_on_ways() or range(campus.doors)
        old, new = campus.toggle(draw.choice([*doors, draw.randrange(campus.doors)]))
        fed(lane, Transaction(2.0, (Change("door", -1, old), Change("door", 1, new))))


def test_doors_on_ways_are_those_whose_closing_costs_somebody() -> None:
    campus = Campus(TINY, 1)
    ways = campus.doors_on_ways()
    assert ways
    before = campus.nearest()
    for door in range(campus.doors):
        if campus.open[door]:
            campus.toggle(door)
            assert door in ways or campus.nearest() == before
            campus.toggle(door)
    assert campus.nearest() == before


def test_the_window_over_gateways_is_what_they_sent_lately() -> None:
    lane = Lane()
    plan = plan_text(compile_query(AGGREGATE, CATALOG.with_relation(READING)).plan)
    fed(lane, Declare(0.0, READING), Register(0.0, "climate", plan))
    sent: list[tuple[float, list]] = []
    for second in range(1, 2 * RANGE_S):
        for gateway in range(3):
            rows = readings(gateway, second, float(second))
            assert len({row[0] for row in rows}) == READINGS_PER_TRANSACTION
            sent.append((float(second), list(rows)))
            fed(lane, Transaction(second, tuple(Change("reading", 1, row) for row in rows)))
        fed(lane, Tick(float(second)))
        rooms: dict[str, list[float]] = {}
        for at_s, some in sent:
            for _, room, celsius, _ in some if at_s > second - RANGE_S else ():
                rooms.setdefault(room, []).append(celsius)
        assert set(lane.rows("climate")) == {
            (room, len(held), math.fsum(held) / len(held), max(held))
            for room, held in rooms.items()
        }


def test_targets_tell_what_was_promised() -> None:
    campus = {"nodes": 100_000, "load_s": 9.0, "change_ms": {"p95": 1_001.0}}
    assert [target.met for target in TARGETS["campus"](campus, False)] == [True, True, False]
    rate = {"sent_per_s": 19_990, "latency_ms": {"p95": 900.0}}
    assert [target.met for target in TARGETS["readings"](rate, False)] == [True, True]
