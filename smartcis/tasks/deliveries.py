"""Hand out what queries with outputs say."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from celery import shared_task
from django.conf import settings
from redis.exceptions import LockError

from smartcis.composition import results, server
from smartcis.deliveries.collect import collect
from smartcis.deliveries.send import send_due, sweep_settled
from smartcis.models import Outlet

LOCK_S = 120


def _alone(name: str, work: Callable[[], int]) -> int:
    """Work under a lock of that name; nothing where somebody else does, or nobody has outputs."""
    if not Outlet.objects.exists():
        return 0
    lock = server().lock(f"{settings.NAME}:{name}", timeout=LOCK_S, blocking=False)
    if not lock.acquire():
        return 0
    try:
        return work()
    finally:
        # It may have taken longer than the lock lasts: then somebody else is at it by now.
        with contextlib.suppress(LockError):
            lock.release()


@shared_task(name="smartcis.collect_deliveries")
def collect_deliveries() -> int:
    """Take in what happened to queries with outputs; give how many rows came or went."""
    return _alone("collect", lambda: collect(results()))


@shared_task(name="smartcis.send_deliveries")
def send_deliveries() -> int:
    """Make the calls that are due; give how many were taken."""
    return _alone("send", send_due)


@shared_task(name="smartcis.sweep_deliveries")
def sweep_deliveries() -> int:
    """Forget calls settled long ago."""
    return sweep_settled()
