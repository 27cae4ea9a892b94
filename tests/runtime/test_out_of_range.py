"""A whole number beyond 64 bits ends the view that computes it, for as long as its row is there."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.log.entry import Change, Register, Tick, Transaction
from aspen.model.delta import delta_of
from aspen.model.schema import INT_LEAST, INT_MOST, Relation, SchemaError, columns_of
from aspen.runtime.lane import Lane
from aspen.runtime.retries import FIRST_S
from aspen.runtime.rows import RowCheck
from tests.runtime.work_driver import Driver, errors_of, text_of

PRODUCTS = "SELECT src, src * dst AS n FROM edge"
TOTALS = "SELECT src, SUM(dst) AS n FROM edge GROUP BY src"
CHEAPEST = """WITH RECURSIVE far(node, cost) AS (
    SELECT e.src, 0 FROM edge e WHERE e.src = 1
  UNION SELECT e.dst, MIN(f.cost + e.dst) FROM far f JOIN edge e ON e.src = f.node GROUP BY e.dst
) SELECT node, cost FROM far"""
CODE = "aspen.algebra.out_of_range"
BREAKS = {
    PRODUCTS: [(4_000_000_000, 4_000_000_000)],
    TOTALS: [(1, INT_MOST), (1, 5)],
    CHEAPEST: [(1, INT_MOST), (INT_MOST, INT_MOST - 1)],
}
COUNTED = "SELECT COUNT(*) AS n FROM edge"


def changed(weight: int, *rows: tuple[int, int], at_s: float = 1.0) -> Transaction:
    return Transaction(at_s, tuple(Change("edge", weight, row) for row in rows))


def error_of(driver: Driver, view: str = "v"):
    return driver.lane.views.by_name[view].error


@pytest.mark.parametrize("sql", BREAKS)
def test_it_ends_the_view_alone_which_comes_back_by_itself(sql):
    rows, driver = BREAKS[sql], Driver(3)
    driver.take(Tick(1.0), Register(1.0, "v", text_of(sql)), Register(1.0, "w", text_of(COUNTED)))
    before = driver.lane.rows("v")
    driver.take(changed(1, *rows))
    error = error_of(driver)
    assert error["code"] == CODE
    assert error["found"]
    assert "CAST(x AS FLOAT)" in error["try"]
    assert driver.lane.rows("w") == {(3 + len(rows),): 1}
    assert [code for _, code, *_ in errors_of(driver.lane)] == [CODE]
    driver.take(changed(-1, *rows), Tick(2.0 + FIRST_S))
    assert error_of(driver) is None
    assert driver.lane.rows("v") == before


def test_a_view_that_begins_with_it_is_in_error_and_outlives_a_restart():
    driver = Driver(3)
    driver.take(changed(1, (INT_MOST, 2)), Tick(1.0), Register(1.0, "v", text_of(PRODUCTS)))
    twin = Driver(0)
    twin.lane, twin.position = Lane.restore(driver.lane.snapshot()), driver.position
    assert error_of(twin) == error_of(driver)
    for one in (driver, twin):
        one.take(changed(-1, (INT_MOST, 2)), Tick(20.0))
        assert error_of(one) is None
    assert twin.lane.rows("v") == driver.lane.rows("v") == {(n, n * (n + 1)): 1 for n in range(3)}


def test_a_tenant_ends_alone():
    """Both are tenants of one template, and differ in a constant that one row is too large for."""
    driver = Driver(3)
    for view, src in (("small", 1), ("large", INT_MOST)):
        sql = f"SELECT src * dst AS n FROM edge WHERE src = {src}"
        driver.take(Register(1.0, view, text_of(sql), sharing="tenant"))
    driver.take(Tick(1.0), changed(1, (INT_MOST, 3)))
    assert error_of(driver, "large")["code"] == CODE
    assert error_of(driver, "small") is None
    assert driver.lane.rows("small") == {(2,): 1}
    driver.take(changed(-1, (INT_MOST, 3)), changed(1, (1, 8)), Tick(20.0))
    assert error_of(driver, "large") is None
    assert driver.lane.rows("small") == {(2,): 1, (8,): 1}


NUMBERS = st.integers(INT_LEAST, INT_MOST) | st.integers(-3, 3)


@given(st.lists(st.tuples(st.sampled_from((1, 1, -1)), NUMBERS, NUMBERS), max_size=8))
@settings(max_examples=60, deadline=None)
def test_oracle_a_view_is_in_error_while_such_a_row_is_there(changes):
    driver = Driver(0)
    driver.take(Tick(1.0), Register(1.0, "v", text_of(PRODUCTS)))
    held: dict[tuple[int, int], int] = {}
    now_s = 1.0
    for weight, src, dst in changes:
        row = (src, dst) if weight > 0 else next(iter(held), None)
        if row is None:
            continue
        held[row] = held.get(row, 0) + weight
        if not held[row]:
            del held[row]
        now_s += 1_000.0
        driver.take(changed(weight, row, at_s=now_s), Tick(now_s))
        fits = all(INT_LEAST <= a * b <= INT_MOST for a, b in held)
        assert (error_of(driver) is None) == fits
        expected = delta_of(((a, a * b), n) for (a, b), n in held.items())
        assert driver.lane.rows("v") == (expected if fits else {})


TABLE = Relation("t", columns_of("n INT, f FLOAT, maybe INT NULL"))


@pytest.mark.parametrize("wide", [INT_MOST + 1, INT_LEAST - 1, 10**400])
@pytest.mark.parametrize("at", [0, 2])
def test_a_row_with_more_is_refused_and_the_others_stay(wide, at):
    check, row = RowCheck(TABLE), [1, 2.0, 3]
    row[at] = wide
    for _ in range(2):  # rows that look alike were accepted before
        with pytest.raises(SchemaError, match="too large") as caught:
            check(tuple(row))
        assert caught.value.attempt
        assert check((INT_MOST, 2, None)) == (INT_MOST, 2.0, None)
        assert check((INT_LEAST, 2.0, 5)) == (INT_LEAST, 2.0, 5)
        assert check.plain([Change("t", 1, tuple(row))]) is None
        assert check.plain([Change("t", 1, (1, 1.0, None))]) == [(1, 1.0, None)]


def test_a_float_takes_wider_ones_up_to_its_own_largest():
    check = RowCheck(TABLE)
    assert check((1, 10**20, None)) == (1, 1e20, None)
    with pytest.raises(SchemaError, match="too large"):
        check((1, 10**400, None))


def test_a_lane_says_what_it_refused():
    driver = Driver(3)
    driver.take(Tick(1.0), Register(1.0, "v", text_of(COUNTED)))
    driver.take(changed(1, (INT_MOST + 1, 1), (7, 7)))
    assert driver.lane.rows("v") == {(4,): 1}
    ((_, code, message, _),) = errors_of(driver.lane)
    assert code == SchemaError.code
    assert "too large" in message
