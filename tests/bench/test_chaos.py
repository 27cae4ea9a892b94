"""The campaign's own parts: a seed is a schedule, and everybody is hurt in the end."""

from __future__ import annotations

from itertools import islice

from tests.bench.chaos_faults import AT_ONCE, DISKS, HOSTILE, KINDS, schedule
from tests.bench.victims import OF_SPARK, SUPERVISED


def test_a_seed_is_a_schedule():
    assert list(islice(schedule(7), 50)) == list(islice(schedule(7), 50))
    assert list(islice(schedule(7), 50)) != list(islice(schedule(8), 50))


def test_everybody_is_killed_and_stopped_and_every_kind_of_fault_happens():
    rounds = list(islice(schedule(1), 200))
    faults = [fault for one in rounds for fault in one.faults]
    assert {len(one.faults) for one in rounds} == set(range(AT_ONCE[0], AT_ONCE[1] + 1))
    assert {fault.kind for fault in faults} == set(KINDS)
    for kind in ("kill", "stop"):
        assert {f.victim for f in faults if f.kind == kind} == {*SUPERVISED, *OF_SPARK}
    assert {fault.victim for fault in faults if fault.kind == "disk"} == set(DISKS)
    drawn = {int(fault.draw * len(HOSTILE)) for fault in faults if fault.kind == "hostile"}
    assert drawn == set(range(len(HOSTILE)))
