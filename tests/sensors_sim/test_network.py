"""The radio network: links, energy, tree, dissemination, death and repair, one trace per seed."""

from __future__ import annotations

import hashlib
import math
import subprocess
import sys
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motes.fields import STREAMS, Hashed, desks, reachable, scan, scattered, world
from motes.ideal import Ideal
from motes.measure import accounts_by

from aspen.algebra.expr import Col, Const, Op
from aspen.algebra.plan import Aggregate, AggregateFunction, Filter, GroupBy, Join
from aspen.model.schema import Column, Type
from aspen.motes.hardware import BATTERY_MJ, RADIO_RX_MA, SUPPLY_V
from aspen.motes.radio import broadcast, idle_mw, unicast
from sensors_sim.errors import BadWorld, UnknownQuery, UnsupportedFragment
from sensors_sim.innet.compile import Fragment
from sensors_sim.motes import Attached, Field, MoteSpec, Wall, base_station, walls_of
from sensors_sim.network.clock import Clock
from sensors_sim.network.links import Radio, RadioLink, log_success
from sensors_sim.sensor_network import SensorNetwork

SEAT = scan("seat_reading", "s")
COUNT = Aggregate(AggregateFunction.COUNT, None, Column("n", Type.INT))


def network(field, seed=1, model=None, **options):
    return SensorNetwork(field, world(field, seed), seed, model or Ideal(12.0), **options)


# Links.


@given(st.floats(-10, 30), st.floats(0, 10), st.integers(20, 133))
def test_a_stronger_signal_never_loses_more_and_a_longer_frame_never_less(snr, more, size):
    weak, strong = RadioLink(log_success(snr)), RadioLink(log_success(snr + more))
    assert 0.0 <= weak.share(size) <= strong.share(size) <= 1.0
    assert weak.share(size + 10) <= weak.share(size)


def test_a_wall_weakens_exactly_the_links_that_cross_it():
    motes = [
        MoteSpec("a", 0, 0, "L0"),
        MoteSpec("b", 10, 0, "L0"),
        MoteSpec("c", 0, 10, "L0"),
        MoteSpec("up", 0, 1, "L1", 1),
    ]
    open_plan = Radio().links(motes, (), 3)
    walled = Radio().links(motes, (Wall("L0", 5, -5, 5, 5, 6.9),), 3)
    for way, link in open_plan.items():
        lost_db = link.signal_dbm - walled[way].signal_dbm
        assert lost_db == pytest.approx(6.9 if "b" in way and "up" not in way else 0.0)
    # b and c see each other past the wall's end at (5, 5): it touches their line.
    assert ("b", "c") in walled
    assert open_plan["a", "up"].signal_dbm < open_plan["a", "c"].signal_dbm


def test_links_do_not_depend_on_who_else_is_there():
    field = desks(6, 4)
    radio = Radio()
    whole = radio.links(field.motes, (), 9)
    fewer = radio.links(field.motes[:9], (), 9)
    names = {mote.mote for mote in field.motes[:9]}
    assert fewer == {way: link for way, link in whole.items() if set(way) <= names}
    one = radio.links(field.motes, (), 9, only="wall3")
    assert one == {way: link for way, link in whole.items() if "wall3" in way}


def test_rooms_that_share_a_side_have_one_wall_between_them():
    left = [[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]]
    right = [[4, 0], [8, 0], [8, 4], [4, 4], [4, 0]]
    assert len(walls_of("L0", [left, right])) == 7


# Energy.


def test_energy_follows_the_data_sheet():
    assert idle_mw(0.0) == pytest.approx(RADIO_RX_MA * SUPPLY_V)
    assert idle_mw(1.0) < idle_mw(0.1) < idle_mw(0.0)
    days = BATTERY_MJ / idle_mw(0.5) / 86_400
    assert 200 < days < 600  # two AA cells live about a year at a look every half second
    awake, sleeper = unicast(20, 17.4, 0.0), unicast(20, 17.4, 0.5)
    assert sleeper.sent_mj - awake.sent_mj == pytest.approx(0.25 * 17.4 * SUPPLY_V)
    assert awake.size_bytes == sleeper.size_bytes
    assert broadcast(20, 17.4, 0.5).sent_mj > sleeper.sent_mj


