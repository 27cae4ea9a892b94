"""What the optimizer sends into the network runs there, and answers what it stands for."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from federation_support.building import CATALOG, KNOWN, NEWEST, planned
from motes.fields import desks, samples_of, world
from motes.ideal import Ideal

from federation.covers import covers
from federation.placement import options
from federation.split import NetworkFragment, split
from sensors_sim.innet.compile import Fragment
from sensors_sim.innet.program import Method
from sensors_sim.sensor_network import SensorNetwork
from tests.oracle import evaluate

QUERIES = {
    "seat, light and temperature": f"""
        SELECT ss.mid, t.celsius
        FROM seat_reading {NEWEST} ss, light_reading {NEWEST} sr, temperature_reading {NEWEST} t
        WHERE sr.rid = ss.rid AND t.rid = sr.rid AND ss.weight_kg >= 50.0 AND sr.lux > 50.0
    """,
    "Example 14": f"""
        SELECT m.mid, sr.rid
        FROM machine m, machine_software ms, seat_reading {NEWEST} ss, light_reading {NEWEST} sr
        WHERE ms.software = 'Word' AND ms.mid = m.mid AND ss.mid = m.mid AND ss.weight_kg < 50.0
          AND sr.rid = ss.rid AND sr.lux > 50.0 AND (ss.weight_kg > 5.0 OR sr.lux > 300.0)
    """,
    "heaviest seat of each room": f"""
        SELECT s.rid, COUNT(*) AS n, MAX(s.weight_kg) AS heaviest, AVG(s.weight_kg) AS mean
        FROM seat_reading {NEWEST} s WHERE s.weight_kg > 10.0 GROUP BY s.rid
    """,
}


def told(fragment: NetworkFragment) -> Fragment:
    return Fragment(
        fragment.plan,
        fragment.period_s,
        Method[fragment.method.upper()],
        fragment.keys,
        fragment.shares,
        fragment.joined_share,
    )


def same(found: Counter, wanted: Counter) -> bool:
    """Whether two bags agree, computed values up to rounding."""
    pairs = zip(
        sorted(found.elements(), key=repr), sorted(wanted.elements(), key=repr), strict=True
    )
    return found.total() == wanted.total() and all(
        one == other or math.isclose(one, other, rel_tol=1e-9)  # type: ignore[arg-type]
        for row, its in pairs
        for one, other in zip(row, its, strict=True)
    )


@pytest.mark.parametrize("name", QUERIES)
def test_every_fragment_answers_what_it_replaces(name):
    plan = planned(QUERIES[name])
    found = options(plan, CATALOG, KNOWN)
    (region,) = found.regions
    fragments = {
        one.name: one
        for cover in covers(region)
        for one in split(found.assigned({region.path: cover.names})).network
    }
    field = desks(3, 2)
    book, note = samples_of()
    net = SensorNetwork(field, world(field), 7, Ideal(12.0), sampled=note)
    net.run(15.0)
    handles = {one: net.deploy(told(one)) for one in fragments.values()}
    net.run(60.0)  # until everybody has every program and knows the ways
    for handle in handles.values():
        handle.take()
    net.run(45.0)
    streams = {one.sid: one.stream for mote in field.motes for one in mote.sensors}
    for fragment, handle in handles.items():
        answers = handle.take()
        assert len(answers) > 2
        for answer in answers:
            tables: dict[str, Counter] = {stream: Counter() for stream in streams.values()}
            for _, row in book[handle.query, answer.epoch]:
                sid = next(value for value in row if value in streams)
                tables[streams[sid]][row] += 1
            wanted = Counter(evaluate(fragment.replaces, tables))
            assert same(Counter(answer.rows), wanted), fragment.method
