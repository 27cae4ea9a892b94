"""A text that means too much is refused at every door; others need not wait for a long one."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest
from api.test_api import Caller
from api.test_statements import account

from aspen.effort import MOST_STEPS, spend
from smartcis.compiling.fair_turn import QUICK_S, Busy, fair_turn

JOINS = "SELECT a0.mid FROM machine a0 " + " ".join(
    f"JOIN machine a{i} ON a{i}.mid = a{i - 1}.mid" for i in range(1, 450)
)
STATEMENTS = (
    JOINS,
    f"ONCE {JOINS}",
    f"CREATE VIEW v AS {JOINS}",
    f"INSERT INTO kept {JOINS}",
    f"DELETE FROM kept WHERE mid IN ({JOINS})",
    f"UPDATE kept SET mid = ({JOINS})",
)
CODES = ("aspen.compile.too_complex", "aspen.parse.unsupported")
"""It takes too much, or is too deep."""


@pytest.mark.django_db
def test_every_door_refuses_a_text_that_means_too_much(building, house):
    ann = account("ann")
    made = ann("POST", "queries/", {"sql": "CREATE TABLE kept (mid TEXT NOT NULL, KEY (mid))"})
    assert made.status_code == 200, made.content
    for sql in STATEMENTS:
        _refused(ann("POST", "queries/", {"sql": sql}))
    _refused(Caller()("POST", "queries/explain/", {"sql": JOINS}))
    checked = Caller()("POST", "queries/check/", {"sql": JOINS}).json()
    assert checked["code"] in CODES
    assert checked["found"]
    assert checked["try"]


def _refused(answer) -> None:
    body = answer.json()
    assert (answer.status_code, body["status"]) == (400, 400), body
    assert body["code"] in CODES
    assert body["try"]


def _compile_long(processor_s: float) -> None:
    with fair_turn(10**18):
        began = time.thread_time()
        while time.thread_time() - began < processor_s:
            spend(MOST_STEPS // 100, "a test")


def test_what_takes_long_lets_others_go_first(monkeypatch):
    slept = []
    clock = SimpleNamespace(thread_time=time.thread_time, sleep=slept.append)
    monkeypatch.setattr("smartcis.compiling.fair_turn.time", clock)
    _compile_long(QUICK_S / 2)
    assert slept == []
    _compile_long(QUICK_S + 0.1)
    assert sum(slept) > 0.3, "nine times as long as it works, beyond what is quick"


def test_what_takes_long_is_one_at_a_time(monkeypatch):
    monkeypatch.setattr("smartcis.compiling.fair_turn.PATIENCE_S", 0.1)
    inside, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        with fair_turn(10**18):
            began = time.thread_time()
            while time.thread_time() - began < QUICK_S + 0.05:
                spend(MOST_STEPS // 100, "a test")
            inside.set()
            go_on.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert inside.wait(60)
        with pytest.raises(Busy) as caught:
            _compile_long(QUICK_S + 0.1)
        assert caught.value.retry_s > 0
        _compile_long(QUICK_S / 2)
    finally:
        go_on.set()
        holder.join(60)
    _compile_long(QUICK_S + 0.05)


def test_however_long_it_takes_it_ends(monkeypatch):
    monkeypatch.setattr("smartcis.compiling.fair_turn.LONGEST_S", QUICK_S + 0.05)
    with pytest.raises(Exception, match="too complex"):
        _compile_long(60)
