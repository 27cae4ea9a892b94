"""Alone: work that only one process at a time may be at."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from django.conf import settings
from redis.exceptions import LockError

from smartcis.composition import server


def alone(name: str, lock_s: float, work: Callable[[], int]) -> int:
    """Works under a lock of that name; returns what came of it, 0 where somebody else is at it.

    Args:
        lock_s: after that long whoever holds the lock counts as dead.
    """
    lock = server().lock(f"{settings.NAME}:{name}", timeout=lock_s, blocking=False)
    if not lock.acquire():
        return 0
    try:
        return work()
    finally:
        # It may have taken longer than the lock lasts: then somebody else is at it by now.
        with contextlib.suppress(LockError):
            lock.release()
