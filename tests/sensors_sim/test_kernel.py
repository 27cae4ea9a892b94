"""Laws of the simulated building."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.motes.kinds import DEVICE_KINDS, UnknownDevice, device_kind
from sensors_sim.errors import BadParameters, BadWorld, UnknownWaveform
from sensors_sim.kernel import HELLO_S, Kernel
from sensors_sim.waveforms import WAVEFORMS, checked, waveform
from sensors_sim.world import PathEdge, SensorSpec, Spot, VisitorSpec, World

SPOTS = {n: Spot("L0", 10.0 * n, 0.0) for n in range(5)} | {9: Spot("L1", 40.0, 0.0)}
WAYS = [(0, 1), (1, 2), (2, 3), (3, 4)]


def steps():
    found = defaultdict(list)
    for one, other in WAYS:
        door = "d" if (one, other) == (2, 3) else ""
        found[one].append(PathEdge(other, 10_000, door))
        found[other].append(PathEdge(one, 10_000, door))
    found[4].append(PathEdge(9, 8_000))
    found[9].append(PathEdge(4, 8_000))
    return {src: tuple(leaving) for src, leaving in found.items()}


def sensor(sid, kind, shape, parameters=None, period_s=5.0, mid="", node=0):
    spot = SPOTS[node]
    full = checked(shape, device_kind(kind), parameters or {})
    return SensorSpec(sid, kind, node, spot.level, spot.x_m, spot.y_m, shape, full, period_s, mid)


def building():
    return World(
        sensors=(
            *(sensor(f"m{k}.seat", "seat", "people", mid=f"m{k}") for k in range(4)),
            *(sensor(f"m{k}.cpu", "cpu", "people", mid=f"m{k}") for k in range(4)),
            sensor("warm", "temperature", "random_walk", {"middle": 21}),
            sensor("light", "light", "square", {"high": 400, "low": 2}),
            *(sensor(f"rfid.{node}", "rfid", "people", node=node) for node in SPOTS),
        ),
        visitors=(VisitorSpec("a", 1.1), VisitorSpec("b", 1.4)),
        spots=SPOTS,
        steps=steps(),
    )


@given(st.integers(0, 2**32), st.lists(st.floats(0.01, 40.0), min_size=1, max_size=12))
@settings(max_examples=30, deadline=None)
def test_how_time_is_cut_changes_nothing(seed, pieces):
    whole = Kernel(building(), seed).tick(math.fsum(pieces) + 1.0)
    cut = Kernel(building(), seed)
    got = [reading for piece in pieces for reading in cut.tick(piece)]
    assert got == whole[: len(got)]
    assert all(reading.at_s >= cut.now_s - 1e-2 for reading in whole[len(got) :])


def test_readings_come_in_time_order_within_range_and_named_unit():
    last_s = 0.0
    kinds = {sensor.sid: device_kind(sensor.kind) for sensor in building().sensors}
    for reading in Kernel(building(), 1).tick(600):
        kind = kinds[reading.sid]
        assert reading.at_s >= last_s
        assert reading.unit == kind.unit
        assert kind.least <= reading.value <= kind.greatest
        assert bool(reading.tag) == (kind.key == "rfid")
        last_s = reading.at_s


@given(st.sampled_from([sensor.sid for sensor in building().sensors]), st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_one_sensor_less_changes_no_other(gone, seed):
    full = building()
    fewer = replace(full, sensors=tuple(one for one in full.sensors if one.sid != gone))

    def told(world):
        # A tag is heard by whoever hears it best, so receivers do depend on each other.
        return [r for r in Kernel(world, seed).tick(90) if r.sid != gone and not r.tag]

    assert told(full) == told(fewer)


def test_unwanted_streams_are_silent_and_the_rest_is_unchanged():
    wanted = frozenset({"seat_reading", "temperature_reading"})
    kinds = {sensor.sid: device_kind(sensor.kind).stream for sensor in building().sensors}
    everything = Kernel(building(), 5).tick(120)
    some = Kernel(building(), 5, wanted).tick(120)
    assert some == [reading for reading in everything if kinds[reading.sid] in wanted]
    assert some


def test_every_sensor_says_hello_and_then_keeps_its_period():
    times = defaultdict(list)
    for reading in Kernel(building(), 3).tick(200):
        if not reading.tag and not reading.sid.endswith("seat"):
            times[reading.sid].append(reading.at_s)
    assert len(times) == 6
    for at in times.values():
        assert at[0] <= HELLO_S
        gaps = [later - sooner for sooner, later in pairwise(at[1:])]
        assert all(abs(gap - 5.0) < 0.01 for gap in gaps)


def test_a_seat_and_its_processor_tell_one_story():
    taken: dict[str, bool] = {}
    busy = defaultdict(list)
    for reading in Kernel(building(), 11).tick(4 * 3600):
        mid, _, kind = reading.sid.partition(".")
        if kind == "seat":
            taken[mid] = reading.value >= 5.0
        elif kind == "cpu" and mid in taken and reading.value < 80:
            busy[taken[mid]].append(reading.value)
    assert min(len(values) for values in busy.values()) > 100
    mean = {sat: sum(values) / len(values) for sat, values in busy.items()}
    assert mean[True] > 3 * mean[False]


def test_who_sits_down_is_weighed_at_once():
    # A period of 100 s: only the change itself explains a report in between.
    kernel = Kernel(World(sensors=(sensor("s", "seat", "people", None, 100.0, "m"),)), 2)
    at = [reading.at_s for reading in kernel.tick(4000)][1:]
    early = [b - a for a, b in pairwise(at) if b - a < 99]
    assert early


def test_a_changed_sensor_reports_at_once_and_only_its_new_self():
    kernel = Kernel(building(), 4)
    kernel.tick(17.3)
    kernel.put_sensor(sensor("warm", "temperature", "constant", {"value": 30}, 5.0))
    readings = [r for r in kernel.tick(12) if r.sid == "warm"]
    assert readings[0].at_s == 17.3
    assert [r.value for r in readings] == [30.0] * 3
    kernel.drop_sensor("warm")
    assert not [r for r in kernel.tick(30) if r.sid == "warm"]
    assert "warm" not in kernel.sensors


def test_visitors_walk_the_graph_and_are_heard_near_where_they_are():
    kernel = Kernel(building(), 6)
    levels, stations = set(), set()
    for _ in range(1800):
        for reading in kernel.tick(1.0):
            if reading.tag:
                node = int(reading.sid.partition(".")[2])
                levels.add(SPOTS[node].level)
                stations.add(node)
    assert levels == {"L0", "L1"}
    assert stations == set(SPOTS)


def test_nobody_passes_a_locked_door():
    world = replace(building(), locked=frozenset({"d"}))
    heard = defaultdict(set)
    for reading in Kernel(world, 8).tick(3600):
        if reading.tag:
            heard[reading.tag].add(reading.sid)
    west, east = {"rfid.0", "rfid.1"}, {"rfid.4", "rfid.9"}
    assert all(not (stations & west and stations & east) for stations in heard.values())


def test_a_visitor_who_leaves_is_not_heard():
    kernel = Kernel(building(), 6)
    kernel.tick(10)
    kernel.drop_visitor("a")
    assert {r.tag for r in kernel.tick(60) if r.tag} == {"b"}
    kernel.put_visitor(VisitorSpec("a", 1.0))
    assert {r.tag for r in kernel.tick(60) if r.tag} == {"a", "b"}


def test_a_world_that_contradicts_itself_is_refused():
    with pytest.raises(BadWorld, match="no walking point"):
        World(spots={1: Spot("L0", 0, 0)}, steps={1: (PathEdge(2, 5),)})
    with pytest.raises(BadWorld, match="share an id"):
        one = sensor("s", "light", "constant", {"value": 3})
        World(sensors=(one, one))


@pytest.mark.parametrize("kind", DEVICE_KINDS, ids=lambda kind: kind.key)
def test_every_kind_has_a_waveform_that_fits(kind):
    fitting = []
    for key in WAVEFORMS:
        try:
            checked(
                key,
                kind,
                {
                    name: 1
                    for name, field in waveform(key).fields.items()
                    if field.default is None and not field.is_list
                },
            )
            fitting.append(key)
        except BadParameters:
            continue
    assert fitting


@pytest.mark.parametrize(
    ("key", "given"),
    [
        ("constant", {"value": "warm"}),
        ("constant", {"value": True}),
        ("constant", {"value": math.nan}),
        ("constant", {"value": 20, "noise": -1}),
        ("replay", {"values": []}),
        ("replay", {"values": 7}),
        ("replay", {"values": [20, "x"]}),
        ("sine", {"middle": 20, "cycle_s": 0}),
        ("constant", [1]),
    ],
)
def test_parameters_that_mean_nothing_are_refused(key, given):
    with pytest.raises(BadParameters):
        checked(key, device_kind("temperature"), given)


def test_unknown_words_are_refused_with_what_exists():
    with pytest.raises(UnknownDevice) as refused:
        device_kind("seats")
    assert refused.value.exists[0] == "seat"
    with pytest.raises(UnknownWaveform) as unknown:
        waveform("saw")
    assert "square" in unknown.value.exists
