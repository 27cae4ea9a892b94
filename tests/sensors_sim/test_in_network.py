"""In-network answers equal what the base would have computed, and degrade as documented."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motes.fields import STREAMS, desks, reachable, samples_of, scan, scattered, world
from motes.ideal import Ideal
from motes.measure import join_nodes, message_accounts

from aspen.algebra.expr import Col, Const, Not, Op, conjunction
from aspen.algebra.plan import (
    MERGEABLE,
    Aggregate,
    AggregateFunction,
    Filter,
    GroupBy,
    Join,
    Project,
)
from aspen.model.schema import Column, Type
from sensors_sim.innet.compile import Fragment
from sensors_sim.innet.program import Method
from sensors_sim.motes import Attached, Field, MoteSpec, base_station
from sensors_sim.network.links import Radio
from sensors_sim.sensor_network import SensorNetwork
from tests.oracle import evaluate

PERIOD_S = 8.0
SEAT, LIGHT, TEMPERATURE = (
    scan("seat_reading", "s"),
    scan("light_reading", "l"),
    scan("temperature_reading", "t"),
)
WEIGHT = Col("s.weight_kg")

thresholds = st.integers(-5, 105).map(float)
comparisons = st.sampled_from(["<", "<=", ">", ">=", "=", "<>"])


@st.composite
def predicates(draw):
    parts = [Op(draw(comparisons), WEIGHT, Const(draw(thresholds)))]
    if draw(st.booleans()):
        parts.append(Not(Op("=", Col("s.rid"), Const(draw(st.sampled_from(["R0", "R1", "R9"]))))))
    if draw(st.booleans()):
        doubled = Op("+", WEIGHT, Op("*", WEIGHT, Const(0.5)))
        parts.append(Op(draw(comparisons), doubled, Const(draw(thresholds))))
    return conjunction(parts)


@st.composite
def row_plans(draw):
    plan = Filter(SEAT, draw(predicates())) if draw(st.booleans()) else SEAT
    if draw(st.booleans()):
        return plan
    heavy = Column("heavy", Type.FLOAT)
    return Project(
        plan, ((Column("mid", Type.TEXT), Col("s.mid")), (heavy, Op("*", WEIGHT, Const(2.2))))
    )


FUNCTIONS = list(MERGEABLE)


@st.composite
def group_plans(draw):
    child = Filter(SEAT, draw(predicates())) if draw(st.booleans()) else SEAT
    keys = draw(st.sampled_from([(), ("s.rid",), ("s.rid", "s.mid")]))
    chosen = draw(st.lists(st.sampled_from(FUNCTIONS), min_size=1, max_size=4))
    measured = draw(st.booleans())  # a measured column is sent as an integer, a computed one is not
    argument = "s.weight_kg" if measured else "pounds"
    if not measured:
        texts = tuple((Column(name, Type.TEXT), Col(name)) for name in ("s.rid", "s.mid"))
        pounds = (Column("pounds", Type.FLOAT), Op("*", WEIGHT, Const(2.2)))
        child = Project(child, (*texts, pounds))
    aggregates = tuple(
        Aggregate(
            one,
            None if one is AggregateFunction.COUNT and place % 2 else argument,
            Column(f"a{place}", Type.FLOAT, nullable=True),
        )
        for place, one in enumerate(chosen)
    )
    plan = GroupBy(child, keys, aggregates)
    if draw(st.booleans()):
        return Filter(plan, Op(">", Col("a0"), Const(draw(thresholds))))
    return plan


def join_plan(light_lx, weight_kg, *, with_temperature):
    left = Filter(SEAT, Op(">=", WEIGHT, Const(weight_kg)))
    right = Filter(LIGHT, Op(">=", Col("l.lux"), Const(light_lx)))
    plan = Join(left, right, (("s.rid", "l.rid"),))
    outputs = [(Column("mid", Type.TEXT), Col("s.mid")), (Column("lux", Type.FLOAT), Col("l.lux"))]
    if with_temperature:
        plan = Join(plan, TEMPERATURE, (("l.rid", "t.rid"),))
        outputs.append((Column("celsius", Type.FLOAT), Col("t.celsius")))
    return Project(plan, tuple(outputs))


def asked(field, fragment, seed, model, seconds=60.0):
    """Run a query; give its answers and, by epoch, the rows of each stream that were sampled."""
    book, note = samples_of()
    net = SensorNetwork(field, world(field, seed), seed, model, sampled=note)
    net.run(15.0)
    handle = net.deploy(fragment)
    net.run(seconds)
    motes = reachable(field, model)
    streams = {one.sid: one.stream for mote in field.motes for one in mote.sensors}
    near = {one.sid for mote in field.motes if mote.mote in motes for one in mote.sensors}
    samples: dict[int, dict[str, Counter]] = {}
    for (query, epoch), rows in book.items():
        assert query == handle.query
        for _, row in rows:
            sid = next(value for value in row if value in streams)
            if sid in near:
                samples.setdefault(epoch, {}).setdefault(streams[sid], Counter())[row] += 1
    return net, handle, handle.take(), samples


def same(found, wanted):
    """Whether two bags of rows agree, sums of computed values up to rounding."""
    left, right = sorted(found, key=repr), sorted(wanted, key=repr)
    return len(left) == len(right) and all(
        one == other
        or (
            isinstance(one, float | int)
            and isinstance(other, float | int)
            and math.isclose(one, other, rel_tol=1e-9)
        )
        for a, b in zip(left, right, strict=True)
        for one, other in zip(a, b, strict=True)
    )


def check(plan, answers, samples):
    assert answers
    for answer in answers:
        tables = samples.get(answer.epoch, {})
        wanted = list(Counter(evaluate(plan, tables)).elements())
        assert same(answer.rows, wanted), (answer, wanted)


@given(row_plans(), st.integers(0, 10**6), st.integers(1, 16), st.integers(1, 2))
@settings(max_examples=25, deadline=None)
def test_selected_rows_are_those_the_base_would_select(plan, seed, motes, bases):
    field = scattered(seed, motes, bases)
    _, handle, answers, samples = asked(field, Fragment(plan, PERIOD_S), seed, Ideal(15.0))
    check(plan, answers, samples)
    assert handle.late == 0


@given(group_plans(), st.integers(0, 10**6), st.integers(1, 16), st.integers(1, 2))
@settings(max_examples=25, deadline=None)
def test_aggregates_in_the_tree_are_those_of_all_rows(plan, seed, motes, bases):
    field = scattered(seed, motes, bases)
    _, handle, answers, samples = asked(field, Fragment(plan, PERIOD_S), seed, Ideal(15.0))
    check(plan, answers, samples)
    assert handle.late == 0


def test_along_a_line_every_mote_sends_one_record_with_those_of_all_behind_it():
    field = scattered(1, 6, 1)
    line = [replace(one, x_m=10.0 * n, y_m=0.0) for n, one in enumerate(field.motes)]
    plan = GroupBy(SEAT, (), (Aggregate(AggregateFunction.COUNT, None, Column("n", Type.INT)),))
    fragment = Fragment(plan, PERIOD_S)
    net, handle, answers, _ = asked(replace(field, motes=tuple(line)), fragment, 1, Ideal(12.0))
    assert answers[-1].motes == 6
    needed = sum(answer.motes for answer in answers)
    sent = message_accounts(net, handle)["partial"].frames
    assert needed <= sent <= needed + 6  # and those of an epoch that is not over


@given(
    st.sampled_from(list(Method)),
    st.integers(0, 10**6),
    st.integers(0, 600).map(float),
    st.integers(0, 100).map(float),
    st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_every_way_of_joining_gives_the_join(method, seed, light_lx, weight_kg, three):
    three = three and method in (Method.BASE, Method.PAIRWISE)
    plan = join_plan(light_lx, weight_kg, with_temperature=three)
    field = desks(2 + seed % 3, 1 + seed % 4)
    shares = (0.1, 0.1, 1.0)[: 3 if three else 2]
    fragment = Fragment(plan, PERIOD_S, method, shares=shares)
    net, handle, answers, samples = asked(field, fragment, seed, Ideal(12.0), 90.0)
    check(plan, answers, samples)
    assert handle.late == 0
    assert net.lost == {}


@pytest.mark.parametrize("method", [Method.SEMI, Method.BLOOM])
def test_keys_reach_who_waits_for_them_behind_motes_that_measure_nothing(method):
    seat = Attached("seat", "seat_reading", {"mid": "m", "sid": "seat", "rid": "R"})
    light = Attached("light", "light_reading", {"sid": "light", "rid": "R"})
    carried = [(), (seat,), (), (), (light,)]
    motes = tuple(
        MoteSpec(f"mote{n}", 10.0 * n, 0.0, "L0", 0, sensors, wake_s=0.1)
        for n, sensors in enumerate(carried)
    )
    field = Field((base_station("base", 0.0, 1.0, "L0"), *motes[1:]), (), STREAMS)
    plan = Join(SEAT, LIGHT, (("s.rid", "l.rid"),))
    _, _, answers, samples = asked(field, Fragment(plan, PERIOD_S, method), 1, Ideal(12.0))
    assert [len(answer.rows) for answer in answers[-3:]] == [1, 1, 1]
    check(plan, answers[-3:], samples)


def test_the_temperature_travels_only_where_seat_and_light_agree():
    plan = join_plan(550.0, 95.0, with_temperature=True)
    field = desks(8, 4)
    at_base, in_net = (
        asked(field, Fragment(plan, 10.0, method, shares=(0.05, 0.1, 1.0)), 5, Ideal(12.0), 400.0)
        for method in (Method.BASE, Method.PAIRWISE)
    )
    assert set(join_nodes(*in_net[:2])) - {"base"}
    costs = [net.query_account(handle) for net, handle, *_ in (at_base, in_net)]
    assert costs[1].energy_mj < 0.7 * costs[0].energy_mj
    for _, _, answers, samples in (at_base, in_net):
        check(plan, answers, samples)


def test_a_join_whose_place_dies_goes_on_elsewhere():
    join = Join(SEAT, LIGHT, (("s.rid", "l.rid"),), Op(">", WEIGHT, Const(95.0)))
    field = desks(6, 1)
    relays = tuple(MoteSpec(f"relay{n}", 4.0 + 8.0 * n, 1.0, "L0", wake_s=0.0) for n in range(6))
    field = replace(field, motes=field.motes + relays)
    book, note = samples_of()
    net = SensorNetwork(field, world(field), 3, Ideal(9.0), sampled=note)
    net.run(10.0)
    # Few pairs pass, so meeting on the way is cheapest, and relays never sleep.
    handle = net.deploy(Fragment(join, 10.0, shares=(1.0, 1.0), joined_share=0.01))
    net.run(90.0)
    places = set(join_nodes(net, handle)) & {mote.mote for mote in relays}
    assert places
    for place in places:
        net.fail(place)
    net.run(300.0)
    handle.take()
    assert not set(join_nodes(net, handle)) & places
    net.run(100.0)
    answers = handle.take()
    assert len(answers) == 10
    for answer in answers:
        tables: dict[str, Counter] = {"seat_reading": Counter(), "light_reading": Counter()}
        for _, row in book[handle.query, answer.epoch]:
            tables["seat_reading" if len(row) == 5 else "light_reading"][row] += 1
        assert Counter(answer.rows) == Counter(evaluate(join, tables))


@pytest.mark.parametrize("fade_db", [10.0, 16.0, 22.0])
def test_under_loss_counts_fall_short_and_never_exceed(fade_db):
    count = Aggregate(AggregateFunction.COUNT, None, Column("n", Type.INT))
    most = Aggregate(AggregateFunction.MAX, "s.weight_kg", Column("most", Type.FLOAT))
    least = Aggregate(AggregateFunction.MIN, "s.weight_kg", Column("least", Type.FLOAT))
    total = Aggregate(AggregateFunction.SUM, "s.weight_kg", Column("total", Type.FLOAT))
    plan = GroupBy(SEAT, (), (count, most, least, total))
    field = desks(8, 4)
    _, _, answers, samples = asked(
        field, Fragment(plan, 10.0), 3, Radio(fade_db=fade_db), seconds=600.0
    )
    assert answers
    for answer in answers:
        rows = samples.get(answer.epoch, {}).get("seat_reading", Counter())
        [(n, most_kg, least_kg, total_kg)] = answer.rows
        assert n <= sum(rows.values())
        assert answer.motes <= answer.expected == 32
        assert n == answer.motes  # one seat per mote: the mark says exactly what is in it
        weights = [row[3] for row in rows]
        if n:
            assert min(weights) <= least_kg <= most_kg <= max(weights)
            assert total_kg <= math.fsum(weights) + 1e-9  # none is negative


@pytest.mark.parametrize("method", list(Method))
def test_under_loss_joins_miss_rows_and_invent_none(method):
    plan = join_plan(200.0, 40.0, with_temperature=False)
    fragment = Fragment(plan, 10.0, method, shares=(0.1, 0.1))
    _, _, answers, samples = asked(desks(6, 3), fragment, 11, Radio(fade_db=16.0), 300.0)
    for answer in answers:
        wanted = Counter(evaluate(plan, samples.get(answer.epoch, {})))
        assert not Counter(answer.rows) - wanted


def test_a_query_is_changed_and_removed_while_it_runs():
    field = desks(6, 4)
    book, note = samples_of()
    net = SensorNetwork(field, world(field), 1, Ideal(12.0), sampled=note)
    net.run(10.0)
    light = Filter(SEAT, Op("<", WEIGHT, Const(20.0)))
    heavy = Filter(SEAT, Op(">=", WEIGHT, Const(80.0)))
    handle = net.deploy(Fragment(light, 10.0))
    net.run(50.0)
    net.change(handle, Fragment(heavy, 10.0))
    net.run(50.0)
    answers = handle.take()
    versions = [answer.version for answer in answers]
    assert versions == sorted(versions)
    assert len(set(versions)) == 2
    assert all(b.epoch > a.epoch for a, b in pairwise(answers))
    for answer in answers:
        plan = light if answer.version == versions[0] else heavy
        rows = Counter(row for _, row in book[handle.query, answer.epoch])
        wanted = evaluate(plan, {"seat_reading": rows})
        assert not Counter(answer.rows) - Counter(wanted)
        if answer.epoch not in (answers[0].epoch, answers[versions.count(versions[0])].epoch):
            assert Counter(answer.rows) == Counter(wanted)
    net.remove(handle)
    net.run(20.0)
    handle.take()
    spent = net.query_account(handle).frames
    net.run(100.0)
    assert handle.take() == []
    assert net.query_account(handle).frames == spent


def test_streams_of_these_tests_are_those_of_devices():
    assert {one.relation.device for one in STREAMS.values()} == {"seat", "light", "temperature"}
