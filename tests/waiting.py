"""Waiting in tests: generously, for what comes soon when all is well."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from aspen.results.redis_results import RedisResults

PATIENCE_S = 120.0  # what a busy machine may take


def until(
    holds: Callable[[], object],
    what: str | Callable[[], object] = "what was waited for",
    *,
    patience_s: float = PATIENCE_S,
    pause_s: float = 0.02,
    also: Callable[[], object] = lambda: None,
) -> Any:
    """Wait until something holds; returns it.

    Args:
        what: for the failure's message.
        also: done between two looks.
    """
    deadline = time.monotonic() + patience_s
    while not (found := holds()):
        late = time.monotonic() >= deadline
        assert not late, f"{what() if callable(what) else what}: not within {patience_s:g} s"
        also()
        time.sleep(pause_s)
    return found


def wait_for_position(store: RedisResults, position: int, wait_s: float) -> bool:
    """Whether the results reach a position of the log in time."""
    return bool(store.wait_until(lambda: store.head()[1] >= position or None, wait_s))
