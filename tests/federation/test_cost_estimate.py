"""Estimates against the simulator's own accounts, and the laws estimates keep without it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motes.fields import STREAMS, desks, scan, world
from motes.ideal import Ideal
from motes.measure import computing_mj

from aspen.algebra.device_block import device_block
from aspen.algebra.expr import Col, Const, Op
from aspen.algebra.plan import (
    Aggregate,
    AggregateFunction,
    Distinct,
    Filter,
    GroupBy,
    Join,
    Project,
    Window,
)
from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Type
from aspen.motes.protocol import METHODS
from federation.choices import sending
from federation.estimate import NoFragment, estimate
from federation.network import Device, Network
from federation.pairing import Prospect, groups_of, meet
from federation.placement import assign_sites
from federation.statistics import Origin, Statistics
from sensors_sim.innet.compile import Fragment
from sensors_sim.innet.program import Method
from sensors_sim.network.links import Radio
from sensors_sim.sensor_network import SensorNetwork

PERIOD_S = 8.0
EPOCHS = 40
FACTOR = 2.0
SEAT, LIGHT, TEMPERATURE = (
    scan("seat_reading", "s"),
    scan("light_reading", "l"),
    scan("temperature_reading", "t"),
)
KINDS = {name: stream.relation.device for name, stream in STREAMS.items()}


def joined(weight_kg, light_lx):
    """Seats at least so heavy beside lights at least so bright."""
    left = Filter(SEAT, Op(">=", Col("s.weight_kg"), Const(weight_kg)))
    right = Filter(LIGHT, Op(">=", Col("l.lux"), Const(light_lx)))
    outputs = ((Column("mid", Type.TEXT), Col("s.mid")), (Column("lux", Type.FLOAT), Col("l.lux")))
    return Project(Join(left, right, (("s.rid", "l.rid"),)), outputs)


def grouped(child, key, column):
    mean = Aggregate(AggregateFunction.AVG, column, Column("mean", Type.FLOAT))
    return GroupBy(child, key, (mean,))


def shares(weight_kg, light_lx):
    """What the world of tests gives: weights are even from 0 to 100, light from 0 to 600."""
    return {
        f"seat_reading.weight_kg >= {weight_kg}": 1 - weight_kg / 100,
        f"light_reading.lux >= {light_lx}": 1 - light_lx / 600,
    }


def known(net, field, tx_ma):
    """Read the network as an optimizer would."""
    wakes_s = {mote.mote: mote.wake_s for mote in field.motes if not mote.base}
    devices = [
        Device(one.sid, one.stream, mote.mote, KINDS[one.stream], one.attributes)
        for mote in field.motes
        for one in mote.sensors
    ]
    links = {pair: etx for pair, (etx, _) in net.links().items()}
    told = [name for name in net.forwarders() if name in wakes_s]
    return Network.known(wakes_s, net.parents(), links, devices, tx_ma, told)


def measured(net, handle):
    """Run so many epochs; give mJ and bytes per epoch."""

    def spent():
        account = net.query_account(handle)
        return account.energy_mj + computing_mj(net, handle), account.sent_bytes

    net.run(120.0)
    net.run_until((int(net.now_s // PERIOD_S) + 0.97) * PERIOD_S)
    energy_mj, sent_bytes = spent()
    net.run(EPOCHS * PERIOD_S)
    more_mj, more_bytes = spent()
    return (more_mj - energy_mj) / EPOCHS, (more_bytes - sent_bytes) / EPOCHS


CASES = {
    **{
        f"{method}, {weight_kg} kg": (joined(weight_kg, 300.0), method, shares(weight_kg, 300.0))
        for method in METHODS
        for weight_kg in (30.0, 90.0)
    },
    "rows": (SEAT, "base", {}),
    "selected": (
        Filter(SEAT, Op(">=", Col("s.weight_kg"), Const(75.0))),
        "base",
        shares(75.0, 0.0),
    ),
    "tree": (grouped(SEAT, (), "s.weight_kg"), "base", {}),
    "tree by room": (grouped(TEMPERATURE, ("t.rid",), "t.celsius"), "base", {}),
}


@pytest.mark.parametrize("model", [Ideal(12.0), Radio(power_dbm=-25)], ids=["ideal", "radio"])
@pytest.mark.parametrize("case", sorted(CASES))
def test_estimates_are_near_what_the_simulated_network_spends(case, model):
    plan, method, given_shares = CASES[case]
    field = desks(5, 3, wake_s=0.25)
    net = SensorNetwork(field, world(field, 5), 5, model)
    net.run(60.0)
    statistics = Statistics(shares=given_shares, network=known(net, field, model.tx_ma))
    expected = estimate(plan, PERIOD_S, method, statistics)
    fragment = Fragment(
        plan,
        PERIOD_S,
        Method[method.upper()],
        max(1, expected.keys),
        tuple(one.value for one in expected.shares) if method == "pairwise" else (),
    )
    energy_mj, sent_bytes = measured(net, net.deploy(fragment))
    assert expected.measured
    assert 1 / FACTOR <= expected.energy_mj_per_epoch / energy_mj <= FACTOR
    assert 1 / FACTOR <= expected.bytes_per_epoch / sent_bytes <= FACTOR
    assert expected.cost.energy_mj_per_s == pytest.approx(expected.energy_mj_per_epoch / PERIOD_S)


def worse(network, times):
    """Let every link lose more, the tree staying as it is."""
    nodes = {name: replace(node, etx=node.etx * times) for name, node in network.nodes.items()}
    return Network(nodes, network.devices, {k: v * times for k, v in network.near.items()})


GUESSED = Network.guessed(
    {
        "seat_reading": ("seat", 12, ("rid", "sid", "mid")),
        "light_reading": ("light", 4, ("rid", "sid")),
        "temperature_reading": ("temperature", 4, ("rid", "sid")),
    }
)


@given(st.sampled_from(sorted(CASES)), st.floats(1.0, 6.0))
@settings(max_examples=30, deadline=None)
def test_more_loss_never_costs_less(case, times):
    plan, method, given_shares = CASES[case]
    good = estimate(plan, PERIOD_S, method, Statistics(shares=given_shares, network=GUESSED))
    bad = Statistics(shares=given_shares, network=worse(GUESSED, times))
    found = estimate(plan, PERIOD_S, method, bad)
    assert good.energy_mj_per_epoch <= found.energy_mj_per_epoch * (1 + 1e-9)


@pytest.mark.parametrize("method", ["semi", "bloom"])
def test_who_has_no_partner_is_expected_to_send_little_and_never_less_than_nothing(method):
    seat, light = Device("s", "seat_reading", "a", attributes={"rid": "R1"}), ("light_reading", "b")
    lights = [Device(f"l{n}", *light, attributes={"rid": f"R{n}"}) for n in (1, 2, 3)]
    rows = []
    for some in (lights[:1], lights):
        links = {("a", "gateway"): 1.0, ("b", "a"): 1.0}
        network = Network.known(
            {"a": 0.1, "b": 0.1}, {"a": "gateway", "b": "a"}, links, [seat, *some]
        )
        given_ = Statistics(shares=shares(50.0, 300.0), network=network)
        found = estimate(joined(50.0, 300.0), PERIOD_S, method, given_)
        rows.append({one.name: one.rows for one in found.operators}["ship 1"])
    assert 0.0 < rows[0] <= rows[1] < 1.2 * rows[0]


@given(st.sampled_from(METHODS), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_a_less_selective_condition_never_costs_less(method, one, other, lights):
    few, many = sorted((one, other))
    plan = joined(50.0, 300.0)
    texts = "seat_reading.weight_kg >= 50.0", "light_reading.lux >= 300.0"
    found = [
        estimate(
            plan,
            PERIOD_S,
            method,
            Statistics(shares=dict(zip(texts, (share, lights), strict=True)), network=GUESSED),
        )
        for share in (few, many)
    ]
    less, more = (one.energy_mj_per_epoch for one in found)
    assert less <= more * (1 + 1e-9)
    assert all(min(o.rows, o.size_bytes, o.energy_mj) >= 0 for one in found for o in one.operators)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_partners_never_meet_where_it_costs_more_than_at_the_base(seats, lights, both):
    block = device_block(joined(50.0, 300.0), GUESSED.lasts)
    groups = groups_of(block, [GUESSED.of(one.relation) for one in block.scans])
    assert len(groups) == 12
    prospect = Prospect(GUESSED, (seats, lights), both, (8.0, 8.0), 9.0)
    meeting = meet(groups, prospect)
    assert {*meeting.nodes} == {*groups}
    at_base = prospect.together(dict.fromkeys(groups, ""))
    assert prospect.together(meeting.nodes) <= at_base * (1 + 1e-9)


def test_a_network_nobody_looked_at_is_guessed_and_says_so():
    found = estimate(joined(50.0, 300.0), PERIOD_S, "pairwise", Statistics(devices=KINDS))
    assert not found.measured
    assert {one.origin for one in found.shares} == {Origin.GUESSED}
    assert "guessed network" in str(found)


def test_a_sensor_that_can_never_pass_costs_its_sample_alone():
    elsewhere = Filter(SEAT, Op("=", Col("s.rid"), Const("no such room")))
    found = estimate(elsewhere, PERIOD_S, "base", Statistics(network=known_desks()))
    scanned, sent = found.operators
    assert scanned.energy_mj > 0.0
    assert (sent.rows, sent.energy_mj) == (0.0, 0.0)


def test_all_rows_cost_the_same_sent_as_measured_and_answered_at_epochs():
    catalog = Catalog.of([stream.relation for stream in STREAMS.values()])
    network = known_desks()
    rates_hz = {TEMPERATURE.relation: len(network.of(TEMPERATURE.relation)) / PERIOD_S}
    statistics = Statistics(rates_hz, devices=KINDS, network=network)
    (choice,) = assign_sites(Window(TEMPERATURE, range_s=60.0), catalog, statistics).choices
    relation = catalog.get(TEMPERATURE.relation)
    streamed = sending(choice, relation, statistics, frozenset())
    answered = estimate(TEMPERATURE, PERIOD_S, "base", statistics).cost
    assert streamed.energy_mj_per_s == pytest.approx(answered.energy_mj_per_s, rel=0.1)


def known_desks():
    field = desks(2, 2)
    net = SensorNetwork(field, world(field), 1, Ideal(12.0))
    net.run(30.0)
    return known(net, field, Ideal().tx_ma)


@pytest.mark.parametrize("plan", [Distinct(SEAT), Window(SEAT, ("s.sid",), rows=2)])
def test_what_no_mote_runs_has_no_cost_there(plan):
    with pytest.raises(NoFragment):
        estimate(plan, PERIOD_S, "base", Statistics())


@given(st.sampled_from(METHODS), st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=40, deadline=None)
def test_rows_that_cross_the_border_depend_on_selections_and_not_on_the_method(method, one, other):
    texts = "seat_reading.weight_kg >= 50.0", "light_reading.lux >= 300.0"
    known_shares = Statistics(shares=dict(zip(texts, (one, other), strict=True)), network=GUESSED)
    found = estimate(joined(50.0, 300.0), PERIOD_S, method, known_shares)
    partners = 12  # seats, each with the light of its room
    assert found.cost.rows_per_s == pytest.approx(partners * one * other / PERIOD_S)
    alone = estimate(SEAT, PERIOD_S, "base", known_shares)
    assert alone.cost.rows_per_s == pytest.approx(12 / PERIOD_S)
    tree = estimate(grouped(SEAT, (), "s.weight_kg"), PERIOD_S, "base", known_shares)
    assert tree.cost.rows_per_s == pytest.approx(1 / PERIOD_S)
