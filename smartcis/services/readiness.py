"""Readiness: what the product lacks before people can be sent to it."""

from __future__ import annotations

import time
from collections.abc import Iterator

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from aspen.results.engine_status import read_status
from smartcis import composition
from smartcis.services.processes import read_processes

YOUNG_S = 15.0  # an engine on a busy machine takes a few seconds for a large epoch

_migrated = False


def unready() -> dict[str, str]:
    """Returns what is missing: for each part that is not as it should be, a sentence."""
    return dict([*_database(), *_redis()])


def _database() -> Iterator[tuple[str, str]]:
    global _migrated  # noqa: PLW0603  # a schema does not go back while this code runs
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        if not _migrated:
            executor = MigrationExecutor(connection)
            waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
            if waiting:
                yield "schema", f"{len(waiting)} migrations are missing: manage.py migrate"
            _migrated = not waiting
    except DatabaseError:
        yield "database", "the database does not answer"


def _redis() -> Iterator[tuple[str, str]]:
    server, now_s = composition.server(), time.time()
    try:
        status = read_status(server, settings.RESULTS_NAME)
        processes = read_processes(server, settings.NAME)
        tick_s = composition.log().last_tick_s()
    except redis.RedisError:
        yield "redis", "the Redis server does not answer"
        return
    engine = status.summary(now_s)
    late_s = now_s - max(status.progress_s, status.started_s)
    if engine in {"offline", "starting"}:
        yield "engine", f"the engine is {engine}"
    elif late_s > YOUNG_S:
        yield "engine", f"the views last had all of the log {late_s:.0f} s ago"
    if tick_s is None or now_s - tick_s > YOUNG_S:
        yield "clock", "no time enters the log"
    down = [process.name for process in processes if not process.up]
    if down:
        yield "processes", f"down: {', '.join(sorted(down))}"
