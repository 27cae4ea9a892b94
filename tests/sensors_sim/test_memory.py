"""However long it runs, a simulation holds what is in force and no more."""

from __future__ import annotations

import gc
from collections import Counter, deque
from dataclasses import replace
from functools import lru_cache
from types import FunctionType, ModuleType

import pytest
from motes.fields import desks, scan, world

from aspen.algebra.expr import Col, Const, Op
from aspen.algebra.plan import Aggregate, AggregateFunction, Filter, GroupBy, Join, Project
from aspen.model.schema import Column, Type
from aspen.motes.kinds import device_kind
from sensors_sim.innet import gateway
from sensors_sim.innet.compile import Fragment
from sensors_sim.innet.program import Method
from sensors_sim.kernel import Kernel
from sensors_sim.network import dissemination, tree
from sensors_sim.network.links import Radio
from sensors_sim.sensor_network import SensorNetwork
from sensors_sim.waveforms import checked
from sensors_sim.world import PathEdge, SensorSpec, Spot, VisitorSpec, World

SEAT, LIGHT = scan("seat_reading", "s"), scan("light_reading", "l")
ROWS = Filter(SEAT, Op(">=", Col("s.weight_kg"), Const(10.0)))
COUNT = GroupBy(
    SEAT, ("s.rid",), (Aggregate(AggregateFunction.COUNT, None, Column("n", Type.INT)),)
)
JOIN = Project(
    Join(SEAT, LIGHT, (("s.rid", "l.rid"),)),
    ((Column("mid", Type.TEXT), Col("s.mid")), (Column("lux", Type.FLOAT), Col("l.lux"))),
)
PERIOD_S = 4.0
CONTAINERS = dict | list | set | deque
PASSED = type | FunctionType | ModuleType | type(lru_cache(len)) | int | float
FRAGMENTS = [
    Fragment(SEAT),
    Fragment(ROWS, PERIOD_S),
    Fragment(COUNT, PERIOD_S),
    Fragment(JOIN, PERIOD_S, method=Method.PAIRWISE),
    Fragment(JOIN, PERIOD_S, method=Method.SEMI),
]


def held(root: object) -> Counter[str]:
    """Returns how many objects of each type a thing leads to, and the items of containers."""
    seen, waiting, found = {id(root)}, [root], Counter[str]()
    while waiting:
        one = waiting.pop()
        found[type(one).__name__] += len(one) if isinstance(one, CONTAINERS) else 1
        for inner in gc.get_referents(one):
            if id(inner) not in seen and not isinstance(inner, PASSED):
                seen.add(id(inner))
                waiting.append(inner)
    return found


def grown(before: Counter[str], after: Counter[str]) -> dict[str, int]:
    """Returns what became more, by more than what is under way at one moment or another."""
    return {
        name: count - before[name]
        for name, count in after.items()
        if count > 1.15 * before[name] + 40
    }


@pytest.fixture
def little_is_kept(monkeypatch) -> None:
    monkeypatch.setattr(gateway, "ANSWERS_KEPT", 5)
    monkeypatch.setattr(gateway, "QUERIES", 3)  # the numbers on the air soon begin anew
    monkeypatch.setattr(gateway, "RECENT", 8)
    monkeypatch.setattr(tree, "SEEN_PACKETS", 8)
    monkeypatch.setattr(dissemination, "CHANGES_KEPT", 4)


@pytest.mark.parametrize("fragment", FRAGMENTS, ids=["reports", "rows", "groups", "pairs", "semi"])
def test_a_query_whose_answers_nobody_takes_holds_no_more_and_more(fragment, little_is_kept):
    field = desks(2, 3)
    net = SensorNetwork(field, world(field), 7, Radio(), status_s=10.0)
    handle = net.deploy(fragment)

    def turn(epochs: int) -> Counter[str]:
        for _ in range(epochs):
            net.report("R0.seat0", (70.0,), net.now_s)
            net.run(PERIOD_S)
        return held(net)

    before = turn(40)
    assert grown(before, turn(200)) == {}
    assert len(handle.answers) == 5
    assert len(handle.take()) == 5
    assert not handle.answers


@pytest.mark.parametrize("fragment", FRAGMENTS, ids=["reports", "rows", "groups", "pairs", "semi"])
def test_queries_that_come_and_go_leave_nothing(fragment, little_is_kept):
    field = desks(2, 3)
    net = SensorNetwork(field, world(field), 7, Radio())

    def turn(times: int) -> Counter[str]:
        for number in range(times):
            handle = net.deploy(fragment)
            net.run(6.0)
            net.change(handle, replace(fragment, period_s=fragment.period_s and PERIOD_S + 1))
            if number % 3 == 0:
                net.fail("R1.seat0")
            net.run(6.0)
            net.revive("R1.seat0")
            net.remove(handle)
            net.run(1.0)
        return held(net)

    before = turn(12)
    assert grown(before, turn(36)) == {}


def receiver() -> SensorSpec:
    return SensorSpec("rfid", "rfid", 0, "L0", 0.0, 0.0, "people", {}, 5.0)


def light() -> SensorSpec:
    parameters = checked("square", device_kind("light"), {"high": 9, "low": 2})
    return SensorSpec("light", "light", 0, "L0", 0.0, 0.0, "square", parameters, 5.0)


def test_sensors_and_visitors_that_come_and_go_leave_nothing():
    spots = {n: Spot("L0", 10.0 * n, 0.0) for n in range(3)}
    steps = {n: (PathEdge((n + 1) % 3, 10_000),) for n in spots}
    kernel = Kernel(World((receiver(),), (), spots, steps), 3)

    def turn(first: int, times: int) -> Counter[str]:
        for number in range(first, first + times):
            kernel.put_visitor(VisitorSpec(f"visitor {number}", 1.2))
            kernel.put_sensor(replace(receiver(), sid=f"rfid {number}"))
            kernel.put_sensor(replace(light(), sid=f"light {number}"))
            kernel.tick(7.0)
            kernel.drop_visitor(f"visitor {number}")
            kernel.drop_sensor(f"rfid {number}")
            kernel.drop_sensor(f"light {number}")
            kernel.tick(7.0)
        return held(kernel)

    before = turn(0, 20)
    assert grown(before, turn(20, 100)) == {}
