"""Polling: one Protocol for sources that answer when asked."""

from __future__ import annotations

import asyncio
import random
import time

import structlog

from aspen.errors import AspenError
from smartcis.wrappers.protocol import Append, Poller

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0

logger = structlog.get_logger(__name__)


def pause_s(failures: int, rng: random.Random, longest_s: float = LONGEST_PAUSE_S) -> float:
    """Give the wait before the next attempt: doubling, at most `longest_s`, half of it chance.

    Chance keeps a crowd of readers from knocking at the same moment when a source comes back.
    """
    whole = min(FIRST_PAUSE_S * 2.0 ** min(failures, 16), longest_s)
    return whole * rng.uniform(0.5, 1.0)


def ask(poller: Poller, append: Append) -> bool:
    """Poll once; a failure goes to the pulse.

    Returns:
        Whether the source answered.
    """
    try:
        poller.poll(append)
    except AspenError as down:
        reason = f"{down.message} ({down.found})" if down.found else down.message
        poller.pulse.trouble(reason)
        logger.warning("source down", source=poller.declaration.source, reason=reason)
        return False
    return True


async def poll_for_ever(poller: Poller, append: Append) -> None:
    """Poll at the declared period until cancelled; sooner, with back-off, while it is down."""
    rng, failures = random.Random(), 0
    while True:
        began_s = time.monotonic()
        answered = await asyncio.to_thread(ask, poller, append)
        failures = 0 if answered else failures + 1
        period_s = poller.declaration.period_s
        wait_s = period_s if answered else pause_s(failures, rng, period_s)
        await asyncio.sleep(max(0.0, wait_s - (time.monotonic() - began_s)))
