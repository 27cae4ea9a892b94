"""Hand out what queries with outputs say."""

from __future__ import annotations

from collections.abc import Callable

from celery import shared_task

from smartcis.composition import results
from smartcis.deliveries.collect import collect
from smartcis.deliveries.send import send_due, sweep_settled
from smartcis.models import Outlet
from smartcis.tasks.alone import alone

LOCK_S = 120


def _alone(name: str, work: Callable[[], int]) -> int:
    """Works alone; nothing where nobody has outputs."""
    return alone(name, LOCK_S, work) if Outlet.objects.exists() else 0


@shared_task(name="smartcis.collect_deliveries")
def collect_deliveries() -> int:
    """Takes in what happened to queries with outputs; returns how many rows came or went."""
    return _alone("collect", lambda: collect(results()))


@shared_task(name="smartcis.send_deliveries")
def send_deliveries() -> int:
    """Makes the calls that are due; returns how many were taken."""
    return _alone("send", send_due)


@shared_task(name="smartcis.sweep_deliveries")
def sweep_deliveries() -> int:
    """Forgets calls settled long ago."""
    return sweep_settled()
