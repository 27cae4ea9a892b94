"""Ask the sources that answer when asked."""

from __future__ import annotations

from celery import shared_task

from smartcis.composition import log
from smartcis.sources.reader import poll_due
from smartcis.tasks.alone import alone

LOCK_S = 300


@shared_task(name="smartcis.poll_sources")
def poll_sources() -> int:
    """Polls every source whose time has come; one caller at a time.

    Returns:
        How many were polled.
    """
    return alone("poll", LOCK_S, lambda: poll_due(log()))
