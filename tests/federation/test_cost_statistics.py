"""What is known of values: measured before counted before guessed, and always a share."""

from __future__ import annotations

import pytest
from federation_support.building import CATALOG
from federation_support.histograms import histogram_of
from hypothesis import given
from hypothesis import strategies as st

from aspen.algebra.expr import Col, Const, Not, Op
from federation.choices import counted
from federation.histogram import BadHistogram, Histogram
from federation.statistics import KnownFigure, Origin, Statistics

values = st.lists(st.floats(-100, 100), min_size=1, max_size=60)
bounds = st.floats(-150, 150)
LIGHT = Op("<", Col("l.lux"), Const(100.0))
NAMES = {"l": "light_reading"}


@given(values, bounds, bounds)
def test_a_histogram_keeps_its_laws(found, one, other):
    histogram = histogram_of(found)
    low, high = sorted((one, other))
    assert 0.0 <= histogram.below(low) <= histogram.below(high) + 1e-12 <= 1.0 + 1e-9
    assert histogram.share("<", one) + histogram.share(">=", one) == pytest.approx(1.0)
    assert histogram.share("=", one) + histogram.share("<>", one) == pytest.approx(1.0)
    assert histogram.total == len(found)


@given(values, bounds)
def test_a_histogram_errs_by_its_bucket_at_most(found, bound):
    histogram = histogram_of(found, 8)
    true = sum(value < bound for value in found) / len(found)
    assert abs(histogram.below(bound) - true) <= max(histogram.counts) / histogram.total + 1e-9


@pytest.mark.parametrize(
    ("edges", "counts"), [((0.0,), ()), ((0.0, 0.0), (1.0,)), ((1.0, 2.0), (-1.0,))]
)
def test_what_is_no_histogram_is_refused(edges, counts):
    with pytest.raises((BadHistogram, ValueError)):
        Histogram(edges, counts)


def test_what_was_measured_goes_before_what_was_counted_before_guesses():
    histogram = {"light_reading.lux": Histogram((0.0, 200.0), (10.0,))}
    text = {"light_reading.lux < 100.0": 0.9}
    assert Statistics().kept(LIGHT, NAMES) == KnownFigure(1 / 3, Origin.GUESSED)
    counted = Statistics(histograms=histogram).kept(LIGHT, NAMES)
    assert counted == KnownFigure(0.5, Origin.HISTOGRAM)
    measured = Statistics(shares=text, histograms=histogram).kept(LIGHT, NAMES)
    assert measured == KnownFigure(0.9, Origin.MEASURED)
    assert str(measured) == "0.9 (measured)"


def test_a_share_known_by_the_querys_own_alias_counts_as_well():
    assert Statistics(shares={"l.lux < 100.0": 0.2}).kept(LIGHT, NAMES).value == 0.2


def test_a_product_is_as_trusted_as_its_worst_factor():
    known = Statistics(shares={"light_reading.lux < 100.0": 0.5})
    other = Op("=", Col("l.rid"), Const("R1"))
    found = known.kept(Op("AND", LIGHT, other), NAMES)
    assert found.value == pytest.approx(0.5 * Statistics().kept(other).value)
    assert found.origin is Origin.GUESSED
    assert known.kept(Not(LIGHT), NAMES) == KnownFigure(0.5, Origin.MEASURED)


def test_turned_comparisons_and_distinct_values_are_understood():
    histograms = {"light_reading.lux": Histogram((0.0, 200.0), (10.0,))}
    known = Statistics(histograms=histograms, distinct={"light_reading.rid": 8.0})
    assert known.kept(Op(">", Const(50.0), Col("l.lux")), NAMES).value == pytest.approx(0.25)
    assert known.kept(Op("=", Col("l.rid"), Const("R1")), NAMES).value == pytest.approx(1 / 8)
    assert known.kept(Op("<>", Const("R1"), Col("l.rid")), NAMES).value == pytest.approx(7 / 8)


numbers = st.floats(-10, 210)
predicates = st.recursive(
    st.builds(
        Op,
        st.sampled_from(["<", "<=", ">", ">=", "=", "<>"]),
        st.sampled_from([Col("l.lux"), Col("l.rid")]),
        st.builds(Const, numbers),
    ),
    lambda inner: st.one_of(
        st.builds(Op, st.sampled_from(["AND", "OR"]), inner, inner), st.builds(Not, inner)
    ),
    max_leaves=8,
)


@given(predicates)
def test_every_share_is_one(predicate):
    histograms = {"light_reading.lux": Histogram((0.0, 50.0, 200.0), (3.0, 10.0), 7.0)}
    found = Statistics(histograms=histograms).kept(predicate, NAMES)
    assert -1e-9 <= found.value <= 1.0 + 1e-9


def test_devices_nobody_counted_are_counted_by_their_rate_and_empty_tables_are_empty():
    known = Statistics(
        {"light_reading": 2.0},
        counts={"seat_reading": 54.0, "light_reading": 0.0, "machine": 0.0},
    )
    counts = counted(known, CATALOG, []).counts
    assert (counts["seat_reading"], counts["machine"]) == (54.0, 0.0)
    assert counts["light_reading"] > counts["temperature_reading"] >= 1.0
