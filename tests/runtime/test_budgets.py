"""Budgets of rows, bytes and owners: who exceeds them ends alone; estimates refuse the rest."""

from __future__ import annotations

import pytest

from aspen.log.entry import (
    OneTimeKind,
    OneTimeQuery,
    Register,
    Tick,
    Unregister,
)
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query
from aspen.views.foresee import Hopeless, refuse_hopeless
from aspen.views.work import (
    RowsExceeded,
    ShareExceeded,
    StateExceeded,
    WorkExceeded,
)
from tests.oracle import evaluate
from tests.runtime.work_driver import (
    CATALOG,
    CROSS,
    MODEST,
    REACH,
    Driver,
    edges,
    errors_of,
    text_of,
)


def test_estimates_refuse_the_hopeless_before_it_begins():
    driver = Driver(700)
    began = driver.lane.circuit.meter.spent
    three = text_of("SELECT COUNT(*) AS n FROM edge a, edge b, edge c")
    (change,) = driver.take(Register(1.0, "v", three, most_steps=100_000))
    assert change.error["code"] == Hopeless.code
    assert "343" in change.error["message"] or "343" in change.error["found"]
    assert "equal columns" in change.error["try"]
    (answer,) = driver.take(
        OneTimeQuery(1.0, "q", "", (), OneTimeKind.ONCE, plan_text=three, most_steps=100_000)
    )
    assert answer.error["code"] == Hopeless.code
    assert driver.lane.circuit.meter.spent == began
    assert {row[1] for row in errors_of(driver.lane)} == {Hopeless.code}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM edge a, edge b, edge c WHERE a.src = 1 AND b.src = 2",
        "SELECT a.src FROM edge a JOIN edge b ON a.dst = b.src JOIN edge c ON b.dst = c.src",
        "SELECT COUNT(*) AS n FROM edge a, (SELECT src FROM edge ORDER BY src LIMIT 1) b",
        "SELECT COUNT(*) AS n FROM (SELECT COUNT(*) AS k FROM edge) a, edge b",
        REACH,
    ],
)
def test_what_is_cheap_is_never_refused_as_hopeless(sql):
    driver = Driver(500)
    (change,) = driver.take(Register(1.0, "v", text_of(sql), most_steps=1_300_000))
    assert change.error is None
    hidden = driver.lane.circuit.sources["edge"].table
    refuse_hopeless(compile_query(sql, CATALOG).plan, driver.lane.views.known, len(hidden))


GROWING = """WITH RECURSIVE r(n) AS (
    SELECT src FROM edge WHERE src = 0 UNION SELECT n + 1 FROM r WHERE n < 100000000
) SELECT n FROM r"""


def test_a_growing_recursion_ends():
    driver = Driver(3)
    driver.take(Register(1.0, "modest", text_of(MODEST), most_steps=5_000))
    (change,) = driver.take(Register(1.0, "grows", text_of(GROWING), most_steps=100_000))
    assert change.error["code"] == WorkExceeded.code
    assert change.error["found"] == "a recursion"
    ((_, _, told, _),) = errors_of(driver.lane)
    assert told.startswith("view grows: a recursion takes more than the 100,000 steps")
    assert "; try: " in told
    assert len(driver.take(edges(range(5, 6)))) == 1


def test_a_view_that_gets_too_many_rows_ends_and_who_shares_its_operators_does_not():
    driver = Driver(10)
    pairs = "SELECT a.src, b.dst FROM edge a JOIN edge b ON a.dst = b.src"
    driver.take(Register(1.0, "few", text_of(pairs), most_steps=5_000, most_rows=50))
    driver.take(Register(1.0, "many", text_of(pairs), most_steps=5_000, most_rows=5_000))
    assert {change.error for change in driver.take(edges(range(10, 50)))} == {None}
    changes = {change.view: change for change in driver.take(edges(range(50, 60)))}
    assert changes["few"].error["code"] == RowsExceeded.code
    assert sum(changes["few"].delta.values()) == -49, "its rows go with it"
    assert changes["many"].error is None
    assert len(driver.lane.rows("many")) == 59
    (late,) = driver.take(Register(1.0, "late", text_of(pairs), most_steps=5_000, most_rows=50))
    assert late.error["code"] == RowsExceeded.code
    assert driver.lane.rows("late") == {}


def test_a_view_whose_operators_hold_too_much_ends_alone():
    driver = Driver(10)
    groups = "SELECT src, dst, COUNT(*) AS n FROM edge GROUP BY src, dst"
    driver.take(Register(1.0, "modest", text_of(MODEST), most_steps=5_000))
    driver.take(Register(1.0, "holds", text_of(groups), most_steps=5_000, most_bytes=1 << 20))
    for start in range(10, 2_510, 500):
        assert {change.error for change in driver.take(edges(range(start, start + 500)))} == {None}
    ended = {}
    for start in range(3_000, 7_000, 500):
        for change in driver.take(edges(range(start, start + 500))):
            if change.error is not None:
                ended[change.view] = change.error
    assert [*ended] == ["holds"]
    assert ended["holds"]["code"] == StateExceeded.code
    assert ended["holds"]["found"] == "GROUP BY"
    assert "1 MiB" in ended["holds"]["message"]
    (late,) = driver.take(
        Register(1.0, "late", text_of(groups), most_steps=5_000, most_bytes=1 << 20)
    )
    assert late.error["code"] == StateExceeded.code


