"""Ask the sources that answer when asked."""

from __future__ import annotations

import contextlib

from celery import shared_task
from django.conf import settings
from redis.exceptions import LockError

from smartcis.composition import log, server
from smartcis.wrappers.reader import poll_due

LOCK_S = 300


@shared_task(name="smartcis.poll_sources")
def poll_sources() -> int:
    """Poll every source whose time has come; one caller at a time.

    Returns:
        How many were polled.
    """
    lock = server().lock(f"{settings.NAME}:poll", timeout=LOCK_S, blocking=False)
    if not lock.acquire():
        return 0
    try:
        return poll_due(log())
    finally:
        # It may have taken longer than the lock lasts: then somebody else polls by now.
        with contextlib.suppress(LockError):
            lock.release()
