"""What ended the engine is left out: whoever asked is told, its neighbours notice nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from views import small_world as world
from views.lanes import Driver

from aspen.algebra.explain import plan_text
from aspen.log.entry import (
    Change,
    OneTimeQuery,
    Quarantined,
    Register,
    Tick,
    Transaction,
    decode,
    encode,
)
from aspen.runtime.lane import Lane

CODE = "aspen.log.entry_quarantined"


def left_out(entry, deaths=2):
    return Quarantined(entry.at_s, encode(entry).decode(), deaths)


def link(src, dst, weight=1):
    return Transaction(1.0, (Change("link", weight, (src, dst, 1)),))


def registration():
    found = next(e for e in world.registrations(plan_text) if isinstance(e, Register))
    return replace(found, view="mine")


def test_it_reads_back():
    entry = left_out(link(1, 2))
    assert decode(encode(entry)) == entry


def test_a_registration_is_a_view_with_a_reason_and_stays_one():
    driver = Driver("reach")
    changes = driver.take(left_out(registration()), link(1, 2))
    (mine,) = [change for change in changes if change.view == "mine"]
    assert mine.error["code"] == CODE
    assert "2 times" in mine.error["message"]
    assert mine.error["try"]
    assert driver.lane.rows("reach") == {(1, 2): 1}
    assert any(row[1] == CODE for row in driver.lane.errors.rows)
    restored = Lane.restore(driver.lane.snapshot())
    assert restored.views.by_name["mine"].error["code"] == CODE
    # Taken in again, it is a view like any other.
    changes = driver.take(registration())
    assert next(c for c in changes if c.view == "mine").error is None
    assert driver.lane.views.by_name["mine"].error is None


def test_a_registration_over_one_that_is_there_takes_its_rows_back():
    driver = Driver("reach")
    driver.take(link(1, 2))
    entry = replace(registration(), view="reach")
    (gone,) = [change for change in driver.take(left_out(entry)) if change.view == "reach"]
    assert gone.delta == {(1, 2): -1}
    assert gone.error["code"] == CODE


def test_a_question_is_answered_with_the_reason():
    driver = Driver("reach")
    question = OneTimeQuery(1.0, "q", "reach", (1, 2))
    (answer,) = driver.take(link(1, 2), left_out(question, 1))[-1:]
    assert (answer.view, answer.error["code"]) == ("why:q", CODE)
    assert "once" in answer.error["message"]
    assert [c.view for c in driver.take(Tick(40.0))] == ["why:q"]


@pytest.mark.parametrize("text", ['{"k":"d","t":1,"c":[["link",1,1,2,1]]}', "no entry at all"])
def test_an_edit_or_anything_else_is_a_row_of_engine_error(text):
    driver = Driver("reach")
    driver.take(Quarantined(1.0, text, 2), link(2, 3))
    assert driver.lane.rows("reach") == {(2, 3): 1}
    assert [row[1] for row in driver.lane.errors.rows] == [CODE]


def test_a_batch_that_is_known_already_answers_no_question_again(monkeypatch):
    driver = Driver("reach")
    asked = []
    monkeypatch.setattr(
        driver.lane.one_time, "_found", lambda entry: (asked.append(entry), ((), {}))[1]
    )
    at = driver.lane.position
    question = OneTimeQuery(1.0, "q", "reach", (1, 2))
    driver.lane.apply([(at + 1, link(1, 2)), (at + 2, question)], published=True)
    assert not asked
    assert "q" in driver.lane.one_time.open
    driver.lane.apply([(at + 3, replace(question, ask="r"))])
    assert [entry.ask for entry in asked] == ["r"]


def test_what_is_in_work_is_told_together_and_suspects_one_by_one():
    driver = Driver("reach")
    lane, at, told = driver.lane, driver.lane.position, []
    lane.at_work = lambda first, last: told.append((first - at, last - at))
    question = OneTimeQuery(1.0, "q", "reach", (1, 2))
    entries = [link(1, 2), link(2, 3), question, link(3, 4), link(4, 5)]
    lane.apply(list(enumerate(entries, start=at + 1)))
    assert told == [(1, 1), (1, 2), (3, 3), (4, 4), (4, 5)]
    told.clear()
    lane.suspects = {at + 7}
    lane.apply([(at + n, link(n, n + 1)) for n in (6, 7, 8, 9)])
    assert told == [(6, 6), (7, 7), (8, 8), (8, 9)]