def test_one_owners_queries_have_a_share_and_others_go_on():
    driver = Driver(100)
    bounds = {"most_steps": 100_000, "owner": "ann"}
    for number in range(30):
        sql = f"SELECT a.src FROM edge a, edge b WHERE a.src + {number} = b.src * 2"
        driver.take(Register(1.0, f"heavy{number}", text_of(sql), sharing="own", **bounds))
    driver.take(Register(1.0, "light", text_of(MODEST), **bounds))
    driver.take(Register(1.0, "bobs", text_of(CROSS), most_steps=100_000, owner="bob"))
    began = driver.lane.circuit.meter.spent
    changes = {change.view: change.error for change in driver.take(edges(range(100, 200)))}
    ended = {view for view, error in changes.items() if error is not None}
    assert 10 < len(ended) < 30
    assert {changes[view]["code"] for view in ended} == {ShareExceeded.code}
    assert changes["bobs"] is None
    assert changes["light"] is None
    assert driver.lane.circuit.meter.spent == began
    alive = [view for view in changes if view.startswith("heavy") and view not in ended]
    assert alive, "those within the share go on"


def test_first_evaluations_of_one_owner_have_a_share_that_a_lane_built_again_knows():
    driver = Driver(200)

    def begin(view, owner, at_s=1.0):
        sql = f"SELECT COUNT(*) AS n{view} FROM edge a, edge b"
        entry = Register(at_s, view, text_of(sql), sharing="own", most_steps=60_000, owner=owner)
        (change,) = driver.take(entry)
        driver.take(Unregister(at_s, view))
        return change.error

    driver.take(Tick(1.0))
    assert [begin(f"v{n}", "ann") for n in range(4)] == [None] * 4, "40,000 steps each"
    refused = begin("v4", "ann")
    assert refused["code"] == ShareExceeded.code
    assert "180,000 steps" in refused["message"]
    assert "again in 7 s" in refused["try"]
    snapshot = driver.lane.snapshot()
    assert begin("v5", "bob") is None
    modest = Register(1.0, "modest", text_of(MODEST), most_steps=60_000, owner="ann")
    assert driver.take(modest)[0].error is None, "what is cheap always begins"
    driver.lane = Lane.restore(snapshot)
    assert begin("v6", "ann")["code"] == ShareExceeded.code
    driver.take(Tick(31.0))
    assert begin("v7", "ann", 31.0) is None


def test_a_share_fills_up_with_the_logs_time():
    driver = Driver(100)
    sql = "SELECT COUNT(*) AS n FROM edge a, edge b"
    driver.take(Register(1.0, "v", text_of(sql), most_steps=100_000, owner="ann"))
    account = driver.lane.circuit.accounts["ann"]
    full = account.left(1.0)
    driver.take(edges(range(100, 200)))
    assert account.left(1.0) < full
    assert account.left(31.0) == full


def test_a_template_that_asks_too_much_is_taken_apart():
    sql = "SELECT a.src, b.dst FROM edge a, edge b WHERE a.src >= {} AND a.src < {} AND b.src > 5"
    driver = Driver(60)
    bounds = {"sharing": "tenant", "most_steps": 30_000}
    for number in range(3):
        text = text_of(sql.format(number, number + 1))
        (change,) = driver.take(Register(1.0, f"light{number}", text, owner="bob", **bounds))
        assert change.error is None
    (change,) = driver.take(
        Register(1.0, "greedy", text_of(sql.format(0, 10_000)), owner="ann", **bounds)
    )
    assert change.error is None
    assert len(driver.lane.views.templates) == 1
    changes = {change.view: change for change in driver.take(edges(range(100, 400)))}
    assert changes["greedy"].error["code"] == WorkExceeded.code
    assert {changes[f"light{n}"].error for n in range(3)} == {None}
    plan = compile_query(sql.format(1, 2), CATALOG).plan
    tables = {"edge": dict(driver.lane.circuit.sources["edge"].table)}
    assert driver.lane.rows("light1") == evaluate(plan, tables)
    moved = driver.take(edges(range(500, 501)))
    assert {change.view for change in moved} == {"light0", "light1", "light2"}


def test_who_enters_a_template_with_too_much_ends_alone():
    sql = "SELECT a.src, b.dst FROM edge a, edge b WHERE a.src >= {} AND a.src < {} AND b.src > 5"
    driver = Driver(300)
    bounds = {"sharing": "tenant", "most_steps": 5_000}
    for number in range(3):
        text = text_of(sql.format(number, number + 1))
        driver.take(Register(1.0, f"light{number}", text, owner="bob", **bounds))
    before = {n: driver.lane.rows(f"light{n}") for n in range(3)}
    greedy = Register(1.0, "greedy", text_of(sql.format(0, 10_000)), owner="ann", **bounds)
    changes = {change.view: change for change in driver.take(greedy)}
    assert changes.pop("greedy").error["code"] == WorkExceeded.code
    assert {(change.error, len(change.delta)) for change in changes.values()} <= {(None, 0)}
    assert {n: driver.lane.rows(f"light{n}") for n in range(3)} == before
    moved = driver.take(edges(range(500, 501)))
    assert {change.view for change in moved} == {"light0", "light1", "light2"}


def test_a_lane_that_is_restored_goes_on_with_what_grew_within_its_bounds():
    driver = Driver(0)
    driver.take(Register(1.0, "v", text_of(CROSS), most_steps=5_000))
    for number in range(100):
        (change,) = driver.take(edges(range(number, number + 1)))
        assert change.error is None
    assert 100 * 100 > 5_000
    again = Lane.restore(driver.lane.snapshot())
    assert again.rows("v") == driver.lane.rows("v")
