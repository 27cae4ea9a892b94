"""Readiness says what is missing, part by part, and nothing once all is there."""

from __future__ import annotations

import re
import time

import pytest
from django.db.migrations.executor import MigrationExecutor

from aspen.log.entry import Tick
from aspen.results.engine_status import EngineStatus, write_status
from smartcis import composition
from smartcis.services import readiness
from smartcis.services.processes import ProcessState, write_processes
from smartcis.services.readiness import unready

pytestmark = pytest.mark.django_db


def engine_says(name, **fields):
    now_s = time.time()
    fresh = {"state": "live", "pid": 1, "beat_s": now_s, "progress_s": now_s}
    write_status(composition.server(), name, EngineStatus(**(fresh | fields)))


@pytest.fixture
def ready(building):
    composition.log().append([Tick(time.time())])
    engine_says(building)
    write_processes(composition.server(), building, "here", [ProcessState("web", "here", 1, 1)])
    assert unready() == {}
    return building


def test_an_engine_that_stands_still_is_named(ready):
    engine_says(ready, progress_s=time.time() - 60, started_s=time.time() - 90)
    missing = unready()
    assert set(missing) == {"engine"}
    assert re.search(r"\b[6-9]\d s ago", missing["engine"])
    engine_says(ready, state="failed")
    assert unready() == {"engine": "the engine is offline"}


def test_processes_that_are_down_are_named(ready):
    states = [ProcessState("clock", "here", 0, 3), ProcessState("web", "here", 1, 1)]
    write_processes(composition.server(), ready, "here", states)
    assert unready() == {"processes": "down: clock"}


def test_no_time_is_named(ready, monkeypatch):
    monkeypatch.setattr(readiness, "YOUNG_S", -1.0)
    assert unready()["clock"] == "no time enters the log"


def test_an_old_schema_is_named(ready, monkeypatch):
    monkeypatch.setattr(readiness, "_migrated", False)
    monkeypatch.setattr(MigrationExecutor, "migration_plan", lambda *_: [1, 2])
    assert unready() == {"schema": "2 migrations are missing: manage.py migrate"}


def test_a_redis_that_is_away_is_named(ready, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    composition.server.cache_clear()
    assert unready() == {"redis": "the Redis server does not answer"}
