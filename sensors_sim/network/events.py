"""Events: what happens next, in simulated time; ties in the order they were planned.

Law: the same calls give the same order; `run(a)` then `run(b)` does what `run(b)` does alone.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

from sensors_sim.network.mote import Mote

Action = Callable[..., None]


class Events:
    """The event queue of one network."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.handled = 0
        self._heap: list[tuple[float, int, Action, tuple[Any, ...]]] = []
        self._planned = 0

    def at(self, due_s: float, action: Action, *args: Any) -> None:
        """Plan an action; a time that has passed means now."""
        self._planned += 1
        heapq.heappush(self._heap, (max(due_s, self.now_s), self._planned, action, args))

    def at_mote(self, mote: Mote, due_s: float, action: Action, *args: Any) -> None:
        """Plan an action of a mote, which one that dies or reboots meanwhile has forgotten.

        What its memory held is not kept until then: reboots are counted.
        """
        self.at(due_s, self._unless_forgotten, mote, mote.reboots, action, args)

    @staticmethod
    def _unless_forgotten(mote: Mote, reboots: int, action: Action, args: tuple[Any, ...]) -> None:
        if mote.alive and mote.reboots == reboots:
            action(mote, *args)

    def run(self, until_s: float) -> None:
        """Let time pass up to and including a moment."""
        heap = self._heap
        pop = heapq.heappop
        while heap and heap[0][0] <= until_s:
            due_s, _, action, args = pop(heap)
            self.now_s = due_s
            self.handled += 1
            action(*args)
        self.now_s = max(self.now_s, until_s)
