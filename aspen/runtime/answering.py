"""Answering: who computes the answers to questions, the lane itself or somebody beside it.

    here      epoch 7: question, answer
    beside    epoch 7: question    epoch 8    epoch 9: answer, as of epoch 7

Law: both give the same answer, which is what was true at the question's position in the log.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from aspen.log.entry import OneTimeQuery
from aspen.results.protocol import ViewChange

Compute = Callable[[], ViewChange]
"""Returns the transient view that answers a question, with an error or its rows; never raises."""


class Answer(NamedTuple):
    """What was found.

    Args:
        ask: which question's.
        change: the transient view that answers it.
        used_s: seconds of the processor that it took.
    """

    ask: str
    change: ViewChange
    used_s: float


class Answering(Protocol):
    """Computes answers."""

    def epoch(self) -> None:
        """Note that what the last epoch told is known by now."""

    def begin(self, entry: OneTimeQuery, compute: Compute) -> None:
        """Begin to look for an answer over the lane as it is now.

        Raises:
            AspenError: it cannot be looked for now.
        """

    def finished(self) -> list[Answer]:
        """Returns the answers that were found since this was asked last."""

    def end(self, ask: str) -> None:
        """Let a question go that nobody waits for any more, if it is still there."""

    def abandon(self) -> None:
        """Let all go, because the lane is gone."""


class Here:
    """Computes each answer at once, in the lane itself.

    Args:
        clock: returns seconds of the processor.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._finished: list[Answer] = []

    def epoch(self) -> None:
        """Does nothing: what was found was told at once."""

    def begin(self, entry: OneTimeQuery, compute: Compute) -> None:
        """Find the answer."""
        began_s = self._clock()
        change = compute()
        self._finished.append(Answer(entry.ask, change, self._clock() - began_s))

    def finished(self) -> list[Answer]:
        """Returns it."""
        finished, self._finished = self._finished, []
        return finished

    def end(self, ask: str) -> None:
        """Does nothing: nobody is still looking."""

    def abandon(self) -> None:
        """Does nothing."""
