"""Retention: when a fold may take the place of the log's oldest entries.

    log        base ├──────── kept ────────┤ head
    folds           ▲ candidate            ▲ offered: the candidate becomes the base

The newest `keep` entries always stay, so that an engine whose last batches were not marked as
done, and people who look for what happened, find them.
"""

from __future__ import annotations

from aspen.log.protocol import Base, Log

KEEP_ENTRIES = 100_000  # at twenty entries a second about 80 minutes


class Retention:
    """Compacts one log as its engine offers folds.

    Args:
        keep: entries that stay behind the newest fold.

    Law: the log holds at least the newest `keep` entries that were ever appended.
    """

    def __init__(self, log: Log, keep: int = KEEP_ENTRIES) -> None:
        self._log = log
        self._keep = keep
        self._candidate: Base | None = None

    def offer(self, fold: Base) -> bool:
        """Take a fold of the log into account.

        Returns:
            Whether the log was compacted.
        """
        candidate = self._candidate
        if candidate is None:
            self._candidate = fold
            return False
        if candidate.position + self._keep > fold.position:
            return False
        self._log.compact(candidate)
        self._candidate = fold
        return True
