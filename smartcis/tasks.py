"""Celery's tasks: each calls one action; `smartcis.celery` says how often."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from functools import cache

from celery import shared_task
from celery.signals import worker_ready, worker_shutdown
from django.conf import settings
from redis.exceptions import LockError

from aspen.log.entry import Tick
from smartcis import composition
from smartcis.actions import reconsider_placements as placements
from smartcis.actions import rename_visitors as visitors
from smartcis.actions import sweep_outbox as outbox
from smartcis.actions import sweep_routes as routes
from smartcis.deliveries import collect, send
from smartcis.models import Outlet
from smartcis.services.child import PARENT_VARIABLE, end_with_parent
from smartcis.services.engine_supervisor import EngineSupervisor, engine_command
from smartcis.sources.reader import poll_due

TICK_S = 1.0
DELIVERIES_LOCK_S = 120
SOURCES_LOCK_S = 300
PATIENCE_S = 10.0

reconsider_placements = shared_task(name="smartcis.reconsider_placements")(
    placements.reconsider_placements
)
relay_outbox = shared_task(name="smartcis.relay_outbox")(outbox.sweep_outbox)
rename_visitors = shared_task(name="smartcis.rename_visitors")(visitors.rename_visitors)
sweep_deliveries = shared_task(name="smartcis.sweep_deliveries")(send.sweep_settled)
sweep_routes = shared_task(name="smartcis.sweep_routes")(routes.sweep_routes)


@shared_task(name="smartcis.tick")
def tick() -> bool:
    """Appends a tick, unless the log's last one is younger than most of a second.

    Returns:
        Whether a tick was appended.
    """
    log, now_s = composition.log(), time.time()
    last_s = log.last_tick_s()
    if last_s is not None and now_s - last_s < TICK_S * 0.8:
        return False
    log.append([Tick(now_s)])
    return True


@shared_task(name="smartcis.poll_sources")
def poll_sources() -> int:
    """Polls every source whose time has come; returns how many."""
    return alone("poll", SOURCES_LOCK_S, lambda: poll_due(composition.log()))


@shared_task(name="smartcis.collect_deliveries")
def collect_deliveries() -> int:
    """Takes in what happened to queries with outputs; returns how many rows came or went."""
    if not Outlet.objects.exists():
        return 0
    return alone("collect", DELIVERIES_LOCK_S, lambda: collect.collect(composition.results()))


@shared_task(name="smartcis.send_deliveries")
def send_deliveries() -> int:
    """Makes the calls that are due; returns how many were taken."""
    return alone("send", DELIVERIES_LOCK_S, send.send_due) if Outlet.objects.exists() else 0


def alone(name: str, lock_s: float, work: Callable[[], int]) -> int:
    """Works under a lock of that name; returns what came of it, 0 where somebody else is at it.

    Args:
        lock_s: after that long whoever holds the lock counts as dead.
    """
    lock = composition.server().lock(f"{settings.NAME}:{name}", timeout=lock_s, blocking=False)
    if not lock.acquire():
        return 0
    try:
        return work()
    finally:
        # It may have taken longer than the lock lasts: then somebody else is at it by now.
        with contextlib.suppress(LockError):
            lock.release()


@cache
def supervisor() -> EngineSupervisor:
    """Returns this process's supervisor of the engine."""
    return EngineSupervisor(
        settings.REDIS_URL,
        settings.RESULTS_NAME,
        engine_command(settings.BASE_DIR / "manage.py"),
        settings.VAR / "logs" / "engine.log",
        os.environ,
    )


@shared_task(name="smartcis.supervise_engine")
def supervise_engine() -> str:
    """Starts an engine when none is at work, kills one that hangs."""
    return supervisor().look()


@worker_ready.connect
def _begin(**_: object) -> None:
    """Begins at once: Spark takes longer to start than anything else."""
    parent = os.environ.get(PARENT_VARIABLE)
    if parent:
        end_with_parent(int(parent), supervisor().stop, PATIENCE_S)
    supervisor().look()


@worker_shutdown.connect
def _end(**_: object) -> None:
    supervisor().stop()
