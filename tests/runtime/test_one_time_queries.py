"""Asks: a question is answered in its epoch, passes after 30 s, and no restart shows."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from views.lanes import Driver

from aspen.log.entry import Change, Entry, OneTimeQuery, Register, Tick, Transaction, Unregister
from aspen.model.delta import Delta, merge
from aspen.results.protocol import ViewChange
from aspen.runtime.lane import Lane
from aspen.runtime.one_time_queries import KEPT_S, answer_name

COLUMNS = (
    ("set", "INT", ""),
    ("relation", "TEXT", ""),
    ("row", "TEXT", ""),
    ("necessary", "BOOL", ""),
    ("complete", "BOOL", ""),
)


def link(src: int, dst: int, weight: int = 1) -> Transaction:
    return Transaction(1.0, (Change("link", weight, (src, dst, 1)),))


def ask(row: tuple, name: str = "q", view: str = "reach", at_s: float = 1.0) -> OneTimeQuery:
    return OneTimeQuery(at_s, name, view, row)


def test_the_answer_comes_in_the_epoch_of_the_question_and_is_what_the_lane_says() -> None:
    driver = Driver("reach")
    changes = driver.take(link(1, 2), link(2, 3), link(1, 3), link(3, 4), ask((1, 4)))
    (answer,) = [change for change in changes if change.view == "why:q"]
    assert answer.columns == COLUMNS
    assert set(answer.delta) == {
        (1, "link", "[1,3,1]", False, True),
        (1, "link", "[3,4,1]", True, True),
        (2, "link", "[1,2,1]", False, True),
        (2, "link", "[2,3,1]", False, True),
        (2, "link", "[3,4,1]", True, True),
    }
    told = {
        frozenset((row[1], tuple(json.loads(row[2]))) for row in answer.delta if row[0] == number)
        for number in (1, 2)
    }
    assert told == set(driver.lane.provenance.why("reach", (1, 4)).sets)
    # It is of that moment: what happens later does not move it.
    assert [c.view for c in driver.take(link(3, 4, -1))] == ["reach"]


def test_a_question_sees_what_stands_before_it_in_its_batch_and_nothing_after() -> None:
    driver = Driver("reach")
    changes = driver.take(link(1, 2), ask((1, 2)), link(1, 2, -1))
    assert [(c.view, len(c.delta), c.error) for c in changes] == [("why:q", 1, None)]
    (late,) = driver.take(ask((1, 2), "late"))
    assert late.error is not None
    assert late.error["code"] == "aspen.runtime.no_such_row"


def test_a_row_that_rests_on_given_facts_alone_has_an_answer_without_rows() -> None:
    driver = Driver("road")
    driver.insert("wall", [(1, 2, 3)])
    (answer,) = driver.take(ask((1, 2, 3), view="road"))
    assert (answer.columns, answer.delta, answer.error) == (COLUMNS, {}, None)


@pytest.mark.parametrize(
    ("question", "code", "found", "exists"),
    [
        (ask((1,), view="reech"), "aspen.runtime.unknown_view", "reech", ["reach"]),
        (ask((1,), view="why:q"), "aspen.runtime.unknown_view", "why:q", ["reach", "wrong"]),
        (ask((7, 7)), "aspen.runtime.no_such_row", "[7,7]", ["src INT", "dst INT"]),
        (ask((1,)), "aspen.runtime.no_such_row", "[1]", ["src INT", "dst INT"]),
        (ask((1,), view="wrong"), "aspen.runtime.broken_view", "wrong", []),
    ],
)
def test_a_question_without_an_answer_says_what_exists(question, code, found, exists) -> None:
    driver = Driver("reach")
    driver.take(Register(0.0, "wrong", "no plan"), link(1, 2))
    (change,) = driver.take(question)
    assert change.view == "why:q"
    assert change.error is not None
    assert (change.error["code"], change.error["found"]) == (code, found)
    assert (change.error["exists"], bool(change.error["try"])) == (exists, True)
    assert [c.view for c in driver.take(link(2, 3))] == ["reach"]


def test_an_answer_passes_with_the_first_tick_more_than_30_s_later() -> None:
    driver = Driver("reach")
    driver.take(link(1, 2), ask((1, 2), at_s=5.0))
    assert driver.take(ask((1, 2), at_s=9.0)) == []
    assert driver.tick(5.0 + KEPT_S) == []
    (change,) = driver.tick(5.0 + KEPT_S + 0.1)
    assert (change.view, change.closed) == ("why:q", True)
    assert driver.tick(99.0) == []
    (again,) = driver.take(ask((1, 2), at_s=100.0))
    assert again.delta


def test_a_rebuild_does_not_answer_what_passed_long_ago(monkeypatch) -> None:
    driver = Driver("reach")
    driver.take(link(1, 2))
    monkeypatch.setattr("aspen.runtime.one_time_queries.answer_rows", None)
    assert driver.take(ask((1, 2)), Tick(1.0 + KEPT_S + 1)) == []
    assert driver.lane.one_time.open == {}


nodes = st.integers(0, 3)
asks = st.builds(
    lambda name, row, back_s: ("ask", name, row, back_s),
    st.sampled_from("abc"),
    st.tuples(nodes, nodes),
    st.sampled_from([0.0, 5.0]),
)
steps = st.lists(
    st.one_of(
        asks,
        asks,
        st.tuples(st.just("link"), nodes, nodes),
        st.tuples(st.just("tick"), st.sampled_from([-3.0, 1.0, 12.0, 31.0])),
        st.just(("begin",)),
        st.just(("end",)),
    ),
    max_size=14,
)


def entries_of(history: list[tuple], driver: Driver) -> list[Entry]:
    now_s, links, made = 100.0, set(), []
    register = driver.lane.views.by_name["reach"].entry
    for step in history:
        match step:
            case ("ask", name, row, back_s):
                made.append(ask(row, name, at_s=now_s - back_s))
            case ("link", src, dst):
                links ^= {(src, dst)}
                made.append(link(src, dst, 1 if (src, dst) in links else -1))
            case ("tick", by_s):
                now_s += max(by_s, 0.0)
                made.append(Tick(now_s + min(by_s, 0.0)))
            case ("begin",):
                made.append(register)
            case ("end",):
                made.append(Unregister(now_s, "reach"))
    return made


def fold(into: dict[str, tuple], changes: list[ViewChange]) -> None:
    for change in changes:
        if change.closed:
            del into[change.view]
        else:
            rows: Delta = dict(into.get(change.view, ({}, None))[0])
            merge(rows, change.delta)
            into[change.view] = (rows, change.error)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps, st.data())
def test_differential_cutting_replaying_and_restarting_do_not_show(history, data) -> None:
    one, whole = Driver("reach"), Driver("reach")
    entries = entries_of(history, one)
    stepwise: dict[str, tuple] = {"reach": ({}, None)}
    for entry in entries:
        fold(stepwise, one.take(entry))
        if data.draw(st.booleans(), label="restart"):
            one.lane = Lane.restore(one.lane.snapshot())
    at_once: dict[str, tuple] = {"reach": ({}, None)}
    fold(at_once, whole.take(*entries))
    assert stepwise == at_once
    assert one.lane.one_time.open == whole.lane.one_time.open
    assert {answer_name(name) for name in one.lane.one_time.open} == set(stepwise) - {"reach"}
