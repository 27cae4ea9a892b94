"""Pulse: what a reader knows of its source's health, and when to say so in the log.

    source answers    ·  ·  ·  ·                 ·  ·
    heartbeat rows    h     h     h(reason) h    h     h
    state of view     live ············ late  dead  live

Law:        the state is a function of the heartbeat rows and the log's clock alone; a reader that
            stops writing them makes its source late and then dead, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from aspen.model.schema import Row

LATE_PERIODS = 2.0  # one word may get lost
DEAD_PERIODS = 4.0
GRACE_S = 3.0  # ticks, polls and batches each take up to a second
BEATS_PER_DEATH = 3.0  # so often a reader speaks within the time that would make it dead
REASON_LENGTH = 300


def late_s(period_s: float) -> float:
    """Returns the silence that makes a source late."""
    return LATE_PERIODS * period_s + GRACE_S


def dead_s(period_s: float) -> float:
    """Returns the silence that makes a source dead."""
    return DEAD_PERIODS * period_s + GRACE_S


@dataclass(slots=True)
class Pulse:
    """One source as its reader knows it.

    Args:
        source: its id.
        period_s: expected seconds between two words of it.
        began_s: when it was added; it has been silent since then at most.
    """

    source: str
    period_s: float
    began_s: float
    since_s: float = field(default=0.0)
    heard_s: float = field(default=0.0)
    beat_s: float = field(default=float("-inf"))
    reason: str = ""
    _changed: bool = False

    def __post_init__(self) -> None:
        self._changed = self.beat_s <= 0.0
        self.since_s = self.since_s or self.began_s
        self.heard_s = self.heard_s or self.began_s

    @property
    def never(self) -> bool:
        """Whether it has not been heard since it was added."""
        return self.heard_s <= self.began_s

    def heard(self, now_s: float, reason: str = "") -> None:
        """Notes that the source spoke; `reason` names what of it could not be used."""
        if now_s - self.heard_s > dead_s(self.period_s) or self.never:
            self.since_s = now_s  # it was dead, or is heard for the first time
        if now_s - self.heard_s > late_s(self.period_s) or self.never:
            self._changed = True  # it is live again: said at once
        self.heard_s = max(self.heard_s, now_s)
        self.trouble(reason)

    def trouble(self, reason: str) -> None:
        """Notes what is wrong: why the source did not answer, or what of it cannot be used."""
        short = reason[:REASON_LENGTH]
        self._changed = self._changed or short != self.reason
        self.reason = short

    def due(self, now_s: float) -> Row | None:
        """Returns the heartbeat row to append now, None while nothing needs saying."""
        rest_s = dead_s(self.period_s) / BEATS_PER_DEATH
        waiting = self.heard_s > self.beat_s and now_s - self.beat_s >= self.period_s
        if not (self._changed or waiting or now_s - self.beat_s >= rest_s):
            return None
        self.beat_s = now_s
        self._changed = False
        return (self.source, self.since_s, self.heard_s, self.reason, now_s)

    def unsaid(self) -> None:
        """Takes back that the last heartbeat was said: its append failed."""
        self.beat_s, self._changed = float("-inf"), True
