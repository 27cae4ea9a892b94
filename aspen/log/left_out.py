"""Entries that nobody takes up again: each ended the engine more than once."""

from __future__ import annotations

from dataclasses import dataclass

from aspen.log.entry import Quarantined


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An entry that nobody takes up again where it stands.

    Args:
        position: where that is.
        entry: its text.
        deaths: how often the engine ended at it.
        at_s: wall clock when that was noticed.
        taken_in_at: where it was appended anew, 0 while nobody wanted that.
    """

    position: int
    entry: str
    deaths: int
    at_s: float
    taken_in_at: int = 0

    @property
    def quarantined(self) -> Quarantined:
        """What lanes read in its place."""
        return Quarantined.of(self.entry, self.deaths)