def test_books_agree_with_the_motes():
    field = desks(6, 4)
    net = network(field, model=Radio(fade_db=8.0))
    net.deploy(Fragment(SEAT, 10.0))
    net.deploy(Fragment(GroupBy(SEAT, (), (COUNT,)), 10.0))
    net.run(120.0)
    by_kind, by_query = accounts_by(net, 0), accounts_by(net, 1)
    for column in ("frames", "sent_bytes", "energy_mj"):
        kinds = math.fsum(getattr(one, column) for one in by_kind)
        assert kinds == pytest.approx(math.fsum(getattr(one, column) for one in by_query))
    assert sum(m.sent_bytes for m in net.motes) == sum(one.sent_bytes for one in by_kind)
    spent = math.fsum(m.spent_mj for m in net.motes)
    # Beyond the radio's, motes book what sensing and computing take.
    assert spent > math.fsum(one.energy_mj for one in by_kind)
    for mote in net.motes:
        parts = math.fsum(energy_mj for _, energy_mj in mote.by_query.values())
        assert parts == pytest.approx(mote.spent_mj)


def test_a_mote_that_looks_less_often_lives_longer():
    eager = network(desks(4, 3, wake_s=0.1))
    lazy = network(desks(4, 3, wake_s=0.5))
    for net in (eager, lazy):
        net.run(3600.0)
    assert lazy.energy_mj("wall2") < eager.energy_mj("wall2")


def test_a_flat_battery_ends_a_mote_and_the_rest_goes_on():
    field = desks(6, 2)
    weak = tuple(
        replace(mote, battery_mj=2_000.0 if mote.mote == "R2.seat0" else mote.battery_mj)
        for mote in field.motes
    )
    net = network(replace(field, motes=weak))
    handle = net.deploy(Fragment(GroupBy(SEAT, (), (COUNT,)), 30.0))
    net.run(100.0)
    assert handle.take()[-1].rows == ((12,),)
    left_mj = net.battery_left_mj("R2.seat0")
    assert 0.0 < left_mj < 2_000.0
    net.run(900.0)
    assert net.battery_left_mj("R2.seat0") == 0.0
    assert {mote.mote for mote in weak} - net.alive == {"R2.seat0"}
    spent_mj = net.energy_mj("R2.seat0")
    assert spent_mj < 2_000.0 + RADIO_RX_MA * SUPPLY_V * 61.0
    answers = handle.take()
    assert answers[-1].rows == ((11,),)
    net.run(300.0)
    assert net.energy_mj("R2.seat0") == spent_mj
    net.revive("R2.seat0")
    net.run(200.0)
    assert handle.take()[-1].rows == ((12,),)
    assert net.energy_mj("R2.seat0") > spent_mj


def test_a_clock_drifts_until_it_hears_one_nearer_the_base():
    clock, base = Clock(Random(1), 0.0), Clock(Random(2), 0.0, perfect=True)
    assert base.error_s(10_000.0) == 0.0
    assert abs(clock.error_s(10_000.0)) == pytest.approx(abs(clock.drift) * 10_000.0)
    assert 0.0 < abs(clock.drift) < 200e-6
    clock.synchronise(10_000.0, base)
    assert abs(clock.error_s(10_000.0)) < 0.005
    due_s = clock.when_s(10_060.0, 10_000.0)
    assert due_s + clock.error_s(10_000.0) == pytest.approx(10_060.0)


def test_epochs_stay_together_although_clocks_drift():
    book: dict[int, list[float]] = {}
    field = desks(5, 3)
    net = network(
        field, sampled=lambda _q, epoch, _s, _row: book.setdefault(epoch, []).append(now())
    )

    def now() -> float:
        return net.now_s

    net.deploy(Fragment(SEAT, 20.0))
    net.run(7190.0)
    assert len(book) > 350
    for epoch, times in book.items():
        assert len(times) == 15
        assert all(abs(at_s - 20.0 * epoch) < 0.1 for at_s in times)


