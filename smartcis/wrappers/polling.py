"""Polling: one Protocol for sources that answer when asked."""

from __future__ import annotations

import abc
import asyncio
import random
import re
import time
from collections.abc import Callable, Sequence

import structlog

from aspen.errors import AspenError
from aspen.model.schema import Relation
from smartcis.wrappers.base import BaseWrapper
from smartcis.wrappers.errors import BadConfig
from smartcis.wrappers.protocol import Append, Capability, Poller, Settings

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0

logger = structlog.get_logger(__name__)


def pause_s(failures: int, rng: random.Random, longest_s: float = LONGEST_PAUSE_S) -> float:
    """Returns the wait before the next attempt: doubling, at most `longest_s`, half of it chance.

    Chance keeps a crowd of readers from knocking at the same moment when a source comes back.
    """
    whole = min(FIRST_PAUSE_S * 2.0 ** min(failures, 16), longest_s)
    return whole * rng.uniform(0.5, 1.0)


def ask(poller: Poller, append: Append) -> bool:
    """Polls once; a failure goes to the pulse.

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


def named(warnings: Sequence[str]) -> str:
    """Returns the first warning, and how many more there are; empty without one."""
    if not warnings:
        return ""
    more = f" (and {len(warnings) - 1} more)" if len(warnings) > 1 else ""
    return f"{warnings[0]}{more}"


def pattern_with(settings: Settings, standard: str, groups: Sequence[str]) -> str:
    """Returns the configured pattern, or the standard one.

    Raises:
        BadConfig: it lacks a group by which the reader knows what it found.
    """
    pattern = str(settings.config["pattern"]) or standard
    missing = [name for name in groups if name not in re.compile(pattern).groupindex]
    if missing:
        raise BadConfig(
            f"the pattern has no group {missing[0]!r}",
            found=pattern[:80],
            exists=[f"(?P<{name}>…)" for name in groups],
        )
    return pattern


class PolledSource(BaseWrapper, abc.ABC):
    """What all sources that are polled have in common; each adds its `poll`."""

    def __init__(
        self,
        settings: Settings,
        clock: Callable[[], float],
        feeds: Sequence[str | Relation],
        *capabilities: Capability,
    ) -> None:
        super().__init__(settings, clock, feeds, Capability.POLL, *capabilities)
        self.warnings: list[str] = []

    async def run(self, append: Append) -> None:
        """Polls until cancelled."""
        await poll_for_ever(self, append)

    @abc.abstractmethod
    def poll(self, append: Append) -> None:
        """Asks once; see `Poller.poll`."""


async def poll_for_ever(poller: Poller, append: Append) -> None:
    """Polls at the declared period until cancelled; sooner, with back-off, while it is down."""
    rng, failures = random.Random(), 0
    while True:
        began_s = time.monotonic()
        answered = await asyncio.to_thread(ask, poller, append)
        failures = 0 if answered else failures + 1
        period_s = poller.declaration.period_s
        wait_s = period_s if answered else pause_s(failures, rng, period_s)
        await asyncio.sleep(max(0.0, wait_s - (time.monotonic() - began_s)))
