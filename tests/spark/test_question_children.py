"""Questions beside the lane: the same answers, no epoch that waits, and bounds for each child."""

from __future__ import annotations

import os
import signal
import socket
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from waiting import until

from aspen.log.entry import Change, EntryQuarantined, OneTimeKind, OneTimeQuery, Register, Tick
from aspen.runtime.lane import Lane
from aspen.runtime.one_time_queries import KEPT_S
from aspen.spark import question_child, question_children
from aspen.spark.in_work import alone_at, marks_at, path_of
from aspen.spark.question_child import QuestionChild, QuestionDied
from aspen.spark.question_children import QuestionChildren, QuestionsBusy
from aspen.views.foresee import Hopeless
from aspen.views.work import ShareExceeded, StateExceeded, TimeExceeded
from tests.runtime.work_driver import CROSS, REACH, Driver, edges, text_of

ALL = {"row": (None, None), "free": (0, 1)}
QUESTIONS = {
    "why": {"row": (0, 3)},
    "why_not": {"kind": OneTimeKind.WHY_NOT, "row": (3, 0)},
    "what_if": {"kind": OneTimeKind.WHAT_IF, **ALL, "changes": (Change("edge", -1, (1, 2)),)},
    "weak_points": {"kind": OneTimeKind.WEAK_POINTS, **ALL},
    "once": {"kind": OneTimeKind.ONCE, "plan_text": text_of(REACH)},
    "no such row": {"row": (3, 0)},
    "too much": {"kind": OneTimeKind.ONCE, "plan_text": text_of(CROSS), "most_steps": 30},
}


def question(ask="q", owner="", **fields):
    return OneTimeQuery(1.0, ask, "reach", **{"row": (), "owner": owner, **fields})


@pytest.fixture
def driver(monkeypatch):
    """A lane whose questions are computed in children."""
    monkeypatch.setattr(question_child, "NICE", 0)  # the machine may be busy with other tests
    made = Driver(10)
    made.take(Register(1.0, "reach", text_of(REACH)))
    made.lane.one_time.answering = QuestionChildren()
    yield made
    made.lane.end()


@pytest.fixture
def gate(driver, tmp_path, monkeypatch):
    """A file until which questions called `slow…` take their time."""
    opened = tmp_path / "gate"
    found = driver.lane.one_time._found

    def slowly(entry):
        while entry.ask.startswith("slow") and not opened.exists():
            time.sleep(0.01)
        return found(entry)

    monkeypatch.setattr(driver.lane.one_time, "_found", slowly)
    monkeypatch.setattr(question_children, "MOMENT_S", 0.0)
    return opened


def answer_to(driver, ask="q"):
    """The change that answers a question, in whichever epoch it comes."""
    found = []

    def ticked():
        found.extend(c for c in driver.take(Tick(1.5)) if c.view == f"why:{ask}")
        return found

    (answer,) = until(ticked, "an answer")
    return answer


@pytest.mark.parametrize("fields", QUESTIONS.values(), ids=QUESTIONS)
def test_law_a_child_answers_as_the_lane_itself(driver, gate, fields):
    here = Driver(10)
    here.take(Register(1.0, "reach", text_of(REACH)))
    (expected,) = here.take(question(**fields))
    assert driver.take(question(**fields)) == []
    answer = answer_to(driver)
    assert (answer.delta, answer.columns, answer.error) == (
        expected.delta,
        expected.columns,
        expected.error,
    )
    assert not gate.exists()


def test_what_is_answered_within_a_moment_comes_in_the_epoch_of_its_question(driver, monkeypatch):
    monkeypatch.setattr(question_children, "MOMENT_S", 60.0)
    (answer,) = driver.take(question(row=(0, 3)))
    assert len(answer.delta) == 3


def test_no_epoch_waits_and_the_answer_is_as_of_the_question(driver, gate):
    driver.take(question("slow", row=(0, 3)))
    for number in range(10, 20):
        (change,) = driver.take(edges(range(number, number + 1)))
        assert change.view == "reach"
    assert driver.take(edges(range(1, 2), -1))
    gate.touch()
    answer = answer_to(driver, "slow")
    assert answer.error is None
    assert len(answer.delta) == 3
    assert (0, 3) not in driver.lane.rows("reach")


def test_who_never_ends_is_ended_and_told_so(driver, gate, monkeypatch):
    monkeypatch.setattr(question_child, "TURN_S", 0.1)
    driver.take(question("slow"))
    assert answer_to(driver, "slow").error["code"] == TimeExceeded.code
    until(lambda: driver.take(Tick(1.5)) or not driver.lane.one_time.answering._dying)
    assert not gate.exists()


def test_a_child_that_is_killed_is_told_of(driver, gate):
    driver.take(question("slow"))
    (child,) = driver.lane.one_time.answering._children
    os.kill(child._pid, signal.SIGKILL)
    error = answer_to(driver, "slow").error
    assert (error["code"], error["found"]) == (QuestionDied.code, "exit code -9")
    assert error["try"]
    assert not gate.exists()


def rows_of_megabytes():
    return {(n, bytes(1 << 20)): 1 for n in range(1_000)}


def rows_to_the_last_byte():
    rows = ()
    for size in (1 << 20, 1 << 12, *range(512, 0, -16)):
        with suppress(MemoryError):
            while True:
                rows = rows, bytes(size)
    raise MemoryError(rows)


def rows_that_encode_to_more():
    text = "é" * (1 << 20)
    return {(n, text): 1 for n in range(100)}


@pytest.mark.parametrize(
    "rows", [rows_of_megabytes, rows_to_the_last_byte, rows_that_encode_to_more]
)
def test_the_system_bounds_a_childs_memory(driver, monkeypatch, rows):
    monkeypatch.setattr(driver.lane.one_time, "_found", lambda _entry: ((), rows(), None))
    driver.take(question("memory"))
    error = answer_to(driver, "memory").error
    assert error["code"] == StateExceeded.code, error


