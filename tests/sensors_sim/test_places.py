"""Places of joins: by hand for comparison, past the tree where partners are neighbours."""

from __future__ import annotations

from collections import Counter

from motes.fields import desks, samples_of, scan, world
from motes.ideal import Ideal
from motes.measure import assign_joins, join_nodes, message_accounts

from aspen.algebra.expr import Col
from aspen.algebra.plan import Join, Project
from aspen.model.schema import Column, Type
from sensors_sim.innet.compile import Fragment
from sensors_sim.innet.placement import Prices
from sensors_sim.innet.program import Method
from sensors_sim.motes import Attached, Field, MoteSpec
from sensors_sim.sensor_network import SensorNetwork
from tests.oracle import evaluate

PERIOD_S = 8.0
JOIN = Project(
    Join(scan("seat_reading", "s"), scan("light_reading", "l"), (("s.rid", "l.rid"),)),
    ((Column("mid", Type.TEXT), Col("s.mid")), (Column("lux", Type.FLOAT), Col("l.lux"))),
)


def test_between_two_base_stations_a_way_goes_up_and_down_and_costs_nothing_on_the_wire():
    prices = Prices({4: (4, 2, 1), 9: (9, 8, 7, 6)}, hop=lambda mote, size: 10.0 * mote + size)
    assert prices.move(4, 9, size=1) == (21 + 11) + (71 + 81 + 91)
    assert prices.move(4, 2, size=1) == 21
    assert prices.move(2, 4, size=1) == 41


def test_groups_meet_where_they_are_told_and_answer_the_same():
    field = desks(3, 2)
    book, note = samples_of()
    net = SensorNetwork(field, world(field), 2, Ideal(12.0), sampled=note)
    net.run(30.0)
    handle = net.deploy(Fragment(JOIN, PERIOD_S, Method.PAIRWISE))
    net.run(60.0)
    assign_joins(
        net, handle, {("R2.seat0", "R2.light"): "wall2", ("R1.seat1", "R1.light"): "wall1"}
    )
    assert join_nodes(net, handle) == {"base": 4, "wall1": 1, "wall2": 1}
    net.run(60.0)
    handle.take()
    net.run(5 * PERIOD_S)
    answers = handle.take()
    assert len(answers) > 3
    streams = {one.sid: one.stream for mote in field.motes for one in mote.sensors}
    for answer in answers:
        tables: dict[str, Counter] = {}
        for _, row in book[handle.query, answer.epoch]:
            stream = next(streams[value] for value in row if value in streams)
            tables.setdefault(stream, Counter())[row] += 1
        assert Counter(answer.rows) == Counter(evaluate(JOIN, tables))
    assert message_accounts(net, handle)["row"].frames > 0  # joined on the way, sent on
    assign_joins(net, handle)
    assert sum(join_nodes(net, handle).values()) == 6


def test_a_mote_nobody_hears_does_not_send_its_partners_to_the_base():
    near = desks(2, 2)
    given = {"mid": "far", "sid": "R1.far", "rid": "R1"}
    far = MoteSpec("far", 500.0, 0.0, "L0", 0, (Attached("R1.far", "seat_reading", given),))

    def places(field):
        book, note = samples_of()
        net = SensorNetwork(field, world(field), 2, Ideal(7.0), sampled=note)
        net.run(60.0)
        handle = net.deploy(Fragment(JOIN, PERIOD_S, shares=(0.9, 0.02), joined_share=0.1))
        net.run(120.0)
        handle.take()
        net.run(5 * PERIOD_S)
        return join_nodes(net, handle), handle.take(), book

    alone, answers, _ = places(near)
    beside, same, book = places(Field((*near.motes, far), (), near.streams))
    assert "base" not in alone  # partners meet among themselves
    assert beside == {**alone, "base": 1}  # the silent one with its light
    assert [sorted(one.rows) for one in same] == [sorted(one.rows) for one in answers]
    assert any(one.rows for one in same)
    assert not any("R1.far" in row for rows in book.values() for _, row in rows)


def test_motes_tell_of_neighbours_they_speak_to_past_the_tree():
    field = desks(2, 2)
    net = SensorNetwork(field, world(field), 2, Ideal(12.0), status_s=20.0)
    net.run(90.0)
    told = net.statuses["R0.seat0"].near
    assert "R0.seat1" in told
    assert "R0.seat0" not in told


def test_the_way_to_a_neighbour_costs_one_link():
    paths = {3: (3, 2, 0), 4: (4, 1, 0)}
    along = Prices(paths, lambda _mote, size: float(size))
    past = Prices(paths, lambda _mote, size: float(size), {2: (4,)})
    assert along.move(3, 4, 10) == 40.0
    assert past.move(3, 4, 10) == 20.0
    assert past.move(4, 3, 10) == 40.0
