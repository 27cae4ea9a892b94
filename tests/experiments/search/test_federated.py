"""What the search decides on the seeds' sensors: where joins run, how, and when that turns."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest
from search_support.costs import (
    AIR_MJ_PER_BYTE,
    Estimates,
    Flow,
    bloom,
    join_graph,
    semi,
    shipping,
    weighed,
)
from search_support.federated import FederatedSpace
from search_support.problem import (
    Attribute,
    Equality,
    Member,
    Problem,
    Route,
    SearchSite,
    Theta,
)

from aspen.motes.hardware import FRAME_BYTES
from federation.search import NoPlan, bottom_up
from federation.search.space import And, PlanTree

MOTES = SearchSite("motes", 20.0, joins=1, battery=True, hashes=False, reduces=True)
BASE, ENGINE = SearchSite("base", 5.0, reduces=True), SearchSite("engine", 0.5, sorts=True)
ROUTES = (
    Route("motes", "base", 2.5),
    Route("base", "motes", 2.5),
    Route("base", "engine", wired_ms=3.0),
    Route("motes", "engine", 2.5, 3.0),
)
DESK = (("desk", 54.0),)


def desk(share: float, rate_hz: float = 1.0) -> Problem:
    """Seat, light and temperature of a desk; a share of the pairs passes the thresholds."""
    members = tuple(
        Member(alias, "motes", 54.0, rate_hz, 12, DESK) for alias in ("seat", "light", "temp")
    )
    equalities = tuple(
        Equality(Attribute("seat", "desk"), Attribute(other, "desk")) for other in ("light", "temp")
    )
    theta = (Theta("seat", "light", share),)
    return Problem(members, (MOTES, BASE, ENGINE), ROUTES, "engine", equalities, theta)


def joins(plan: PlanTree) -> list[And]:
    own = [plan.way] if plan.way.log == "join" else []
    return own + [way for child in plan.children for way in joins(child)]


def test_a_selective_join_runs_on_the_motes_and_a_weak_one_at_the_base_or_above():
    selective = joins(bottom_up(FederatedSpace(desk(0.01))))
    assert {way.prop for way in selective if way.expr == "light+seat"} == {"made motes"}
    weak = joins(bottom_up(FederatedSpace(desk(1.0))))
    assert not {way.prop for way in weak} & {"made motes"}


def test_one_join_per_sensor_subquery_until_the_limit_is_lifted():
    query = desk(0.01)
    limited = bottom_up(FederatedSpace(query))
    assert [way.prop for way in joins(limited)].count("made motes") == 1
    lifted = replace(query, sites=(replace(MOTES, joins=None), BASE, ENGINE))
    free = bottom_up(FederatedSpace(lifted))
    assert [way.prop for way in joins(free)].count("made motes") == 2
    assert free.cost < limited.cost
    nowhere = replace(query, sites=(replace(MOTES, joins=0), BASE, ENGINE))
    assert bottom_up(FederatedSpace(nowhere)).cost > limited.cost


def test_keys_go_to_a_large_stream_that_few_rows_of_match():
    readings = Member("reading", "motes", 2_000.0, 20.0, 40, (("desk", 2_000.0),))
    free = Member("free", "base", 4.0, 0.01, 8, (("desk", 4.0),))
    pair = (Equality(Attribute("reading", "desk"), Attribute("free", "desk")),)
    query = Problem((readings, free), (MOTES, BASE, ENGINE), ROUTES, "engine", pair)
    (join,) = joins(bottom_up(FederatedSpace(query)))
    assert join.phy in ("semi at motes", "bloom at motes")
    unreduced = replace(query, sites=(replace(MOTES, reduces=False, joins=0), BASE, ENGINE))
    (join,) = joins(bottom_up(FederatedSpace(unreduced)))
    assert join.phy == "natural"


def test_bloom_beats_semi_when_keys_are_many_and_loses_when_partners_are_few():
    there, back = ROUTES[1], ROUTES[0]
    metric = desk(1).metric

    def both(keys: float, rate_hz: float) -> tuple[int, int]:
        flow = Flow(1_000, rate_hz, 40)
        made = (how(keys, flow, 0.001, there, back, MOTES) for how in (semi, bloom))
        one, other = (weighed(work, metric) for work in made)
        return one, other

    by_keys, by_filter = both(500, 0.1)
    assert by_filter < by_keys
    by_keys, by_filter = both(2, 500.0)
    assert by_keys < by_filter


def test_shipping_counts_bytes_energy_and_waiting_per_hop():
    work = shipping(2.0, 23, Route("motes", "base", 2.5))
    assert work.cost.bytes_per_s == 2.0 * (23 + FRAME_BYTES) * 2.5
    assert work.cost.energy_mj_per_s == pytest.approx(work.cost.bytes_per_s * AIR_MJ_PER_BYTE)
    wired = shipping(2.0, 23, Route("base", "engine", wired_ms=3.0))
    assert (wired.cost.energy_mj_per_s, wired.cost.latency_ms) == (0.0, 3.0)
    assert shipping(1.0, 111, ROUTES[0]).cost.bytes_per_s == (111 + 2 * FRAME_BYTES) * 2.5


def test_what_a_set_gives_does_not_depend_on_how_the_query_is_written():
    query = desk(0.3)
    sizes = set()
    for members in permutations(query.members):
        turned = replace(query, members=members, equalities=query.equalities[::-1])
        graph = join_graph(turned)
        sizes.add(Estimates(turned, graph).flow(graph.everything))
    (flow,) = sizes
    assert flow.rows == pytest.approx(54**3 * 0.3 / 54**2)
    assert flow.rate_hz == pytest.approx(3 * flow.rows / 54)
    assert flow.row_bytes == 36


def test_the_and_or_graph_has_no_circles_and_goes_up_from_its_leaves():
    space = FederatedSpace(desk(0.3))
    place = {node: i for i, node in enumerate(space.upwards())}
    assert len(place) == len(set(place))
    for node, i in place.items():
        for way in space.ways(node):
            assert all(place[child] < i for child in way.children)


def test_an_order_that_is_there_saves_the_sort():
    desks = tuple(
        Member(alias, "engine", 1_000.0, 100.0, 8, (("desk", 1_000.0),), "desk") for alias in "ab"
    )
    pair = (Equality(Attribute("a", "desk"), Attribute("b", "desk")),)
    query = Problem(desks, (ENGINE,), (), "engine", pair)
    plan = bottom_up(FederatedSpace(query))
    assert [way.phy for way in joins(plan)] == ["merge by a.desk"]
    heaps = replace(query, members=tuple(replace(one, order=None) for one in desks))
    plan = bottom_up(FederatedSpace(heaps))
    assert [way.phy for way in joins(plan)] == ["natural"]


def test_without_a_way_to_the_goal_there_is_no_plan():
    with pytest.raises(NoPlan):
        bottom_up(FederatedSpace(replace(desk(0.3), routes=())))
