"""Lane: what each kind of entry does, and that bad ones do nothing else."""

from __future__ import annotations

import pytest
from views import small_world as world
from views.lanes import Driver

from aspen.algebra.explain import plan_text
from aspen.errors import AspenError
from aspen.log.entry import Change, Declare, Register, Tick, Transaction, Unregister
from aspen.model.schema import Column, Relation, Type
from aspen.runtime.lane import Lane
from aspen.runtime.own_relations import ERRORS_KEPT
from aspen.runtime.snapshot import BadSnapshot
from aspen.streamsql import compile_query


def entry(view: str, text: str) -> Register:
    return Register(0.0, view, plan_text(compile_query(text, world.CATALOG).plan))


def test_a_registered_view_comes_with_columns_and_all_rows() -> None:
    driver = Driver()
    driver.insert("pair", [(1, 2), (3, 4)])
    (change,) = driver.take(
        Transaction(1.0, (Change("pair", 1, (5, 6)),)),
        entry("v", "SELECT p.v AS w FROM pair p"),
        Transaction(1.0, (Change("pair", -1, (1, 2)),)),
    )
    assert change.columns == (("w", "INT", ""),)
    assert change.delta == {(4,): 1, (6,): 1}


def test_entries_seen_before_change_nothing() -> None:
    driver = Driver("either")
    driver.insert("pair", [(1, 2)])
    position = driver.lane.position
    again = [(position, Transaction(1.0, (Change("pair", 1, (1, 2)),)))]
    assert driver.lane.apply(again) == []
    assert driver.lane.position == position
    (change,) = driver.lane.apply([*again, (position + 5, entry("x", "SELECT p.v FROM pair p"))])
    assert change.delta == {(2,): 1}
    assert driver.lane.position == position + 5


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (("nothing", 1, (1,)), "aspen.runtime.refused_change"),
        (("pair", -1, (1, 2)), "aspen.runtime.refused_change"),
        (("clock", 1, (9.0,)), "aspen.runtime.refused_change"),
        (("reading", -1, (1, 2, 3.0)), "aspen.runtime.refused_change"),
        (("pair", 1, (1, "two")), "aspen.model.schema"),
        (("pair", 1, (1,)), "aspen.model.schema"),
        (("pair", 1, (1, None)), "aspen.model.schema"),
        (("reading", 1, (1, True, 3.0)), "aspen.model.schema"),
    ],
)
def test_a_change_that_cannot_be_is_an_error_row_and_the_rest_goes_on(change, code) -> None:
    driver = Driver("either", "last")
    changes = {c.view: c for c in driver.change(change, ("pair", 1, (7, 8)))}
    assert changes["either"].delta == {(8,): 1}
    ((row, weight),) = changes["engine_error"].delta.items()
    assert weight == 1
    assert row[:2] == (driver.lane.position, code)
    assert driver.rows("last") == set()


def test_error_rows_can_be_queried_and_only_the_newest_stay() -> None:
    driver = Driver()
    text = "Scan engine_error as e (e.position INT, e.code TEXT, e.message TEXT, e.lane INT)"
    driver.take(Register(0.0, "refused", text))
    for _ in range(ERRORS_KEPT + 5):
        driver.change(("nothing", 1, (1,)))
    rows = driver.rows("refused")
    assert len(rows) == ERRORS_KEPT
    assert max(row[0] for row in rows) == driver.lane.position
    again = Lane.restore(driver.lane.snapshot())
    again.apply([(again.position + 1, Transaction(1.0, (Change("nothing", 1, (1,)),)))])
    assert len(again.rows("refused")) == ERRORS_KEPT


def test_whole_numbers_in_float_columns_are_spelt_as_floats() -> None:
    driver = Driver("last", "two")
    driver.change(("reading", 1, (1, 2, 3)))
    assert repr(driver.rows("two")) == "{(1, 2, 3.0)}"


def test_an_ended_view_is_closed_once_and_the_others_stay() -> None:
    driver = Driver("reach", "both", "either")
    driver.insert("pair", [(1, 2)])
    (change,) = driver.take(Unregister(0.0, "both"))
    assert change.closed
    assert driver.take(Unregister(0.0, "both")) == []
    # What read it goes on, also through a restart.
    driver.lane = Lane.restore(driver.lane.snapshot())
    driver.insert("pair", [(3, 4)])
    assert driver.rows("either") == {(2,), (4,)}
    with pytest.raises(KeyError):
        driver.lane.rows("both")


def test_a_view_ended_and_registered_in_one_batch_begins_anew() -> None:
    driver = Driver("both")
    driver.insert("pair", [(1, 2)])
    text = "SELECT p.v FROM pair p"
    closed, opened = driver.take(Unregister(0.0, "both"), entry("both", text))
    assert closed.closed
    assert opened.delta == {(2,): 1}
    assert opened.columns


