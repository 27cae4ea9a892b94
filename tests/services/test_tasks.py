"""Celery's tasks do their one action, and beat calls each by its name."""

from __future__ import annotations

import importlib

import pytest

from aspen.log.entry import Tick
from smartcis.composition import log


def test_a_tick_is_written_once_a_second(building):
    tasks = importlib.import_module("smartcis.tasks")
    assert tasks.tick()
    assert not tasks.tick()
    last_s = log().last_tick_s()
    log().append([Tick(last_s - 5)])
    assert tasks.tick()
    assert log().head() == 3


def test_beat_names_tasks_that_exist():
    app = importlib.import_module("smartcis.celery").app
    app.loader.import_default_modules()
    scheduled = {entry["task"] for entry in app.conf.beat_schedule.values()}
    assert scheduled <= set(app.tasks)
    assert "smartcis.supervise_engine" in scheduled


@pytest.mark.django_db
def test_the_sweeps_find_nothing_the_second_time(building):
    tasks = importlib.import_module("smartcis.tasks")
    tasks.relay_outbox()
    head = log().head()
    assert tasks.relay_outbox() == 0
    assert log().head() == head
    assert tasks.sweep_routes() == 0
