"""What was recorded is replayed as it was, and tags are found near where they are."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from motes.locate import Ear, locate
from motes.office import contacts, departments, intel_lab, recorded_visitors

from aspen.algebra.plan import Aggregate, AggregateFunction, GroupBy, Scan
from aspen.model.schema import Column, Relation, SourceKind, Type
from aspen.motes.kinds import device_kind
from sensors_sim.errors import BadParameters, BadWorld
from sensors_sim.innet.compile import Fragment
from sensors_sim.kernel import Kernel
from sensors_sim.motes import Attached, DeviceStream, Field, MoteSpec, base_station
from sensors_sim.network.links import Radio
from sensors_sim.radio import signal_dbm
from sensors_sim.recordings import nab_temperature, uci_light, uci_temperature
from sensors_sim.sensor_network import SensorNetwork
from sensors_sim.waveforms import checked
from sensors_sim.world import SensorSpec, World


def test_recordings_are_whole_and_plausible():
    assert len(nab_temperature().values) == 7267
    assert nab_temperature().values[0] == pytest.approx((69.88083514 - 32) * 5 / 9, abs=0.01)
    assert len(uci_temperature().values) == len(uci_light().values) == 9752
    assert uci_temperature().values[:2] == (21.76, 21.79)
    assert len(intel_lab()) == 54
    assert {one.one for one in contacts()} <= set(departments())
    times = [one.at_s for one in contacts()]
    assert times == sorted(times)
    assert times[0] == 0.0


def test_a_recorded_sensor_reports_the_recording():
    full = checked("uci_temperature", device_kind("temperature"), {"speed": 60})
    spec = SensorSpec("t", "temperature", 0, "L0", 0.0, 0.0, "uci_temperature", full, 1.0)
    readings = Kernel(World(sensors=(spec,)), 1).tick(30.0)
    assert len(readings) > 25
    for reading in readings:
        assert reading.value == uci_temperature().values[int(reading.at_s * 60 // 60 + 1e-6)]
    with pytest.raises(BadParameters, match="cannot follow"):
        checked("uci_light", device_kind("temperature"), {})


def test_recorded_visitors_meet_at_one_receiver():
    heard = list(recorded_visitors([f"rfid.{n}" for n in range(5)], 1, 6 * 3600.0))
    assert len(heard) > 100
    for one, other in zip(heard[::2], heard[1::2], strict=True):
        assert (one.at_s, one.sid) == (other.at_s, other.sid)
        assert one.tag != other.tag
    assert heard == list(recorded_visitors([f"rfid.{n}" for n in range(5)], 1, 6 * 3600.0))


@given(st.floats(0, 30), st.floats(0, 30), st.integers(0, 10**6))
def test_a_tag_is_located_near_where_it_is(x_m, y_m, seed):
    rng = Random(seed)
    ears = [
        Ear(x, y, signal_dbm(math.dist((x, y), (x_m, y_m)), rng))
        for x in (0.0, 15.0, 30.0)
        for y in (0.0, 15.0, 30.0)
    ]
    assert math.dist(locate(ears), (x_m, y_m)) < 12.0  # receivers stand every 15 m
    assert locate(ears[:1]) == (ears[0].x_m, ears[0].y_m)
    with pytest.raises(BadWorld):
        locate([])


def test_the_intel_lab_averages_a_recorded_office():
    relation = Relation(
        "temperature_reading",
        (Column("sid", Type.TEXT), Column("celsius", Type.FLOAT), Column("at_s", Type.FLOAT)),
        SourceKind.STREAM,
        key=("sid",),
        device="temperature",
    )
    full = checked("uci_temperature", device_kind("temperature"), {"speed": 1})
    sensors, motes = [], [base_station("base", 20.0, 15.0, "L0")]
    for number, x_m, y_m in intel_lab():
        sid = f"mote{number}"
        sensors.append(
            SensorSpec(sid, "temperature", 0, "L0", x_m, y_m, "uci_temperature", full, 30.0)
        )
        attached = (Attached(sid, "temperature_reading", {"sid": sid}),)
        motes.append(MoteSpec(sid, x_m, y_m, "L0", 0, attached))
    stream = DeviceStream(relation, ("celsius",), decimals={"celsius": 2})
    field = Field(tuple(motes), (), {"temperature_reading": stream})
    kernel = Kernel(World(sensors=tuple(sensors)), 1)
    net = SensorNetwork(field, kernel, 1, Radio())
    columns = tuple(Column(f"t.{c.name}", c.type, c.unit) for c in relation.columns)
    mean = Aggregate(AggregateFunction.AVG, "t.celsius", Column("mean", Type.FLOAT))
    handle = net.deploy(
        Fragment(GroupBy(Scan(relation.name, "t", columns, stream=True), (), (mean,)), 30.0)
    )
    net.run(600.0)
    answers = handle.take()
    assert len(answers) >= 18
    full_ones = [answer for answer in answers if answer.motes == 54]
    assert full_ones
    for answer in full_ones:
        recorded = uci_temperature().at(answer.at_s)
        assert answer.rows[0][0] == pytest.approx(recorded, abs=0.5)
