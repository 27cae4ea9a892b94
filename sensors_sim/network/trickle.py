"""Trickle: talk often while something is new, ever more rarely while all agree.

    new!  |.|. |.   |.       |.               |.                               |
          intervals double, one beacon in the second half of each, unless four others said the same

Source: [Trickle] RFC 6206, sections 4.2 and 5; one timer carries routing and dissemination.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sensors_sim.constants import TRICKLE_GREATEST_S, TRICKLE_LEAST_S
from sensors_sim.network.events import Events
from sensors_sim.network.mote import Mote


@dataclass(eq=False)
class Trickle:
    """The beacon timers of all motes.

    Args:
        speak: sends a mote's beacon, unless it has overheard enough of the same.
    """

    events: Events
    speak: Callable[[Mote], None]

    def start(self, mote: Mote) -> None:
        """Begin with the shortest interval."""
        mote.interval_s = 0.0
        self.reset(mote)

    def reset(self, mote: Mote) -> None:
        """Something is new: fall back to the shortest interval, unless it is running already."""
        least_s = TRICKLE_LEAST_S + mote.sleepiest_s  # a broadcast must fit in
        if mote.interval_s == least_s:
            return
        mote.interval_s = least_s
        mote.generation += 1
        self._plan(mote, self.events.now_s)

    def _plan(self, mote: Mote, begin_s: float) -> None:
        mote.overheard = 0
        half_s = mote.interval_s / 2
        due_s = begin_s + half_s + mote.rng.random() * half_s
        self.events.at(due_s, self._fire, mote, mote.generation, begin_s + mote.interval_s)

    def _fire(self, mote: Mote, generation: int, end_s: float) -> None:
        if generation != mote.generation or not mote.alive:
            return
        self.speak(mote)
        mote.interval_s = min(mote.interval_s * 2, TRICKLE_GREATEST_S)
        self._plan(mote, end_s)
