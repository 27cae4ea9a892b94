"""Retention: when a fold may take the place of the log's oldest entries.

    log        base ├──────── kept ────────┤ head
    folds           ▲ candidate            ▲ offered: the candidate becomes the base

The newest `keep` entries stay, so that an engine whose last batches were not marked as done, and
people who look for what happened, find them; but none longer than `keep_s` and the time until the
next fold is offered, since readings tell where people were.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from aspen.log.base import Base
from aspen.log.redis_log import RedisLog

KEEP_ENTRIES = 100_000  # at twenty entries a second about 80 minutes
KEEP_S = 1_800.0  # an entry goes at the second fold after that: within about twice the time


class Retention:
    """Compacts one log as its engine offers folds.

    Args:
        keep: entries that stay behind the newest fold.
        keep_s: seconds after which fewer may stay.
        clock: gives seconds.

    Law: the log holds at least the newest `keep` entries that were ever appended, or all that came
    during the last `keep_s`.
    """

    def __init__(
        self,
        log: RedisLog,
        keep: int = KEEP_ENTRIES,
        keep_s: float = KEEP_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._log = log
        self._keep, self._keep_s = keep, keep_s
        self._clock = clock
        self._candidate: Base | None = None
        self._since_s = 0.0

    def offer(self, fold: Base) -> bool:
        """Take a fold of the log into account.

        Returns:
            Whether the log was compacted.
        """
        candidate, now_s = self._candidate, self._clock()
        if candidate is None:
            self._candidate, self._since_s = fold, now_s
            return False
        few = candidate.position + self._keep > fold.position
        if few and now_s < self._since_s + self._keep_s:
            return False
        self._log.compact(candidate)
        self._candidate, self._since_s = fold, now_s
        return True
