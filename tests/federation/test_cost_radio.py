"""Prices of frames: those of the simulator, in the same units, and monotone."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aspen.motes import radio as frames
from aspen.motes.hardware import GREATEST_TRIES, LONGEST_PAYLOAD_BYTES, RADIO_TX_MA
from aspen.motes.kinds import DEVICE_KINDS, sample_mj
from federation import radio
from federation.network import BASE, Device, MoteNode, Network

payloads = st.integers(0, LONGEST_PAYLOAD_BYTES)
wakes_s = st.sampled_from([0.0, 0.1, 0.25, 1.0])
currents = st.sampled_from(sorted(RADIO_TX_MA.values()))
etxs = st.floats(1.0, 16.0)


@given(payloads, wakes_s, currents)
def test_a_frame_costs_what_the_simulator_charges(payload, wake_s, tx_ma):
    ours, its = radio.unicast(payload, wake_s, tx_ma), frames.unicast(payload, tx_ma, wake_s)
    assert ours.size_bytes == its.size_bytes
    assert ours.energy_mj == pytest.approx(its.sent_mj + its.heard_mj)
    assert ours.lasts_ms == pytest.approx(1000 * its.duration_s)


@given(payloads, wakes_s, currents, st.integers(0, 20))
def test_a_broadcast_costs_what_the_simulator_charges(payload, wake_s, tx_ma, hearers):
    ours, its = (
        radio.broadcast(payload, hearers, wake_s, tx_ma),
        frames.broadcast(payload, tx_ma, wake_s),
    )
    assert ours.size_bytes == its.size_bytes
    assert ours.energy_mj == pytest.approx(its.sent_mj + hearers * its.heard_mj)


def test_a_sample_is_priced_by_its_kind():
    assert sample_mj("temperature") == pytest.approx((0.55 + 1.8) * 3.0 * 0.320)
    assert sample_mj("barometer") == pytest.approx((1.0 + 1.8) * 3.0 * 0.020)  # nobody described it
    assert all(sample_mj(kind.key) >= 0.0 for kind in DEVICE_KINDS)


def test_a_frame_by_hand():
    # 36 B to a radio that listens: 1.152 ms at 17.4 mA and 18.8 mA, ack 0.48 ms, turn 0.192 ms, 3 V
    sent = 1.152 * 17.4 * 3 + (0.192 + 0.48) * 18.8 * 3
    heard = 1.152 * 18.8 * 3 + 0.48 * 17.4 * 3
    assert radio.unicast(10, 0.0).energy_mj == pytest.approx((sent + heard) / 1000)
    assert radio.unicast(10, 0.25).energy_mj == pytest.approx(
        (sent + heard) / 1000 + 0.125 * 17.4 * 3
    )


@given(payloads, payloads, wakes_s, wakes_s)
def test_longer_frames_and_sleepier_receivers_never_cost_less(one, other, first_s, second_s):
    few, many = sorted((one, other))
    awake_s, sleepy_s = sorted((first_s, second_s))
    less, more = radio.unicast(few, awake_s), radio.unicast(many, sleepy_s)
    assert less.size_bytes <= more.size_bytes
    assert less.energy_mj <= more.energy_mj
    assert less.lasts_ms <= more.lasts_ms


@given(etxs, etxs)
def test_worse_links_take_more_transmissions_up_to_eight(one, other):
    better, worse = sorted((radio.tries(one), radio.tries(other)))
    assert 1.0 <= better <= worse <= GREATEST_TRIES
    assert (one <= other) == (radio.tries(one) <= radio.tries(other)) or math.isclose(better, worse)


def test_a_link_that_loses_nothing_takes_one_transmission():
    assert radio.tries(1.0) == 1.0


def chain(etx=1.0, wake_s=0.25):
    """Base ◄ a ◄ b ◄ c, and d beside c under b."""
    parents = {"a": BASE, "b": "a", "c": "b", "d": "b"}
    nodes = {mote: MoteNode(parent, etx, wake_s) for mote, parent in parents.items()}
    return Network(nodes, (Device("s", "seat_reading", "c", "seat", {"rid": "R"}),))


def test_the_last_link_needs_no_strobes_and_partners_meet_where_ways_do():
    network = chain()
    asleep, awake = radio.unicast(10, 0.25), radio.unicast(10, 0.0)
    assert network.to_base("c", 10).energy_mj == pytest.approx(
        2 * asleep.energy_mj + awake.energy_mj
    )
    assert network.move("c", "d", 10).energy_mj == pytest.approx(2 * asleep.energy_mj)
    assert network.move("c", "c", 10).energy_mj == 0.0
    near = Network(network.nodes, network.devices, {("c", "d"): 1.0})
    assert near.move("c", "d", 10).energy_mj == pytest.approx(asleep.energy_mj)


@given(etxs, etxs, wakes_s, wakes_s, payloads)
def test_worse_networks_never_cost_less(one, other, first_s, second_s, payload):
    (better, worse), (awake_s, sleepy_s) = sorted((one, other)), sorted((first_s, second_s))
    good, bad = chain(better, awake_s), chain(worse, sleepy_s)
    for src, place in (("c", BASE), ("c", "d"), ("a", "c")):
        assert good.move(src, place, payload).energy_mj <= bad.move(
            src, place, payload
        ).energy_mj * (1 + 1e-9)


def test_motes_without_a_way_are_not_counted_on():
    network = Network.known(
        {"a": 0.25, "b": 0.25, "lost": 0.25, "round": 0.25},
        {"a": "gateway", "b": "a", "lost": "", "round": "round"},
        {("a", "gateway"): 1.5, ("b", "a"): 1.2, ("b", "round"): 1.1},
        [Device("1", "seat_reading", "b"), Device("2", "seat_reading", "lost")],
    )
    assert {*network.nodes} == {"a", "b"}
    assert network.way("b") == ("b", "a")
    assert 0.0 < network.nodes["b"].hearers < 2.0  # over two links that lose some
    assert [one.sid for one in network.of("seat_reading")] == ["1"]
