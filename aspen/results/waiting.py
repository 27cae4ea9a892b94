"""Waiting for the engine: whoever waits looks again when an epoch has been written, and no sooner.

look ── nothing ── next epoch, at most until the time is over ── look ── found
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from aspen.results.redis_results import RedisResults
from aspen.results.wire import EpochsForgotten

T = TypeVar("T")


def wait_until(store: RedisResults, look: Callable[[], T | None], wait_s: float) -> T | None:
    """Returns what a look at the results finds, None when no epoch brought it in time."""
    until_s = time.monotonic() + wait_s
    while True:
        head = store.head()[0]
        found = look()
        left_s = until_s - time.monotonic()
        if found is not None or left_s <= 0:
            return found
        with suppress(EpochsForgotten):  # another engine began meanwhile: look again
            next(store.epochs_since(head, left_s), None)
