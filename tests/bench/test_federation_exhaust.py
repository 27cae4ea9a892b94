"""Exhaust: the optimizer against every place of every group, and the world it is put in."""

from __future__ import annotations

from collections import Counter

from tests.bench.federation_exhaust import exhaust
from tests.bench.federation_field import KINDS, QUERIES, RANGES, Even, office, streams_of
from tests.motes.ideal import Ideal

CYCLE = 20


def test_a_mote_out_of_reach_does_not_spoil_where_its_room_meets():
    field = office(8, seed=4)  # nobody is within 8 m of one of its seats
    found = exhaust(field, Ideal(8.0), QUERIES[1], period_s=60.0)
    assert found.tried > 10
    assert found.ratio < 1.1


def test_every_sensor_measures_its_range_evenly_and_again():
    field = office(8, seed=4)
    world = Even(field, 7, 60.0, CYCLE)
    orders = set()
    for sid, stream in streams_of(field).items():
        low, high, scale = RANGES[stream]
        values = [world.value(sid, epoch) for epoch in range(CYCLE)]
        parts = [int((value * scale - low + 0.5) * CYCLE / (high - low)) for value in values]
        assert Counter(parts) == Counter(range(CYCLE))
        assert values == [world.value(sid, epoch) for epoch in range(CYCLE, 2 * CYCLE)]
        orders.add(tuple(parts))
    assert len(orders) == len(field.motes) - 1 > len(KINDS)  # no two in step; one is the base