# Tree.


@given(st.integers(0, 10**6), st.integers(1, 20), st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_whoever_can_reach_a_base_finds_a_way_and_it_ends_there(seed, motes, bases):
    field = scattered(seed, motes, bases)
    net = network(field, seed, Ideal(15.0))
    net.run(60.0)
    parents = net.parents()
    near = reachable(field, Ideal(15.0))
    for mote in parents:
        assert bool(parents[mote]) == (mote in near)
        here, crossed = mote, {mote}
        while parents.get(here):
            here = parents[here]
            assert here not in crossed
            crossed.add(here)


def test_the_tree_heals_around_the_dead_and_takes_them_back():
    field = desks(8, 4)
    net = network(field, 4)
    handle = net.deploy(Fragment(GroupBy(SEAT, (), (COUNT,)), 10.0))
    net.run(60.0)
    assert handle.take()[-1].rows == ((32,),)
    inner = {p for p in net.parents().values() if p and not p.startswith("base")}
    dead = sorted(inner)[:2]
    seats = sum(name in {m.mote for m in field.motes if "seat" in m.mote} for name in dead)
    for name in dead:
        net.fail(name)
    net.run(200.0)
    answers = handle.take()
    assert answers[-1].rows == ((32 - seats,),)
    assert answers[-1].motes == 32 - seats
    # Whoever sends has noticed; a mote with nothing to say has no reason to.
    assert not {p for m, p in net.parents().items() if p in dead and "seat" in m}
    for name in dead:
        net.revive(name)
    net.run(200.0)
    assert handle.take()[-1].rows == ((32,),)


def test_a_base_station_may_fail_and_come_back():
    field = desks(8, 3, bases=2)
    net = network(field, 2)
    handle = net.deploy(Fragment(GroupBy(SEAT, (), (COUNT,)), 10.0))
    net.run(60.0)
    net.fail("base0")
    net.run(200.0)
    assert handle.take()[-1].rows == ((24,),)
    assert not [m for m, p in net.parents().items() if p == "base0" and "seat" in m]
    net.revive("base0")
    net.fail("base1")
    net.run(300.0)
    assert handle.take()[-1].rows == ((24,),)


def test_estimates_of_links_come_near_the_truth_where_traffic_flows():
    net = network(desks(8, 4), 6, Radio(fade_db=12.0))
    net.deploy(Fragment(SEAT, 5.0))
    net.run(1500.0)
    used = {(m, p) for m, p in net.parents().items() if p}
    links = net.links()
    errors = sorted(abs(links[way][0] / links[way][1] - 1.0) for way in used)
    assert errors[len(errors) // 2] < 0.25


# Dissemination.


@given(st.integers(0, 10**6), st.lists(st.sampled_from("dcr"), min_size=1, max_size=6))
@settings(max_examples=15, deadline=None)
def test_every_mote_ends_with_the_programs_of_the_base_even_under_loss(seed, deeds):
    field = desks(5, 3)
    net = network(field, seed, Radio(fade_db=14.0))
    net.run(30.0)
    handles = []
    for place, deed in enumerate(deeds):
        predicate = Op("<", Col("s.weight_kg"), Const(float(place)))
        fragment = Fragment(Filter(SEAT, predicate), 20.0)
        if deed == "d" or not handles:
            handles.append(net.deploy(fragment))
        elif deed == "c":
            net.change(handles[-1], fragment)
        else:
            net.remove(handles.pop())
        net.run(seed % 7 / 3.0)
    net.run(240.0)
    routed = {mote for mote, parent in net.parents().items() if parent}
    assert routed
    assert {net.installed[mote] for mote in routed} == {net._dissemination.version}
    held = {handle.query for handle in handles}
    for mote in net.motes:
        if mote.spec.mote in routed:
            assert set(net._execution.programs(mote)) == held


def test_a_mote_installed_later_knows_the_programs_and_reports_soon():
    field = desks(3, 2)
    net = network(field)
    handle = net.deploy(Fragment(SEAT))
    net.run(300.0)  # beacons have become rare
    given = {"mid": "new", "sid": "new", "rid": "R1"}
    spot = MoteSpec("new", 9.0, 3.0, "L0", 0, (Attached("new", "seat_reading", given),))
    net.put_mote(spot)
    net.report("new", (70.0,), net.now_s)
    net.run(1.5)
    assert [answer.rows[0][:4] for answer in handle.take()] == [("new", "new", "R1", 70.0)]
    moved = replace(spot, x_m=1.0)
    net.put_mote(moved)
    net.report("new", (0.0,), net.now_s)
    net.run(1.5)
    assert [answer.rows[0][3] for answer in handle.take()] == [0.0]


# One trace.


def digest(seed=5):
    sums = hashlib.sha256()
    field = desks(10, 5, bases=2)
    net = network(
        field,
        seed,
        Radio(fade_db=6.0),
        status_s=30.0,
        trace=lambda line: sums.update(line.encode()),
    )
    light = scan("light_reading", "l")
    join = Join(SEAT, light, (("s.rid", "l.rid"),), Op(">", Col("l.lux"), Const(300.0)))
    handles = [
        net.deploy(Fragment(plan, 10.0))
        for plan in (SEAT, GroupBy(SEAT, ("s.rid",), (COUNT,)), join)
    ]
    net.run(100.0)
    net.fail("wall3")
    net.run(100.0)
    net.revive("wall3")
    net.run(100.0)
    sums.update(repr([handle.take() for handle in handles]).encode())
    return sums.hexdigest()


def test_the_same_seed_gives_the_same_trace_in_another_process():
    code = (
        "import sys; sys.path[:0] = ['.', 'tests', 'tests/sensors_sim']; "
        "import test_network; print(test_network.digest())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd="."
    )
    assert done.stdout.strip() == digest()
    assert digest(seed=6) != digest()


@given(st.lists(st.floats(0.1, 30.0), min_size=1, max_size=8))
@settings(max_examples=10, deadline=None)
def test_how_time_is_cut_changes_nothing(pieces):
    lines: dict[bool, list[str]] = {True: [], False: []}
    for whole, kept in lines.items():
        net = network(desks(4, 3), 8, Radio(), trace=kept.append)
        net.deploy(Fragment(SEAT, 7.0))
        for piece in [math.fsum(pieces)] if whole else pieces:
            net.run(piece)
        net.run_until(math.fsum(pieces) + 1.0)
    assert lines[True] == lines[False]


# Refusals.


def test_what_motes_cannot_run_is_refused_with_the_reason():
    net = network(desks(2, 1))
    with pytest.raises(UnsupportedFragment, match="epoch by epoch"):
        net.deploy(Fragment(GroupBy(SEAT, (), (COUNT,))))
    with pytest.raises(UnsupportedFragment, match="product"):
        net.deploy(Fragment(Join(SEAT, scan("light_reading", "l")), 10.0))
    distinct = replace(COUNT, argument="s.mid", distinct=True)
    with pytest.raises(UnsupportedFragment, match="DISTINCT"):
        net.deploy(Fragment(GroupBy(SEAT, (), (distinct,)), 10.0))
    handle = net.deploy(Fragment(SEAT))
    net.remove(handle)
    with pytest.raises(UnknownQuery):
        net.remove(handle)


def test_a_field_that_contradicts_itself_is_refused():
    seat = Attached("s", "seat_reading", {"mid": "m", "sid": "s"})
    with pytest.raises(BadWorld, match="lacks the attribute rid"):
        Field((MoteSpec("a", 0, 0, sensors=(seat,)),), (), STREAMS)
    with pytest.raises(BadWorld, match="share a name"):
        Field((base_station("b", 0, 0), base_station("b", 1, 1)))
    assert isinstance(world(desks(1, 1)), Hashed)
