"""Bounds of work: who asks too much ends alone, with a reason; within them nothing changes."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.algebra.explain import plan_text
from aspen.log.entry import (
    Change,
    OneTimeKind,
    OneTimeQuery,
    Register,
    Transaction,
    Unregister,
    decode,
    encode,
)
from aspen.model.delta import Delta, merge
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query
from aspen.views.work import (
    WorkExceeded,
)
from tests.oracle import evaluate
from tests.runtime.work_driver import (
    CATALOG,
    CROSS,
    HEAVY,
    MODEST,
    REACH,
    Driver,
    edges,
    errors_of,
    text_of,
)


@pytest.mark.parametrize("name", HEAVY)
def test_a_view_that_asks_too_much_ends_and_its_neighbours_do_not(name):
    driver = Driver(200)
    driver.take(Register(1.0, "modest", text_of(MODEST), most_steps=5_000))
    (change,) = driver.take(Register(1.0, "heavy", text_of(HEAVY[name]), most_steps=5_000))
    assert change.error["code"] == WorkExceeded.code
    assert "5,000 steps" in change.error["message"]
    assert change.error["try"]
    ((_, code, message, _),) = errors_of(driver.lane)
    assert code == WorkExceeded.code
    assert message.startswith("view heavy: ")
    (moved,) = driver.take(edges(range(500, 501)))
    assert (moved.view, moved.delta) == ("modest", {(500, 1): 1})
    assert not [node for node in driver.lane.circuit._known.values() if not node.users]


@pytest.mark.parametrize("name", HEAVY)
def test_a_view_that_grows_beyond_its_bounds_ends_in_that_epoch(name):
    driver = Driver(10)
    (opened,) = driver.take(Register(1.0, "heavy", text_of(HEAVY[name]), most_steps=5_000))
    assert opened.error is None
    (change,) = driver.take(edges(range(10, 600)))
    assert change.error["code"] == WorkExceeded.code
    assert driver.take(edges(range(600, 601))) == []


def test_a_question_that_asks_too_much_is_refused_at_once():
    driver = Driver(4_000)
    question = OneTimeQuery(
        1.0, "q", "", (), OneTimeKind.ONCE, plan_text=text_of(CROSS), most_steps=2_000_000
    )
    began = time.process_time()
    (answer,) = driver.take(question)
    assert answer.error["code"] == WorkExceeded.code
    assert time.process_time() - began < 10, "16 million pairs were not looked at"
    (answer,) = driver.take(
        OneTimeQuery(1.0, "r", "", (), OneTimeKind.ONCE, plan_text=text_of(MODEST), most_steps=9)
    )
    assert len(answer.delta) == 4_000, "bounds count what operators look at, not what tables hold"


def test_what_somebody_without_bounds_uses_besides_has_none():
    driver = Driver(10)
    driver.take(Register(1.0, "mine", text_of(REACH), most_steps=5_000))
    driver.take(Register(1.0, "house", text_of(REACH)))
    changes = driver.take(edges(range(10, 200)))
    assert {(change.view, change.error) for change in changes} == {("mine", None), ("house", None)}
    other = Driver(10)
    other.take(Register(1.0, "house", text_of(REACH)))
    other.take(Register(1.0, "mine", text_of(REACH), most_steps=5_000))
    changes = other.take(edges(range(10, 200)))
    assert {(change.view, change.error) for change in changes} == {("mine", None), ("house", None)}


def test_a_question_about_a_bounded_view_leaves_its_bounds():
    driver = Driver(10)
    driver.take(Register(1.0, "mine", text_of(REACH), most_steps=5_000))
    (answer,) = driver.take(OneTimeQuery(1.0, "q", "mine", (0, 3)))
    assert answer.error is None
    lost = Change("edge", -1, (0, 1))
    question = OneTimeQuery(1.0, "w", "mine", (), OneTimeKind.WHAT_IF, changes=(lost,))
    (answer,) = driver.take(question)
    assert answer.error is None
    (change,) = driver.take(edges(range(10, 600)))
    assert change.error["code"] == WorkExceeded.code


def test_tenants_of_one_template_have_the_bounds_of_all():
    sql = "SELECT a.src, b.dst FROM edge a, edge b WHERE a.src = {} AND b.src > 5"
    driver = Driver(100)
    for number in range(30):
        entry = Register(1.0, f"v{number}", text_of(sql.format(number)), "auto", "tenant", False)
        (change,) = driver.take(replace(entry, most_steps=300))
        assert change.error is None
    assert len(driver.lane.views.templates) == 1
    changes = driver.take(edges(range(100, 200)))
    assert {(change.error, len(change.delta)) for change in changes} == {(None, 100)}
    changes = driver.take(edges(range(200, 600)))
    assert {change.error["code"] for change in changes} == {WorkExceeded.code}


def test_what_two_branches_of_a_template_read_does_the_work_of_one_tenant_more():
    same = "SELECT src FROM edge WHERE src > 3 GROUP BY src"
    sql = f"""SELECT a.src FROM ({same}) a, ({same}) b, ({same}) c
    WHERE b.src = a.src AND c.src = b.src AND a.src = {{}}"""
    driver = Driver(10)
    for number in (5, 6, 7):
        entry = Register(1.0, f"v{number}", text_of(sql.format(number)), "auto", "tenant", False)
        driver.take(replace(entry, most_steps=300))
    assert len(driver.lane.views.templates) == 1
    nodes = driver.lane.circuit._known.values()
    assert {node.payers.most for node in nodes if node.payers.most} <= {300, 900}
    driver.take(Unregister(1.0, "v5"), Unregister(1.0, "v7"))
    assert {node.payers.most for node in nodes if node.payers.most} == {300}, "who left takes along"


def test_a_lane_that_is_built_again_ends_the_same_views():
    driver = Driver(10)
    driver.take(Register(1.0, "heavy", text_of(CROSS), most_steps=5_000))
    driver.take(edges(range(10, 600)))
    again = Lane.restore(driver.lane.snapshot())
    assert again.views.by_name["heavy"].error == driver.lane.views.by_name["heavy"].error
    assert errors_of(again) == errors_of(driver.lane)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(HEAVY)),
    st.integers(1, 60),
    st.lists(
        st.tuples(st.sampled_from([1, -1]), st.integers(0, 6), st.integers(0, 6)), max_size=12
    ),
)
def test_law_a_bounded_view_has_the_rows_of_the_oracle_or_none(name, most, changes):
    driver = Driver(0)
    plan = compile_query(HEAVY[name], CATALOG).plan
    driver.take(Register(1.0, "v", plan_text(plan), most_steps=most))
    tables: dict[str, Delta] = {"edge": {}}
    for weight, src, dst in changes:
        if weight < 0 and (src, dst) not in tables["edge"]:
            continue
        merge(tables["edge"], {(src, dst): weight})
        driver.take(Transaction(1.0, (Change("edge", weight, (src, dst)),)))
        view = driver.lane.views.by_name["v"]
        if view.error is None:
            assert view.rows == evaluate(plan, tables)
        else:
            assert view.error["code"] == WorkExceeded.code
            assert view.rows == {}


def test_entries_say_their_bounds_and_those_before_had_none():
    register = Register(1.0, "v", "plan", "auto", "auto", True, 7, 8, 9, "ann")
    assert decode(encode(register)) == register
    question = OneTimeQuery(1.0, "q", "v", (), most_steps=7, most_bytes=8, most_ms=9, owner="ann")
    assert decode(encode(question)) == question
    assert decode(b'{"k":"r","t":1.0,"v":"v","p":"plan","s":"auto","h":"auto"}').owner == ""
    assert decode(encode(Register(1.0, "v", "plan"))).most_steps == 0
    assert b'"m"' not in encode(Register(1.0, "v", "plan"))
