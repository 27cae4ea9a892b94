"""Several commits at once: one relays, nobody waits for him, nothing stays behind."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from aspen.log.entry import Transaction
from smartcis import composition
from smartcis.ingest import relay as relaying
from smartcis.models import OutboxEntry, RouteRequest

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
LONG_S = 60


def request(session: str) -> None:
    RouteRequest.objects.create(session=session, node=1, goal="free-machine:LaTeX", step_free=False)


def in_thread(work, *arguments) -> threading.Thread:
    def run() -> None:
        try:
            work(*arguments)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def sessions_told() -> list[str]:
    log = composition.log()
    return [
        change.row[0]
        for _, entry in log.read(0, log.head())
        if isinstance(entry, Transaction)
        for change in entry.changes
        if change.relation == "route_request"
    ]


def test_a_commit_leaves_its_entry_to_the_relay_that_is_under_way(building, monkeypatch):
    request("before")
    relay, inside, go_on = relaying.relay, threading.Event(), threading.Event()
    passes = []

    def slow(log):
        done = relay(log)  # it has looked for the last time…
        passes.append(done)
        if len(passes) == 1:
            inside.set()
            assert go_on.wait(LONG_S)  # … and still holds the lock
        return done

    monkeypatch.setattr(relaying, "relay", slow)
    first = in_thread(request, "first")
    assert inside.wait(LONG_S)
    request("second")  # returns although the other one is not done
    assert "second" not in sessions_told()
    go_on.set()
    first.join(LONG_S)
    assert sessions_told() == ["before", "first", "second"]
    assert passes == [1, 1]
    assert not OutboxEntry.objects.filter(position=None).exists()


def test_whoever_reads_the_log_next_waits(building, monkeypatch):
    relay, inside, go_on = relaying.relay, threading.Event(), threading.Event()

    def slow(log):
        inside.set()
        assert go_on.wait(LONG_S)
        return relay(log)

    monkeypatch.setattr(relaying, "relay", slow)
    first = in_thread(request, "first")
    assert inside.wait(LONG_S)
    told = []
    reader = in_thread(lambda: told.append((relaying.relay_now(LONG_S), sessions_told())))
    assert not told
    go_on.set()
    first.join(LONG_S)
    reader.join(LONG_S)
    assert told == [(0, ["first"])]


def test_many_at_once_leave_nothing_behind(building):
    def some(name: str) -> None:
        for number in range(4):
            request(f"{name}{number}")

    threads = [in_thread(some, name) for name in "abcdef"]
    for thread in threads:
        thread.join(LONG_S)
    told = sessions_told()
    assert sorted(told) == sorted(f"{name}{number}" for name in "abcdef" for number in range(4))
    for name in "abcdef":
        assert [one for one in told if one[0] == name] == [f"{name}{n}" for n in range(4)]
    assert not OutboxEntry.objects.filter(position=None).exists()


def test_a_commit_while_a_log_is_adopted_is_told_once(building, monkeypatch):
    state, others = relaying.whole_state, []

    def interrupted():
        others.append(in_thread(request, "between"))
        others[0].join(0.5)  # it may not get through, so this is waited out where all is well
        return state()

    monkeypatch.setattr(relaying, "whole_state", interrupted)
    request("before")
    others[0].join(LONG_S)
    relaying.relay_now(LONG_S)
    assert sorted(sessions_told()) == ["before", "between"]