def test_a_view_registered_anew_gives_the_difference_to_its_readers_too() -> None:
    driver = Driver("both", "either")
    driver.insert("pair", [(1, 2)])
    driver.insert("item", [(5, None, None, None)])
    changes = driver.take(entry("both", "SELECT k + 1 AS k FROM item"))
    assert {c.view: c.delta for c in changes} == {
        "both": {(2,): -1, (5,): -1, (6,): 1},
        "either": {(2,): -1, (5,): -1, (6,): 1},
    }


def test_a_view_registered_twice_the_same_changes_nothing() -> None:
    driver = Driver("both")
    driver.insert("pair", [(1, 2)])
    plan = plan_text(world.VIEWS["both"].plan)
    (change,) = driver.take(Register(9.0, "both", plan))
    assert change.delta == {}
    assert change.columns


def test_a_view_waits_for_what_it_reads() -> None:
    driver = Driver()
    driver.insert("pair", [(1, 2)])
    either, both = (plan_text(world.VIEWS[view].plan) for view in ("either", "both"))
    (change,) = driver.take(Register(0.0, "either", either))
    assert change.error is not None
    assert change.error["code"] == "aspen.views.unknown_source"
    driver.lane = Lane.restore(driver.lane.snapshot())
    changes = {c.view: c for c in driver.take(Register(0.0, "both", both))}
    assert changes["either"].error is None
    assert changes["either"].delta == {(2,): 1}


def test_views_that_read_each_other_in_a_circle_are_refused() -> None:
    driver = Driver("both", "either")
    text = "Scan either as e (e.k INT)"
    (change,) = [c for c in driver.take(Register(0.0, "both", text)) if c.view == "both"]
    assert change.error is not None
    assert change.error["code"] == "aspen.runtime.circular_view"


@pytest.mark.parametrize(
    ("view", "text", "strategy", "code"),
    [
        ("v", "no plan at all", "absorption-lazy", None),
        ("v", "Scan pair as p (p.k INT?, p.v INT)", "magic", "aspen.views.unknown_strategy"),
        ("pair", "Scan lit as l (l.node INT)", "absorption-lazy", "aspen.runtime.name_taken"),
    ],
)
def test_a_registration_that_cannot_be_is_an_error_of_that_view(view, text, strategy, code) -> None:
    driver = Driver("both")
    (change,) = driver.take(Register(0.0, view, text, strategy))
    assert change.view == view
    assert change.error is not None
    assert code is None or change.error["code"] == code
    driver.insert("pair", [(1, 2)])
    assert driver.rows("both") == {(2,)}
    # The error outlives a restart, and a better registration mends it.
    driver.lane = Lane.restore(driver.lane.snapshot())
    assert driver.lane.rows(view) == {}
    assert driver.take(Unregister(0.0, view))[0].closed


def test_a_relation_declared_anew_in_another_shape_begins_empty() -> None:
    driver = Driver("both", "reach")
    driver.insert("pair", [(1, 2)])
    other = Relation("pair", (Column("k", Type.TEXT),))
    (change,) = driver.take(Declare(0.0, other))
    assert change.view == "both"
    assert change.delta == {(2,): -1}
    assert change.error is not None
    (change,) = driver.take(Register(0.0, "new", "Scan pair as p (p.k TEXT)"))
    assert change.delta == {}
    driver.change(("pair", 1, ("x",)))
    assert driver.rows("new") == {("x",)}
    # The same declaration again changes nothing.
    assert driver.take(Declare(1.0, other)) == []
    assert driver.rows("new") == {("x",)}


def test_a_new_window_begins_with_what_came_before() -> None:
    driver = Driver()
    for number in range(4):
        driver.change(("reading", 1, (number % 2, number, 0.0)), at_s=float(number))
    driver.tick(3.0)
    driver.take(*(entry(view, world.QUERIES[view]) for view in ("last", "two", "three")))
    assert driver.rows("last") == {(0, 2), (1, 3)}
    assert driver.rows("two") == {(n % 2, n, 0.0) for n in range(4)}
    assert driver.rows("three") == {(1, 1), (0, 2), (1, 3)}


def test_time_does_not_run_backwards() -> None:
    driver = Driver("recent", "late")
    driver.tick(100.0)
    assert driver.tick(90.0) == []
    driver.change(("reading", 1, (1, 1, 95.0)), at_s=95.0)
    assert driver.rows("late") == {(1, 100.0)}


@pytest.mark.parametrize("data", [b"", b"no snapshot", b"x\x9c\x03\x00\x00\x00\x00\x01"])
def test_bytes_that_are_no_snapshot_are_refused(data) -> None:
    with pytest.raises(BadSnapshot):
        Lane.restore(data)


def test_what_an_operator_notes_is_told_with_the_epoch_it_noted_it_in():
    lane = Lane()
    lane.apply([(1, Tick(1.0))])
    lane.views.notices.append(AspenError("something is odd"))
    changes = {change.view: change for change in lane.apply([(2, Tick(2.0))])}
    assert any("something is odd" in row for row in changes["engine_error"].delta)
    assert lane.views.notices == []
    assert lane.apply([(3, Tick(3.0))]) == []
