"""A view in error is built again when the rows that broke it are gone."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Register, Tick, Transaction, Unregister
from aspen.model.schema import Relation, SourceKind, columns_of
from aspen.runtime.lane import Lane
from aspen.runtime.retries import FIRST_S, MOST_S
from aspen.runtime.view import BrokenView
from aspen.streamsql import compile_query
from tests.oracle import evaluate
from tests.runtime.work_driver import CATALOG, Driver, edges, text_of

SUMS = """WITH RECURSIVE r(node, far) AS (
    SELECT dst, 1 FROM edge WHERE src = 0
  UNION SELECT e.dst, r.far + 1 FROM r JOIN edge e ON e.src = r.node
) SELECT node, far FROM r"""
SOME_ROWS = "SELECT src FROM edge"


def changed(weight: int, *rows: tuple[int, int], at_s: float = 1.0) -> Transaction:
    return Transaction(at_s, tuple(Change("edge", weight, row) for row in rows))


def oracle(driver: Driver, sql: str):
    return evaluate(
        compile_query(sql, CATALOG).plan, {"edge": driver.lane.circuit.sources["edge"].table}
    )


def error_of(driver: Driver, view: str = "v"):
    return driver.lane.views.by_name[view].error


def broken() -> Driver:
    """Returns a lane with a walk that does not end, because an edge leads back."""
    driver = Driver(5)
    driver.take(Tick(1.0), Register(1.0, "v", text_of(SUMS), most_steps=100_000))
    assert error_of(driver) is None
    driver.take(changed(1, (5, 1)))
    assert error_of(driver)["code"] == "aspen.views.endless_recursion"
    driver.take(Tick(2.0))
    return driver


def test_it_runs_when_the_row_goes_and_tells_all_its_rows():
    driver = broken()
    assert driver.take(Tick(2.0 + FIRST_S)) == [], "nothing has changed"
    driver.take(changed(-1, (5, 1)))
    (change,) = driver.take(Tick(13.0))
    assert (change.error, change.delta) == (None, oracle(driver, SUMS))
    driver.take(changed(1, (5, 6)))
    assert driver.lane.rows("v") == oracle(driver, SUMS), "it is maintained again"


def test_it_waits_longer_each_time_and_says_nothing_meanwhile(monkeypatch):
    driver, now_s, tried = broken(), 2.0, []
    open_view = driver.lane.views.open

    def opened(*given, **named):
        tried.append(now_s)
        return open_view(*given, **named)

    monkeypatch.setattr(driver.lane.views, "open", opened)
    while len(tried) < 9:
        now_s += 1.0
        assert driver.take(changed(1, (100, 101)), Tick(now_s)) == []
        driver.take(changed(-1, (100, 101)))
    waits = [after - before for before, after in pairwise([1.0, *tried])]
    assert waits == [10.0, 20.0, 40.0, 80.0, 160.0, 320.0, MOST_S, MOST_S, MOST_S]


def test_a_restart_does_not_show():
    driver = broken()
    driver.take(changed(-1, (5, 1)))
    twin = Driver(0)
    twin.lane, twin.position = Lane.restore(driver.lane.snapshot()), driver.position
    for now_s in (11.0, 12.0, 13.0):
        assert twin.take(Tick(now_s)) == driver.take(Tick(now_s))
        assert error_of(twin) == error_of(driver)
    assert error_of(twin) is None


def test_what_reads_it_and_waited_runs_too():
    driver = broken()
    catalog = CATALOG.with_relation(
        Relation("v", columns_of("node INT, far INT"), kind=SourceKind.VIEW)
    )
    over = plan_text(compile_query("SELECT node FROM v", catalog).plan)
    (change,) = driver.take(Register(2.0, "w", over))
    assert change.error["code"] == BrokenView.code
    driver.take(changed(-1, (5, 1)), Tick(13.0))
    assert error_of(driver, "w") is None
    assert set(driver.lane.rows("w")) == {(node,) for node, _ in driver.lane.rows("v")}


def test_too_many_rows_are_few_again():
    driver = Driver(10)
    driver.take(Tick(1.0), Register(1.0, "v", text_of(SOME_ROWS), most_steps=5_000, most_rows=20))
    driver.take(edges(range(10, 30)), Tick(2.0))
    assert error_of(driver)["code"] == "aspen.views.rows_exceeded"
    driver.take(edges(range(10, 30), -1))
    (change,) = driver.take(Tick(12.0))
    assert change.delta == oracle(driver, SOME_ROWS)


def test_a_view_that_is_gone_is_not_built():
    driver = broken()
    driver.take(Unregister(2.0, "v"), changed(-1, (5, 1)))
    assert driver.take(Tick(60.0)) == []
    assert "v" not in driver.lane.views.by_name


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_whatever_happened_it_ends_with_the_rows_of_the_oracle(rows):
    driver = Driver(5)
    driver.take(Tick(1.0), Register(1.0, "v", text_of(SUMS), most_steps=20_000))
    now_s = 1.0
    added = set()
    for row in rows:
        if row[1] == row[0] + 1:
            continue
        weight = -1 if row in added else 1
        (added.discard if weight < 0 else added.add)(row)
        now_s += 7.0
        driver.take(changed(weight, row), Tick(now_s))
        if error_of(driver) is None:
            assert driver.lane.rows("v") == oracle(driver, SUMS)
    driver.take(changed(-1, *added), Tick(now_s + 1), Tick(now_s + MOST_S + 1))
    assert error_of(driver) is None
    assert driver.lane.rows("v") == oracle(driver, SUMS)
