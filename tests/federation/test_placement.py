"""Placing: equivalent, deterministic, and never dearer than any other sound way."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from itertools import product

import pytest
from algebra.plans import STREAM, TABLES, data, plans
from federation_support.explaining import explain, optimize_text
from golden.catalog import CATALOG
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from aspen.algebra.plan import Filter, Ship, Window, relations_of
from aspen.algebra.rewrite import rewrite
from aspen.model.catalog import Catalog
from aspen.model.schema import Relation, SourceKind
from aspen.streamsql import compile_query
from federation.choices import counted, device_scans, sound_chain
from federation.cost import Cost, Weights, in_network, row_bytes
from federation.deploy import deploy
from federation.placement import assign_sites, sites, strip_ships
from federation.sites import SensorSite
from federation.split import split
from federation.statistics import Statistics

RANDOM = Catalog.of(
    [
        Relation("s", STREAM, SourceKind.STREAM, device="seat", rate_hz=4.0),
        *(Relation(name, columns) for name, columns in TABLES.items()),
    ]
)
weights = st.builds(Weights, *[st.sampled_from([0.0, 0.001, 1.0]) for _ in range(3)])


def streaming(plan):
    assume("s" in relations_of(plan))
    return rewrite(plan)


def planned(query):
    return compile_query(query, CATALOG).plan


law = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


@law
@given(plans(2), data())
def test_oracle_a_federated_plan_has_the_rows_of_the_logical_one(plan, rows):
    plan = streaming(plan)
    federated = assign_sites(plan, RANDOM)
    assert federated.plan.columns == plan.columns
    assert rows.evaluate(strip_ships(federated.plan)) == rows.evaluate(plan)
    assert rows.evaluate(split(federated).engine.plan) == rows.evaluate(plan)


@law
@given(plans(2), weights)
def test_placing_is_deterministic(plan, weighing):
    plan = streaming(plan)
    assert assign_sites(plan, RANDOM, weights=weighing) == assign_sites(
        plan, RANDOM, weights=weighing
    )


@law
@given(plans(2), weights, st.floats(0.01, 100))
def test_oracle_no_combination_of_sound_cuts_costs_less(plan, weighing, rate_hz):
    plan = streaming(plan)
    known = counted(Statistics({"s": rate_hz}), RANDOM, ["s"])
    federated = assign_sites(plan, RANDOM, known, weighing)
    ways = []
    for path, scan in device_scans(plan, RANDOM):
        chain, _ = sound_chain(plan, path, SensorSite())
        ways.append([in_network(one.node, scan.relation, known) for one in chain])
    every = [reduce(Cost.beside, way, Cost()) for way in product(*ways)]
    least = min(weighing.total(cost) for cost in every)
    assert weighing.total(federated.cost) == pytest.approx(least)


@law
@given(plans(2))
def test_below_every_border_stand_selections_over_a_device_stream_alone(plan):
    plan = streaming(plan)
    for _, node, site in sites(assign_sites(plan, RANDOM).plan):
        if site == "sensors":
            assert type(node).__name__ in ("Scan", "Filter")
        if isinstance(node, Ship):
            assert (node.source, node.target) == ("sensors", "engine")


def test_a_filter_over_a_rows_window_never_reaches_the_motes():
    plan = planned(
        "SELECT s.mid FROM seat_reading [PARTITION BY mid ROWS 1] s WHERE s.weight_kg >= 5.0"
    )
    (fragment,) = split(assign_sites(plan, CATALOG, sensors=SensorSite(runs=False))).sensors
    assert fragment.predicate is None


def test_a_filter_over_a_range_window_does():
    plan = planned("SELECT s.mid FROM seat_reading [RANGE 9 SECONDS] s WHERE s.weight_kg >= 5.0")
    federated = assign_sites(plan, CATALOG)
    (fragment,) = split(federated).sensors
    assert isinstance(fragment.plan, Filter)
    (window,) = [node for _, node, _ in sites(federated.plan) if isinstance(node, Window)]
    assert isinstance(window.child, Ship)


def test_where_computing_costs_more_than_sending_the_motes_only_send():
    plan = planned("SELECT s.mid FROM seat_reading [RANGE 9 SECONDS] s WHERE s.weight_kg >= 5.0")
    (choice,) = assign_sites(plan, CATALOG).choices
    assert choice.chosen.cut == 2
    text = "s.weight_kg >= 5.0"
    keeps_all = Statistics({"seat_reading": 20.0}, {text: 1.0})
    (choice,) = assign_sites(plan, CATALOG, keeps_all).choices
    assert choice.chosen.cut == 1
    assert "lost" in optimize_text(assign_sites(plan, CATALOG, keeps_all), CATALOG)


def test_motes_that_may_drop_columns_send_less():
    plan = planned("SELECT s.mid FROM seat_reading s [RANGE 9 SECONDS]")
    window = plan.child
    pruned = compile_query("SELECT mid FROM machine", CATALOG).plan
    narrow = replace(window, child=replace(pruned, child=window.child, outputs=plan.outputs))
    assert len(assign_sites(narrow, CATALOG).choices[0].alternatives) == 1
    free = SensorSite(drops_columns=True)
    chosen = assign_sites(narrow, CATALOG, sensors=free).choices[0].chosen
    assert chosen.cut == 2
    assert row_bytes(chosen.motes.columns) < row_bytes(window.columns)


def test_costs_of_unlike_things_are_kept_apart():
    both = Cost(10.0, 1.0, 5.0).beside(Cost(1.0, 2.0, 7.0))
    assert both == Cost(11.0, 3.0, 7.0)
    assert Weights(0.0, 1.0, 0.0).total(both) == 3.0


@given(st.data())
def test_shares_are_shares(draw):
    from_plans = draw.draw(plans(1))
    if isinstance(from_plans, Filter):
        assert 0 <= Statistics().kept(from_plans.predicate).value <= 1


@law
@given(
    st.lists(
        st.sampled_from(
            [
                "SELECT mid FROM seat_reading [RANGE 9 SECONDS] WHERE weight_kg > 5.0",
                "SELECT s.mid FROM seat_reading s [RANGE 4 SECONDS] WHERE s.weight_kg > 50.0",
                "SELECT s.mid FROM seat_reading s [RANGE 4 SECONDS] WHERE s.mid = 'm1'",
                "SELECT s.mid FROM seat_reading s [ROWS 1]",
                "SELECT l.rid FROM light_reading l [RANGE 4 SECONDS] WHERE l.lux < 50.0",
            ]
        ),
        max_size=4,
    )
)
def test_a_stream_sends_what_every_reader_wants(queries):
    fragments = [split(assign_sites(planned(query), CATALOG)) for query in queries]
    order = deploy(fragments, CATALOG)["seat_reading"]
    readers = [f for one in fragments for f in one.sensors if f.stream == "seat_reading"]
    assert order.needed == bool(readers)
    assert order.readers == len(readers)
    wants_all = any(reader.predicate is None for reader in readers)
    assert (order.predicate is None) == (wants_all or not readers)
    assert (" all, " in order.text) == wants_all


def test_explain_names_the_six_borders():
    text = explain("SELECT s.mid FROM seat_reading s [RANGE 9 SECONDS] WHERE s.mid = 'a'", CATALOG)
    heads = [line.strip("─ ") for line in text.splitlines() if line.startswith("──")]
    assert heads == ["1 parse", "2 bind", "3 build", "4 rewrite", "5 optimize", "6 split, deploy"]
    assert "@sensors" in text
    assert "mJ/s" in text
