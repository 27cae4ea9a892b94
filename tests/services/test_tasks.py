"""Celery's tasks do their one action, and beat calls each by its name."""

from __future__ import annotations

import importlib

import pytest
from django.conf import settings

from smartcis.actions.sweep_outbox import sweep_outbox
from smartcis.composition import log


def test_beat_names_tasks_that_exist():
    app = importlib.import_module("smartcis.celery").app
    app.loader.import_default_modules()
    scheduled = {entry["task"] for entry in app.conf.beat_schedule.values()}
    assert scheduled <= set(app.tasks)
    assert "smartcis.poll_sources" in scheduled


def test_nothing_that_waits_for_others_runs_beside_the_rest():
    app = importlib.import_module("smartcis.celery").app
    app.loader.import_default_modules()
    queues = {
        task.rpartition(".")[2]: app.amqp.router.route({}, task)["queue"].name
        for task in app.tasks
        if task.startswith("smartcis.")
    }
    elsewhere = {task for task, queue in queues.items() if queue == settings.SOURCES_QUEUE}
    imports = {"read_import", "write_import", "take_back_import"}  # somebody's file
    assert elsewhere == {"poll_source", "send_deliveries", *imports}
    assert queues["collect_deliveries"] == settings.CELERY_TASK_DEFAULT_QUEUE
    assert all(app.tasks[f"smartcis.{task}"].time_limit for task in {"poll_source", *imports})


@pytest.mark.django_db
def test_the_sweeps_find_nothing_the_second_time(building):
    tasks = importlib.import_module("smartcis.tasks")
    sweep_outbox()
    head = log().head()
    assert sweep_outbox() == 0
    assert log().head() == head
    assert tasks.sweep_routes() == 0
