"""Units: what may meet, what products are called, how values convert."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aspen.units import (
    UNITS,
    IncompatibleUnits,
    UnknownUnit,
    common,
    convert,
    product,
    quotient,
)

unit = st.sampled_from(["", *UNITS])


@pytest.mark.parametrize(
    ("value", "source", "target", "wanted"),
    [
        (68.0, "°F", "°C", 20.0),
        (293.15, "K", "°C", 20.0),
        (20.0, "°C", "K", 293.15),
        (500.0, "g", "kg", 0.5),
        (2.0, "min", "s", 120.0),
        (1.5, "m", "mm", 1500.0),
        (7.0, "lx", "lx", 7.0),
    ],
)
def test_values_convert(value, source, target, wanted):
    assert convert(value, source, target) == pytest.approx(wanted)


def test_what_cannot_be_converted_says_what_could():
    with pytest.raises(IncompatibleUnits) as caught:
        convert(1.0, "kg", "°C")
    assert "K" in caught.value.exists
    with pytest.raises(UnknownUnit):
        convert(1.0, "stone", "kg")


@given(st.sampled_from(list(UNITS)), st.sampled_from(list(UNITS)), st.floats(-1e3, 1e3))
def test_there_and_back(source, target, value):
    if UNITS[source].quantity == UNITS[target].quantity:
        assert convert(convert(value, source, target), target, source) == pytest.approx(value)


@given(unit, unit)
def test_products_commute_and_quotients_undo_them(one, other):
    assert product(one, other) == product(other, one)
    assert quotient(product(one, other), other) == one


@given(unit, unit, unit)
def test_products_associate(a, b, c):
    assert product(product(a, b), c) == product(a, product(b, c))


def test_the_silent_unit_meets_every_other():
    assert common("", "kg") == "kg"
    assert common("kg", "kg") == "kg"
    assert common("kg", "°C") is None
    assert common("m/s", "m/s") == "m/s"


def test_spelling():
    assert quotient("m", "s") == "m/s"
    assert quotient("", "s") == "1/s"
    assert product("1/s", "s") == ""
    assert product("kg", "m") == "kg·m"
