"""Pieces in the network: whatever is chosen, the answer is that of the plan as it was written."""

from __future__ import annotations

from dataclasses import replace

import pytest
from federation_support.building import (
    CATALOG,
    EXAMPLE_14,
    KNOWN,
    NEWEST,
    SEAT_LIGHT_TEMPERATURE,
    planned,
    queries,
    samples,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from search_support.federated import FederatedSpace, over_sites

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import Scan, Window
from aspen.algebra.read import read_plan
from aspen.model.schema import SourceKind
from federation.cost import Weights
from federation.covers import covers
from federation.placement import assign_sites, options, strip_ships
from federation.search import JoinSpace
from federation.search.graph import graph_of
from federation.sites import SensorSite
from federation.split import split
from tests.experiments.search.by_rules import RuleSearch
from tests.experiments.search.top_down import top_down
from tests.oracle import evaluate

law = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
BY_ENERGY = Weights(0.0, 1.0, 0.0)


def nodes(plan):
    return [node for _, node in walk(plan)]


def walk(plan, depth=0):
    yield depth, plan
    for child in getattr(plan, "children", None) or [
        getattr(plan, name) for name in ("child", "left", "right") if hasattr(plan, name)
    ]:
        yield from walk(child, depth + 1)


def check(federated, plan, tables):
    wanted = evaluate(plan, tables)
    assert evaluate(strip_ships(federated.plan), tables) == wanted
    fragments = split(federated)
    answers = dict(tables)
    for one in fragments.network:
        replaced = evaluate(one.replaces, tables)
        assert evaluate(one.plan, tables) == replaced
        assert all(weight == 1 for weight in replaced.values())
        assert one.relation.columns == one.plan.columns
        assert read_plan(plan_text(one.plan)) == one.plan
        assert all(node.stream for node in nodes(one.plan) if isinstance(node, Scan))
        answers[one.name] = replaced
    assert evaluate(fragments.engine.plan, answers) == wanted
    assert fragments.engine.plan.columns == plan.columns
    assert read_plan(plan_text(fragments.engine.plan)) == fragments.engine.plan
    return fragments


@law
@given(queries(), samples(), st.data())
def test_oracle_every_cover_has_the_rows_of_the_plan(text, tables, draw):
    plan = planned(text)
    found = options(plan, CATALOG, KNOWN)
    chosen = {one.path: draw.draw(st.sampled_from(covers(one))).names for one in found.regions}
    federated = found.assigned(chosen)
    assert {one.region.path: {f.name for f in one.fetches} for one in federated.decisions} == {
        path: set(names) for path, names in chosen.items()
    }
    check(federated, plan, tables)


@law
@given(queries(), samples())
def test_oracle_the_chosen_plan_has_the_rows_of_the_plan(text, tables):
    plan = planned(text)
    check(assign_sites(plan, CATALOG, KNOWN), plan, tables)


@law
@given(samples())
def test_oracle_regions_inside_a_region_run_too(tables):
    plan = planned(
        f"""
        SELECT s.mid, l.lux, g.n FROM seat_reading {NEWEST} s, light_reading {NEWEST} l,
          (SELECT t.rid, COUNT(*) AS n FROM temperature_reading {NEWEST} t GROUP BY t.rid) g
        WHERE s.rid = l.rid AND g.rid = l.rid AND s.weight_kg < 5.0 AND l.lux > 20.0
        """
    )
    found = options(plan, CATALOG, KNOWN)
    assert len(found.regions) == 2
    inside = {
        one.path: min(covers(one), key=lambda c: len([f for f in c.fetches if not f.piece])).names
        for one in found.regions
    }
    fragments = check(found.assigned(inside), plan, tables)
    assert fragments.sensors == ()
    assert {"GroupBy"} <= {type(node).__name__ for f in fragments.network for node in nodes(f.plan)}


@settings(law, max_examples=20)
@given(samples())
def test_oracle_a_condition_no_mote_computes_is_computed_behind_every_cover(tables):
    plan = planned(
        f"""
        SELECT s.mid FROM seat_reading {NEWEST} s, light_reading {NEWEST} l
        WHERE s.rid = l.rid AND s.weight_kg < 5.0 AND l.lux >= 0.0 AND abs(l.lux - 20.0) > 20.0
        """
    )
    found = options(plan, CATALOG, KNOWN)
    (region,) = found.regions
    for cover in covers(region):
        check(found.assigned({region.path: cover.names}), plan, tables)


def test_parts_that_nothing_compares_are_joined_by_no_mote_and_others_are():
    text = f"""
    SELECT a.mid, b.lux, c.celsius FROM seat_reading {NEWEST} a, light_reading {NEWEST} b,
      temperature_reading {NEWEST} c
    WHERE a.rid = c.rid AND b.sid = c.sid AND a.weight_kg < 5.0 AND b.lux > 1.0 AND c.celsius > 1.0
    """
    (region,) = options(planned(text), CATALOG, KNOWN).regions
    together = {one.aliases for one in region.fetches.values() if len(one.aliases) > 1}
    assert together == {("a", "c"), ("b", "c"), ("a", "b", "c")}


@law
@given(queries(), st.sampled_from([Weights(), BY_ENERGY, Weights(0.0, 0.0, 1.0)]))
def test_no_cover_is_cheaper_than_the_chosen_one(text, weights):
    for one in assign_sites(planned(text), CATALOG, KNOWN, weights).decisions:
        every = covers(one.region)
        assert every[0].weighed == pytest.approx(one.found.cost / 1e6)
        assert {f.name for f in one.fetches} in [{*c.names} for c in every]


@settings(law, max_examples=12)
@given(queries())
def test_differential_all_searches_agree_on_regions(text):
    for one in options(planned(text), CATALOG, KNOWN).regions:
        space = JoinSpace(one.problem)
        answer = top_down(space)
        assert RuleSearch(space).answer().text == answer.text


@settings(law, max_examples=40)
@given(queries())
def test_differential_a_region_is_a_query_over_two_sites_without_a_route(text):
    for one in options(planned(text), CATALOG, KNOWN).regions:
        general = FederatedSpace(over_sites(one.problem))
        assert graph_of(JoinSpace(one.problem)) == graph_of(general)


def test_example_14_has_the_alternatives_of_the_seeds():
    (region,) = options(planned(EXAMPLE_14), CATALOG, KNOWN).regions
    names = [set(one.names) for one in covers(region)]
    assert {"select ss at epochs", "select sr at epochs"} in names
    assert {"join sr, ss pairwise, where partners meet"} in names
    assert {"ss as measured", "sr as measured"} in names


def test_of_columns_that_are_equal_one_alone_leaves_the_network():
    (region,) = options(planned(SEAT_LIGHT_TEMPERATURE), CATALOG, KNOWN).regions
    pairs = [one.piece for one in region.fetches.values() if one.aliases == ("sr", "ss")]
    assert pairs
    for piece in pairs:
        assert sum(name.endswith(".rid") for name in piece.fragment.replaces.names) == 1


def test_the_seats_join_stays_out_of_the_network_when_a_join_is_one_too_many():
    plan = planned(SEAT_LIGHT_TEMPERATURE)
    one = options(plan, CATALOG, KNOWN, sensors=SensorSite(joins=1)).regions[0]
    assert all(len(fetch.aliases) <= 2 for fetch in one.fetches.values())
    assert any("may hold 1 joins" in why for _, why in one.refused)
    lifted = options(plan, CATALOG, KNOWN).regions[0]
    assert any(len(fetch.aliases) == 3 for fetch in lifted.fetches.values())


def test_a_network_that_takes_no_fragments_gets_none():
    plan = planned(EXAMPLE_14)
    federated = assign_sites(plan, CATALOG, KNOWN, sensors=SensorSite(runs=False))
    assert federated.pieces == ()
    assert strip_ships(federated.plan) == plan


def test_an_awake_stream_is_not_selected_again_in_the_network():
    plan = planned(f"SELECT s.mid FROM seat_reading {NEWEST} s WHERE s.weight_kg < 5.0")
    assert assign_sites(plan, CATALOG, KNOWN).pieces
    assert not assign_sites(plan, CATALOG, KNOWN, awake=frozenset({"seat_reading"})).pieces


def test_equal_pieces_of_two_queries_have_one_name():
    one = planned(f"SELECT s.mid FROM seat_reading {NEWEST} s WHERE s.weight_kg < 5.0")
    other = planned(f"SELECT y.mid AS who FROM seat_reading {NEWEST} y WHERE y.weight_kg < 5.0")
    names = {split(assign_sites(plan, CATALOG, KNOWN)).network[0].name for plan in (one, other)}
    assert len(names) == 1
    assert next(iter(names)).startswith("net_")


def test_answers_are_a_table_and_no_window_is_left():
    fragments = split(assign_sites(planned(EXAMPLE_14), CATALOG, KNOWN, BY_ENERGY))
    assert fragments.network
    for one in fragments.network:
        assert one.relation.kind is SourceKind.TABLE
        assert not any(isinstance(node, Window) for node in nodes(one.plan))
    scanned = {node.relation for node in nodes(fragments.engine.plan) if isinstance(node, Scan)}
    assert {one.name for one in fragments.network} <= scanned
    assert {"machine", "machine_software"} <= scanned


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"SELECT s.at_s FROM seat_reading {NEWEST} s WHERE s.weight_kg < 5.0", "carry no s.at_s"),
        ("SELECT s.mid FROM seat_reading [ROWS 5] s WHERE s.weight_kg < 5.0", "PARTITION BY sid"),
        ("SELECT s.mid FROM seat_reading [RANGE 9 SECONDS] s", "PARTITION BY sid"),
        (
            "SELECT s.mid FROM seat_reading [PARTITION BY sid ROWS 1 RANGE 2 SECONDS] s",
            "an epoch takes 5 s",
        ),
        (
            f"SELECT COUNT(DISTINCT s.rid) AS n FROM seat_reading {NEWEST} s",
            "COUNT DISTINCT",
        ),
        (
            f"SELECT s.rid, MIN(s.mid) AS first FROM seat_reading {NEWEST} s GROUP BY s.rid",
            "MIN of numbers only",
        ),
    ],
)
def test_what_no_epoch_can_give_is_refused_with_a_reason(text, reason):
    federated = assign_sites(planned(text), CATALOG, KNOWN)
    assert not federated.pieces
    assert any(reason in why for _, why in federated.refused)


def test_a_stream_no_mote_samples_is_refused():
    only_light = replace(SensorSite(), devices=frozenset({"light"}))
    federated = assign_sites(planned(EXAMPLE_14), CATALOG, KNOWN, BY_ENERGY, only_light)
    assert {fetch.aliases for fetch in federated.pieces} <= {("sr",)}
