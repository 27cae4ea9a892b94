"""Bounds of questions: all they do counts, and they leave what they ask about as it was."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest

from aspen.log.entry import (
    Change,
    OneTimeKind,
    OneTimeQuery,
    Register,
)
from aspen.streamsql import compile_query
from aspen.views.weak_points import TooMuchToWeigh
from aspen.views.work import (
    ShareExceeded,
    TimeExceeded,
    WorkExceeded,
)
from tests.oracle import evaluate
from tests.runtime.work_driver import (
    CATALOG,
    FAR,
    REACH,
    Driver,
    edges,
    text_of,
)

WEIGHED = Register(1.0, "reach", text_of(REACH))
EVERY = {"row": (None, None), "free": (0, 1)}


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (OneTimeKind.WHY, {"row": (0, 90)}),
        (OneTimeKind.WHY_NOT, {"row": (90, 0)}),
        (OneTimeKind.WHAT_IF, {**EVERY, "changes": (Change("edge", -1, (40, 41)),)}),
        (OneTimeKind.WEAK_POINTS, EVERY),
    ],
)
def test_a_question_has_bounds_in_all_and_leaves_views_as_they_were(kind, fields):
    driver = Driver(100)
    driver.take(WEIGHED)
    before = driver.lane.rows("reach")
    asked = OneTimeQuery(1.0, "q", "reach", kind=kind, most_steps=300, **fields)
    (answer,) = driver.take(asked)
    assert answer.error["code"] in (WorkExceeded.code, TooMuchToWeigh.code)
    assert answer.error["try"]
    (answer,) = driver.take(replace(asked, ask="r", most_steps=0))
    assert answer.error is None
    assert driver.lane.rows("reach") == before
    driver.take(edges(range(100, 101)))
    assert driver.lane.rows("reach") == evaluate(
        compile_query(REACH, CATALOG).plan,
        {"edge": dict(driver.lane.circuit.sources["edge"].table)},
    )


def test_weak_points_of_too_many_rows_are_those_found_so_far():
    driver = Driver(60)
    driver.take(WEIGHED)
    asked = OneTimeQuery(1.0, "q", "reach", kind=OneTimeKind.WEAK_POINTS, **EVERY)
    (whole,) = driver.take(asked)
    assert {row[-1] for row in whole.delta} == {True}
    (some,) = driver.take(replace(asked, ask="r", most_steps=120_000))
    assert some.error is None
    assert {row[-1] for row in some.delta} == {False}
    lost = {row[2]: row[3] for row in whole.delta}
    assert all(lost.get(row[2], row[3]) == row[3] for row in some.delta), "what is told is true"


def test_a_hypothetical_update_of_many_rows_stops_half_way_and_is_taken_back():
    driver = Driver(400)
    driver.take(WEIGHED)
    before = driver.lane.rows("reach")
    changes = tuple(Change("edge", -1, (n, n + 1)) for n in range(400))
    asked = OneTimeQuery(
        1.0, "q", "reach", (None, None), OneTimeKind.WHAT_IF, (0, 1), changes, most_steps=1_000
    )
    (answer,) = driver.take(asked)
    assert answer.error["code"] == WorkExceeded.code
    assert driver.lane.rows("reach") == before
    assert [*driver.lane.circuit.sources["edge"].table] == [(n, n + 1) for n in range(400)]


def test_what_is_supposed_reaches_only_the_view_in_question():
    driver = Driver(50)
    driver.take(WEIGHED, Register(1.0, "other", text_of(FAR)))
    other = driver.lane.views.by_name["other"].node
    stepped = []
    step = other.step
    other.step = lambda: stepped.append(1) or step()
    lost = Change("edge", -1, (0, 1))
    driver.take(OneTimeQuery(1.0, "q", "reach", (), OneTimeKind.WHAT_IF, changes=(lost,)))
    assert stepped == []
    driver.take(edges(range(50, 51)))
    assert stepped == [1]


def test_time_ends_questions_alone_and_an_owner_has_a_share_of_it():
    driver = Driver(300)
    driver.take(WEIGHED)
    ticks = count()
    driver.lane.one_time.time.clock = lambda: next(ticks) * 0.1
    asked = OneTimeQuery(
        1.0, "q", "reach", kind=OneTimeKind.WEAK_POINTS, most_ms=200, owner="ann", **EVERY
    )
    (answer,) = driver.take(asked)
    assert answer.error["code"] == TimeExceeded.code
    assert "200 ms" in answer.error["message"]
    answers = [driver.take(replace(asked, ask=f"r{n}"))[0].error["code"] for n in range(3)]
    assert answers[-1] == ShareExceeded.code
    (other,) = driver.take(replace(asked, ask="s", owner="bob", kind=OneTimeKind.WHY, row=(0, 1)))
    assert other.error is None
    (later,) = driver.take(replace(asked, ask="t", at_s=60.0, kind=OneTimeKind.WHY, row=(0, 1)))
    assert later.error is None
