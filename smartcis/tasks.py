"""Celery's tasks: each calls one action; `smartcis.celery` says how often."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from functools import partial

from celery import shared_task
from celery.signals import heartbeat_sent
from django.conf import settings
from redis.exceptions import LockError

from smartcis import composition
from smartcis.actions import keep_targets as targets
from smartcis.actions import read_import as read_imports
from smartcis.actions import reconsider_placements as placements
from smartcis.actions import rename_visitors as visitors
from smartcis.actions import sweep_routes as routes
from smartcis.actions import take_back_import as taken_back
from smartcis.actions import write_import as write_imports
from smartcis.deliveries import collect, send
from smartcis.models import Outlet, RouteRequest
from smartcis.services.heartbeat import beat
from smartcis.sources.reader import due_sources, poll_if_due, withdraw_disabled

DELIVERIES_LOCK_S = 120
TARGETS_LOCK_S = 30
POLL_S = 60
POLL_ENDS_S = POLL_S + 15  # for one that does not hear that its time is over
POLL_EXPIRES_S = 2
IMPORT_S = 900
IMPORT_ENDS_S = IMPORT_S + 30

reconsider_placements = shared_task(name="smartcis.reconsider_placements")(
    placements.reconsider_placements
)
rename_visitors = shared_task(name="smartcis.rename_visitors")(visitors.rename_visitors)
sweep_deliveries = shared_task(name="smartcis.sweep_deliveries")(send.sweep_settled)
sweep_routes = shared_task(name="smartcis.sweep_routes")(routes.sweep_routes)
read_import = shared_task(
    name="smartcis.read_import", soft_time_limit=IMPORT_S, time_limit=IMPORT_ENDS_S
)(read_imports.read_import)
write_import = shared_task(
    name="smartcis.write_import", soft_time_limit=IMPORT_S, time_limit=IMPORT_ENDS_S
)(write_imports.write_import)
take_back_import = shared_task(name="smartcis.take_back_import", time_limit=IMPORT_ENDS_S)(
    taken_back.take_back_import
)


@shared_task(name="smartcis.poll_sources")
def poll_sources() -> int:
    """Has every source polled whose time has come; returns how many."""
    withdraw_disabled()
    due = due_sources(time.time())
    for source in due:
        poll_source.apply_async((source,), expires=POLL_EXPIRES_S)
    return len(due)


@shared_task(name="smartcis.poll_source", soft_time_limit=POLL_S, time_limit=POLL_ENDS_S)
def poll_source(source: str) -> int:
    """Polls one source, unless somebody else is at it or was just now; returns how many."""
    poll = partial(poll_if_due, source, composition.log())
    return alone(f"poll:{source}", POLL_ENDS_S, poll)


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


@shared_task(name="smartcis.keep_targets")
def keep_targets() -> int:
    """Notes where visitors are led by now; returns for how many walks that is news."""
    if not RouteRequest.objects.exists():
        return 0
    return alone("targets", TARGETS_LOCK_S, lambda: targets.keep_targets(composition.results()))


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


@heartbeat_sent.connect
def _beat(**_: object) -> None:
    """Beats when the worker does, every two seconds."""
    beat()
