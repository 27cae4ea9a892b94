"""System relations: what a lane says of itself, that it is a function of the log, and quiescent."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from views import small_world as world
from views.lanes import Driver

from aspen.algebra.explain import plan_text
from aspen.errors import AspenError
from aspen.log.entry import (
    Change,
    Interest,
    OneTimeKind,
    OneTimeQuery,
    Register,
    Tick,
    Transaction,
    Unregister,
)
from aspen.model.catalog import Catalog
from aspen.model.delta import Delta, merge
from aspen.runtime.assignment import LaneShare
from aspen.runtime.lane import Lane
from aspen.runtime.one_time_queries import ROWS_AT_MOST
from aspen.runtime.own_relations import SYSTEM_RELATIONS
from aspen.streamsql import compile_query
from aspen.streamsql.errors import Unsupported

CATALOG = Catalog.of((*world.CATALOG, *SYSTEM_RELATIONS, *(v.relation for v in world.compiled())))
WATCHERS = {
    "w_queries": "SELECT q.view, q.state, q.rows, q.sharing, q.holders, q.error FROM sys.queries q",
    "w_operators": "SELECT * FROM sys.operators",
    "w_busy": """SELECT o.kind, SUM(o.changes_out) AS changes, SUM(o.rows) AS rows
        FROM sys.operators o GROUP BY o.kind""",
    "w_indexes": "SELECT a.view, a.reads, a.places, a.rows, a.readers FROM sys.arrangements a",
    "w_costs": """SELECT c.view, c.estimated_rows, c.rows, q.strategy
        FROM sys.costs c JOIN sys.queries q ON q.view = c.view WHERE c.q_error >= 1.0""",
    "w_none": "SELECT COUNT(*) AS n FROM sys_queries WHERE rows = 0",
}


def text(sql: str) -> str:
    return plan_text(compile_query(sql, CATALOG).plan)


def entry(view: str, sql: str, *, on_demand: bool = False) -> Register:
    return Register(0.0, view, text(sql), "auto", "auto", on_demand)


def watching(driver: Driver) -> None:
    driver.take(*(entry(name, sql) for name, sql in WATCHERS.items()))


def named(driver: Driver, view: str) -> dict:
    return {row[0]: row[1:] for row in driver.rows(view)}


def answered(driver: Driver, sql: str, name: str = "a", at_s: float = 1.0) -> Delta:
    (change,) = driver.take(OneTimeQuery(at_s, name, "", (), OneTimeKind.ONCE, plan_text=text(sql)))
    assert change.view == f"why:{name}"
    assert change.error is None, change.error
    return change.delta


def test_queries_have_their_rows_states_and_holders() -> None:
    driver = Driver("either", "reach")
    driver.take(entry("asleep", "SELECT k FROM item", on_demand=True))
    driver.take(entry("orphan", "SELECT k FROM item"), Unregister(0.0, "orphan"))
    driver.take(Register(0.0, "lost", 'Scan nothing "n" columns ()'))
    watching(driver)
    driver.insert("link", [(1, 2, 1), (2, 3, 1)])
    assert named(driver, "w_queries")["reach"] == ("running", 0, "trunk", 0, None)
    driver.tick(1.0)
    found = named(driver, "w_queries")
    assert found["reach"] == ("running", 3, "trunk", 0, None)
    assert found["asleep"] == ("suspended", None, "trunk", 0, None)
    assert found["lost"][0] in ("failed", "waiting")
    assert found["lost"][4].startswith("aspen.")
    assert found["w_none"][:2] == ("running", None)
    assert "orphan" not in found
    driver.take(Interest(2.0, "asleep", "somebody", 60.0))
    assert named(driver, "w_queries")["asleep"] == ("running", 0, "trunk", 1, None)


def test_operators_count_rows_and_net_changes_between_two_ticks() -> None:
    driver = Driver("either")
    watching(driver)
    driver.tick(1.0)
    driver.insert("pair", [(1, 2), (3, 4), (5, 2)])
    driver.delete("pair", [(3, 4)])
    driver.tick(2.0)
    found = {(row[2], row[3]): row[4:] for row in driver.rows("w_operators")}
    rows, views, changes_in, changes_out, _late, lane = found["Scan", "pair"]
    assert (rows, changes_in, changes_out, lane) == (2, 0, 2, 0)
    assert views == 2, "both and either"
    assert found["Distinct", ""] == (1, 1, 2, 1, 0, 0)
    driver.tick(3.0)
    found = {(row[2], row[3]): row[4:] for row in driver.rows("w_operators")}
    assert found["Scan", "pair"] == (2, 2, 0, 0, 0, 0)
    assert not [row for row in driver.rows("w_operators") if row[0].startswith("w_")]


def test_indexes_and_estimates_are_rows_too() -> None:
    driver = Driver("joined")
    watching(driver)
    driver.insert("item", [(k, "a", k, None) for k in range(4)])
    driver.insert("pair", [(k, 9) for k in range(4)])
    driver.tick(1.0)
    assert {row[1:] for row in driver.rows("w_indexes")} == {
        ("item", "0", 4, 1),
        ("pair", "0", 4, 1),
    }
    costs = named(driver, "w_costs")
    assert costs["joined"][1] == 4
    assert costs["joined"][0] > 0


def test_a_query_over_the_engine_goes_quiet() -> None:
    driver = Driver("either", "way", "grouped")
    watching(driver)
    driver.insert("pair", [(1, 2)])
    for at_s in (1.0, 2.0, 3.0):
        driver.tick(at_s)
    for at_s in (4.0, 5.0, 6.0):
        assert driver.tick(at_s) == [], "nothing happened, and nothing is said"


def test_a_liar_does_not_keep_the_engine_busy() -> None:
    """A view whose rows depend on its own row count has none that it could see."""
    driver = Driver()
    driver.take(
        entry("liar", "SELECT q.view FROM sys.queries q WHERE q.view = 'liar' AND rows = 0")
    )
    driver.take(entry("clerk", "SELECT l.view FROM sys_queries l WHERE l.rows IS NULL"))
    for at_s in (1.0, 2.0, 3.0):
        assert driver.tick(at_s) == []
    assert driver.rows("liar") == set()
    assert driver.rows("clerk") == {("liar",), ("clerk",)}


def test_what_nobody_reads_is_not_kept() -> None:
    driver = Driver("either")
    watching(driver)
    driver.tick(1.0)
    assert driver.lane.circuit.sources["sys_operators"].table
    driver.take(*(Unregister(1.0, name) for name in WATCHERS))
    driver.tick(2.0)
    assert not any(driver.lane.circuit.sources[r.name].table for r in SYSTEM_RELATIONS)
    assert not driver.lane.system.due


def test_no_entry_may_write_them() -> None:
    driver = Driver()
    driver.change(("sys_queries", 1, ("v", "running", 0, "", "", "", 0, None, 0)))
    assert [code for _, code, *_ in driver.lane.errors.rows] == ["aspen.runtime.refused_change"]


slow = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@slow
@given(world.histories, st.data())
def test_differential_cutting_and_restarting_do_not_show(history, data) -> None:
    model, entries = world.Model(), [*world.declarations(), *world.registrations(plan_text)]
    begun = len(entries) + data.draw(st.integers(0, 3), label="watched from")
    for epoch in history:
        for operation in epoch:
            entries += model.entries(operation)
    entries[begun:begun] = [entry(name, sql) for name, sql in WATCHERS.items()]
    numbered = list(enumerate([*entries, Tick(1e6)], start=1))
    whole, pieces, folded = Lane(), Lane(), {}
    whole.apply(numbered)
    while numbered:
        size = data.draw(st.integers(1, 12), label="batch")
        for change in pieces.apply(numbered[:size]):
            merge(folded.setdefault(change.view, {}), change.delta)
        numbered = numbered[size:]
        if data.draw(st.booleans(), label="restart"):
            pieces = Lane.restore(pieces.snapshot())
    for view in WATCHERS:
        assert whole.rows(view) == pieces.rows(view) == folded.get(view, {}), view


def test_a_one_shot_answer_is_what_a_view_would_hold_and_leaves_nothing() -> None:
    driver = Driver("reach", "last")
    driver.insert("link", [(1, 2, 1), (2, 3, 1)])
    before = len(driver.lane.circuit._known)
    for view, sql in world.QUERIES.items():
        compiled = compile_query(sql, CATALOG)
        shown = driver.take(
            OneTimeQuery(1.0, view, "", (), OneTimeKind.ONCE, plan_text=plan_text(compiled.plan))
        )
        (change,) = [one for one in shown if one.view == f"why:{view}"]
        if view in ("reach", "last"):
            assert change.delta == driver.lane.rows(view)
        assert change.error is None or change.error["code"] == "aspen.views.unknown_source", change
    assert len(driver.lane.circuit._known) == before


def test_a_one_shot_answer_about_the_engine_is_of_its_place_in_the_log() -> None:
    driver = Driver("either")
    driver.insert("pair", [(1, 2)])
    found = answered(driver, "SELECT view, rows FROM sys.queries")
    assert found == {("either", 1): 1, ("both", 1): 1}
    driver.insert("pair", [(5, 7)])
    again = answered(driver, "SELECT view, rows FROM sys.queries WHERE view = 'either'", "b")
    assert again == {("either", 2): 1}
    driver.tick(2.0)
    assert not driver.lane.system.due


def test_a_one_shot_answer_has_an_end() -> None:
    driver = Driver()
    driver.insert("pair", [(k, k) for k in range(ROWS_AT_MOST + 1)])
    (change,) = driver.take(
        OneTimeQuery(1.0, "a", "", (), OneTimeKind.ONCE, plan_text=text("SELECT k FROM pair"))
    )
    assert change.error is not None
    assert change.error["code"] == "aspen.runtime.answer_too_large"
    assert len(answered(driver, "SELECT k FROM pair ORDER BY k LIMIT 3", "b")) == 3


@pytest.mark.parametrize("sql", ["SELECT * FROM other.queries", "SELECT * FROM a.sys.queries"])
def test_there_is_no_other_schema(sql) -> None:
    with pytest.raises(Unsupported):
        compile_query(sql, CATALOG)


def test_an_unknown_system_relation_names_those_there_are() -> None:
    with pytest.raises(AspenError) as caught:
        compile_query("SELECT * FROM sys.query", CATALOG)
    assert caught.value.exists[0] == "sys_queries"


def test_of_several_lanes_each_tells_of_itself_and_one_answers() -> None:
    """What a lane does not keep is elsewhere; a one-shot answer is whole all the same."""
    lanes = [Lane(LaneShare(number, 2)) for number in range(2)]
    entries = [
        *world.declarations(),
        *world.registrations(plan_text),
        *map(entry, WATCHERS, WATCHERS.values()),
    ]
    entries += [
        Transaction(1.0, (Change("pair", 1, (1, 2)), Change("item", 1, (1, "a", 5, None)))),
        Tick(2.0),
    ]
    asks = [
        OneTimeQuery(3.0, f"a{n}", "", (), OneTimeKind.ONCE, plan_text=text("SELECT k FROM both"))
        for n in range(4)
    ]
    answers: dict[str, list] = {}
    for lane in lanes:
        lane.apply(list(enumerate(entries, start=1)))
        states = {row[0]: row[1] for row in lane.circuit.sources["sys_queries"].table}
        kept = {name for name, view in lane.views.by_name.items() if view.node is not None}
        running = {name for name, state in states.items() if state == "running"}
        assert running == (kept if states else set())
        for change in lane.apply(list(enumerate(asks, start=lane.position + 1))):
            if change.view.startswith("why:"):
                answers.setdefault(change.view, []).append(change.delta)
    assert answers == {f"why:a{n}": [{(1,): 1, (2,): 1}] for n in range(4)}
