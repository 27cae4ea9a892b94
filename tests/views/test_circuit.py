"""Circuit and compile: equal subplans are one node, and nothing is left of ended views."""

from __future__ import annotations

import pytest
from views import small_world as world
from views.lanes import Driver

from aspen.algebra.explain import plan_text
from aspen.log.entry import Register, Unregister
from aspen.streamsql import compile_query


def known(driver: Driver) -> set:
    return set(driver.lane.circuit._known)


def register(driver: Driver, view: str, text: str):
    return driver.take(Register(0.0, view, plan_text(compile_query(text, world.CATALOG).plan)))


def test_the_same_question_by_other_names_costs_nothing() -> None:
    driver = Driver("joined", "recent", "way")
    before = known(driver)
    register(
        driver, "again", world.QUERIES["joined"].replace("i.", "t.").replace("item i", "item t")
    )
    register(
        driver,
        "warm",
        "SELECT q.sid, q.v FROM reading q [PARTITION BY sid ROWS 1 RANGE 10 SECONDS]",
    )
    assert known(driver) == before
    by_name = driver.lane.views.by_name
    assert by_name["again"].node is by_name["joined"].node
    assert by_name["warm"].node is by_name["recent"].node


def test_one_and_true_are_different_constants() -> None:
    driver = Driver()
    register(driver, "number", "SELECT p.v, 1 AS x FROM pair p")
    register(driver, "fraction", "SELECT p.v, 1.0 AS x FROM pair p")
    driver.insert("pair", [(1, 2)])
    assert repr(driver.rows("number")) == "{(2, 1)}"
    assert repr(driver.rows("fraction")) == "{(2, 1.0)}"


def test_windows_of_equal_shape_are_kept_once() -> None:
    driver = Driver("last", "recent", "two", "three", "minute", "late")
    assert len(list(driver.lane.circuit.windows())) == 5


@pytest.mark.parametrize("order", [1, -1])
def test_nothing_is_left_of_ended_views(order) -> None:
    driver = Driver(*world.VIEWS)
    driver.insert("link", [(0, 1, 1), (1, 0, 1)])
    for view in list(world.VIEWS)[::order]:
        driver.take(Unregister(0.0, view))
    assert known(driver) == set()
    assert list(driver.lane.circuit.windows()) == []
    for source in driver.lane.circuit.sources.values():
        assert source.arrangements == {}
        assert source.consumers == []
        assert source.users == 1


def test_a_failed_registration_leaves_nothing() -> None:
    driver = Driver("way")
    before = known(driver)
    plan = plan_text(compile_query("SELECT l.src FROM link l", world.CATALOG).plan)
    broken = plan.replace("Scan link", "Scan nothing")
    (change,) = driver.take(Register(0.0, "bad", broken))
    assert change.error is not None
    assert change.error["code"] == "aspen.views.unknown_source"
    assert "link" in change.error["exists"]
    assert known(driver) == before


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Scan reading as r (r.sid INT, r.v INT, r.at_s FLOAT) stream", "cannot_maintain"),
        ("Scan link as l (l.src INT, l.dst INT)", "cannot_maintain"),
    ],
)
def test_plans_no_circuit_can_keep_are_refused(text, code) -> None:
    driver = Driver()
    (change,) = driver.take(Register(0.0, "bad", text))
    assert change.error is not None
    assert change.error["code"] == f"aspen.views.{code}"
    assert change.error["try"]
