"""What every host of fragments keeps to, simulated or real; another one joins by its factory."""

from __future__ import annotations

import pytest
from motes.fields import desks, scan, world
from motes.ideal import Ideal
from motes.measure import join_nodes

from aspen.algebra.expr import Col, Const, Op
from aspen.algebra.plan import Distinct, Filter, Join, Project
from aspen.model.schema import Column, Type
from sensors_sim.errors import UnknownQuery, UnsupportedFragment
from sensors_sim.innet.compile import Fragment
from sensors_sim.innet.program import Method
from sensors_sim.sensor_network import SensorNetwork

PERIOD_S = 8.0
FIELD = desks(3, 2)
SEAT, LIGHT = scan("seat_reading", "s"), scan("light_reading", "l")
ROWS = Fragment(Filter(SEAT, Op(">=", Col("s.weight_kg"), Const(40.0))), PERIOD_S)
JOIN = Fragment(
    Project(Join(SEAT, LIGHT, (("s.rid", "l.rid"),)), ((Column("mid", Type.TEXT), Col("s.mid")),)),
    PERIOD_S,
    Method.PAIRWISE,
)
IMPOSSIBLE = Fragment(Distinct(SEAT), PERIOD_S)


def simulated():
    """A host, and what lets time pass for it."""
    net = SensorNetwork(FIELD, world(FIELD), 4, Ideal(12.0))
    return net, net.run


HOSTS = {"simulated": simulated}


@pytest.fixture(params=sorted(HOSTS))
def host(request):
    found, wait = HOSTS[request.param]()
    wait(30.0)
    return found, wait


@pytest.mark.parametrize("fragment", [ROWS, JOIN], ids=["rows", "join"])
def test_a_fragment_it_does_not_refuse_is_answered_epoch_by_epoch(host, fragment):
    found, wait = host
    assert found.refusal(fragment) == ""
    handle = found.deploy(fragment)
    wait(12 * PERIOD_S)
    answers = handle.take()
    assert handle.take() == []
    epochs = [answer.epoch for answer in answers]
    assert epochs == sorted({*epochs})
    assert len(epochs) > 8
    width = len(fragment.plan.columns)
    assert all(len(row) == width for answer in answers for row in answer.rows)
    assert all(answer.motes <= answer.expected for answer in answers)


def test_a_refusal_says_why_and_deploying_it_all_the_same_fails(host):
    found, _ = host
    assert "Distinct" in found.refusal(IMPOSSIBLE)
    with pytest.raises(UnsupportedFragment):
        found.deploy(IMPOSSIBLE)


def test_a_change_keeps_the_handle_and_a_refused_one_the_fragment(host):
    found, wait = host
    handle = found.deploy(ROWS)
    wait(4 * PERIOD_S)
    with pytest.raises(UnsupportedFragment):
        found.change(handle, IMPOSSIBLE)
    found.change(handle, JOIN)
    wait(12 * PERIOD_S)
    assert len(handle.take()[-1].rows[0]) == 1


def test_what_is_removed_answers_no_more_and_is_removed_once(host):
    found, wait = host
    handle = found.deploy(ROWS)
    wait(4 * PERIOD_S)
    found.remove(handle)
    handle.take()
    wait(4 * PERIOD_S)
    assert handle.take() == []
    with pytest.raises(UnknownQuery):
        found.remove(handle)
    with pytest.raises(UnknownQuery):
        found.change(handle, ROWS)


def test_accounts_grow_and_say_what_each_mote_spent(host):
    found, wait = host
    handle = found.deploy(ROWS)
    wait(6 * PERIOD_S)
    before = found.query_account(handle)
    frames, energy_mj = before.frames, before.energy_mj
    wait(6 * PERIOD_S)
    after = found.query_account(handle)
    assert after.frames > frames > 0
    assert after.energy_mj > energy_mj > 0.0
    names = [mote.mote for mote in FIELD.motes]
    spent = [found.query_at(handle, name) for name in names]
    assert sum(sent for sent, _ in spent) == after.sent_bytes
    assert sum(mj for _, mj in spent) >= after.energy_mj  # sampling and computing count there


def test_the_network_it_tells_of_is_one_tree(host):
    found, wait = host
    found.deploy(ROWS)
    wait(6 * PERIOD_S)
    bases = {mote.mote for mote in FIELD.motes if mote.base}
    parents, hops, links = found.parents(), found.hops(), found.links()
    assert {*parents} == {mote.mote for mote in FIELD.motes} - bases
    for mote, parent in parents.items():
        assert parent in bases or hops[mote] == hops[parent] + 1
        estimated, true = links[mote, parent]
        assert min(estimated, true) >= 1.0
    assert found.forwarders() <= {*parents} | bases
    wall = [mote.mote for mote in FIELD.motes].index("wall0")
    assert found._ether.hop_mj(wall, 20) > found._ether.hop_mj(wall, 10) > 0.0


def test_partners_are_said_to_meet_at_motes_or_at_the_base(host):
    found, wait = host
    handle = found.deploy(JOIN)
    wait(60.0)
    places = join_nodes(found, handle)
    assert sum(places.values()) == 6  # three rooms with two seats beside one light each
    assert {*places} <= {mote.mote for mote in FIELD.motes} | {"base"}
