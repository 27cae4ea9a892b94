"""Units: what may meet, what products are called, how they are spelled."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aspen.units import common, product, quotient

unit = st.sampled_from(["", "kg", "g", "°C", "lx", "%", "s", "ms", "m", "km", "W", "Hz", "B"])


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