def test_the_system_bounds_a_childs_processor_time(driver, monkeypatch):
    def take_time(_entry):
        while True:
            pass

    monkeypatch.setattr(question_child, "TURN_S", 1e9)
    monkeypatch.setattr(question_child, "SPARE_S", 0)
    monkeypatch.setattr(driver.lane.one_time, "_found", take_time)
    driver.take(question("time", most_ms=10))
    assert answer_to(driver, "time").error["code"] == TimeExceeded.code


def test_a_child_keeps_nothing_open_that_was(driver, gate):
    here, there = socket.socketpair()
    driver.take(question("slow"))
    until(lambda: len([*Path(f"/proc/{children(driver)[0]._pid}/fd").iterdir()]) <= 5)
    here.close()
    there.settimeout(60)
    assert there.recv(1) == b"", "nobody but the child could still have it open"
    assert not gate.exists()


def children(driver) -> list[QuestionChild]:
    return driver.lane.one_time.answering._children


def test_turns_go_by_owner_and_there_are_only_so_many(driver, gate, monkeypatch):
    monkeypatch.setattr(question_children, "AT_ONCE", 1)
    monkeypatch.setattr(question_children, "WAITING", 4)
    asked = [("slow1", "ann"), ("2", "ann"), ("3", "ann"), ("4", "bob")]
    assert driver.take(*(question(ask, owner, row=(0, 1)) for ask, owner in asked)) == []
    assert [child.entry.ask for child in children(driver) if child.since_s] == ["slow1"]
    (refused,) = driver.take(question("5", "ann"))
    assert refused.error["code"] == ShareExceeded.code
    assert driver.take(question("6", "eve", row=(0, 1))) == []
    (refused,) = driver.take(question("7", "eve"))
    assert refused.error["code"] == QuestionsBusy.code
    assert "again in" in refused.error["try"]
    begun, begin = [], QuestionChild.begin
    monkeypatch.setattr(
        QuestionChild, "begin", lambda child: (begun.append(child.entry.ask), begin(child))[1]
    )
    gate.touch()
    until(lambda: not children(driver), also=lambda: driver.take(Tick(1.5)))
    assert begun == ["4", "6", "2", "3"], "whose owner had no turn yet goes first"


def test_one_of_an_owner_computes_and_leaves_room_for_others(driver, gate):
    driver.take(question("slow1", "ann"), question("slow2", "ann"), question("slow3", "bob"))
    assert [child.entry.ask for child in children(driver) if child.since_s] == ["slow1", "slow3"]
    assert not gate.exists()


def test_the_hopeless_needs_no_child(driver, gate):
    (answer,) = driver.take(question(**QUESTIONS["too much"] | {"most_steps": 3}))
    assert answer.error["code"] == Hopeless.code
    assert not gate.exists()


def test_nobody_waits_for_what_passed(driver, gate):
    driver.take(question("slow"))
    (change,) = driver.take(Tick(1.0 + KEPT_S + 1))
    assert (change.view, change.closed) == ("why:slow", True)
    assert children(driver) == []
    assert not gate.exists()


def test_what_was_being_computed_when_the_process_died_is_refused(driver, gate, tmp_path):
    names = tmp_path / "names"
    driver.lane.one_time.answering = QuestionChildren(names)
    snapshot = driver.lane.snapshot()
    asked = question("slow")
    driver.take(asked)
    assert QuestionChildren(names).lost() == {"slow"}

    def built_again(after):
        lane = Lane.restore(after)
        lane.one_time.lost = QuestionChildren(names).lost()
        return lane

    # Its batch is known already, and the lane goes on behind it.
    (told,) = built_again(driver.lane.snapshot()).apply([(9, Tick(2.0))])
    assert (told.view, told.error["code"]) == ("why:slow", EntryQuarantined.code)
    # Its batch comes once more: it is not computed again.
    (told,) = built_again(snapshot).apply([(9, asked)])
    assert told.error["code"] == EntryQuarantined.code
    gate.touch()
    answer_to(driver, "slow")
    assert QuestionChildren(names).lost() == {"slow"}, "nobody knows yet that it was told"
    driver.take(Tick(1.5))
    assert QuestionChildren(names).lost() == set()


def test_a_child_that_cannot_be_made_is_a_reason(driver, monkeypatch):
    def full():
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", full)
    open_files = len([*Path("/proc/self/fd").iterdir()])
    (answer,) = driver.take(question())
    assert answer.error["code"] == QuestionsBusy.code
    assert len([*Path("/proc/self/fd").iterdir()]) == open_files


def test_time_is_taken_before_and_given_back_after(driver, gate):
    driver.lane.one_time.time.clock = time.thread_time
    bounded = replace(question(owner="ann", row=(0, 3)), most_ms=1_000)
    driver.take(*(replace(bounded, ask=f"slow{n}") for n in range(3)))
    account = driver.lane.circuit.accounts["ann"].asked
    assert account.left(1.0) == 0
    (refused,) = driver.take(replace(bounded, ask="more"))
    assert refused.error["code"] == ShareExceeded.code
    gate.touch()
    until(lambda: not children(driver), also=lambda: driver.take(Tick(1.5)))
    assert 0 < account.owed(1.0) < 1.5


def test_marks_of_lanes_are_told_from_names(tmp_path):
    path = path_of(tmp_path, "log", 0)
    marks_at(str(path)).note(4, 4)
    Path(str(path) + question_children.NAMES_SUFFIX).write_text("0123456789abcdef" * 2)
    assert alone_at(tmp_path, "log", 0) == {4: 1}
