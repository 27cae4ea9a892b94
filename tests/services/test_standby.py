"""What an engine that stands by listens to: a line, the end of its input, its own Spark."""

from __future__ import annotations

import os
import threading

import pytest
from waiting import until

from smartcis.management.commands import engine as command
from smartcis.services.engine_supervisor import BEGIN


class Ready:
    """An engine that is prepared, until it is not."""

    def __init__(self):
        self.prepared = False

    def prepare(self):
        self.prepared = True

    def is_prepared(self):
        return self.prepared


@pytest.fixture
def standing(monkeypatch):
    """Returns an engine that stands by, whom to write to, and what comes of it."""
    monkeypatch.setattr(command, "LOOK_S", 0.02)
    monkeypatch.setattr(command, "_call_oneself", lambda _name: None)
    ours, theirs = os.pipe()
    engine, ended = Ready(), []
    thread = threading.Thread(target=lambda: ended.append(command._stood_by(engine, ours)))
    thread.start()
    until(lambda: engine.prepared)
    yield engine, theirs, ended
    engine.prepared = False
    thread.join(10)
    os.close(ours)


def test_it_begins_when_told_to(standing):
    _, theirs, ended = standing
    os.write(theirs, f"{BEGIN}\n".encode())
    os.close(theirs)
    until(lambda: ended)
    assert ended == [True]


def test_it_does_not_when_whoever_would_say_so_is_gone(standing):
    _, theirs, ended = standing
    os.close(theirs)
    until(lambda: ended)
    assert ended == [False]


def test_it_does_not_when_its_spark_is_gone(standing):
    engine, theirs, ended = standing
    engine.prepared = False
    until(lambda: ended)
    assert ended == [False]
    os.close(theirs)
