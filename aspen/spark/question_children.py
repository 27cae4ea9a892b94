"""Question children: questions are computed beside the lane, so no epoch waits for one.

    lane     epoch 7 ─ fork ──────── epoch 8 ──────── epoch 9: the answer, as of epoch 7
    child             └─ lane as in epoch 7 ──────── ends

First:   the lane waits a moment: what is answered by then comes in the epoch of its question. Who
         needs longer stands back behind what else there is to do.
Turns:   two children compute at a time, one of an owner. The others stand still, with the lane as
         it was when they were asked, and take turns by owner; beyond a few, questions are refused.
Bounds:  the child sees the question's own steps and time; the system bounds its processor time and
         memory; the lane ends it when its turn takes too long.
Lost:    a file names the questions that are being computed; whoever builds the lane after its
         process died refuses those instead of computing them again.
Law:     an answer is that of `aspen.runtime.answering.Here`.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from aspen.errors import AspenError
from aspen.log.entry import OneTimeQuery
from aspen.runtime.answering import Answer, Compute
from aspen.spark.question_child import QuestionChild
from aspen.views.work import ShareExceeded

AT_ONCE = 2
WAITING = 6
"""Children that stand still hold what the lane has changed since, hence few."""
OF_ONE = 3
"""Questions of one owner at once."""
MOMENT_S = 0.025
"""How long a lane waits for an answer."""
MOMENTS_PART = 0.04
"""Of a lane's time that it may wait for children."""
LANES_WEIGHT = 10
"""Seconds of a child for which a second of the lane counts: everybody waits for that one."""
NAMES_SUFFIX = ".asked"
_RETRY_S = 2


class QuestionsBusy(AspenError, code="aspen.spark.questions_busy"):
    """More questions are being answered than may be at once."""


class QuestionChildren:
    """The questions of one lane that are being computed beside it.

    Args:
        names: file that names them, None for none.
    """

    def __init__(self, names: Path | None = None) -> None:
        self._names = names
        self._children: list[QuestionChild] = []
        self._dying: list[QuestionChild] = []
        self._named: set[str] = set()
        self._turns: dict[str, int] = {}
        self._begun = 0
        self._waits_again_s = 0.0

    def lost(self) -> set[str]:
        """Returns the questions that were being computed when the lane's last process ended."""
        try:
            return set() if self._names is None else set(self._names.read_text().split())
        except OSError:
            return set()

    def epoch(self) -> None:
        """Note which questions are still being computed: what was told is known by now."""
        self._name({child.entry.ask for child in self._children})
        for child in [child for child in self._dying if child.ends_within(0.0)]:
            self._dying.remove(child)
            child.close()

    def begin(self, entry: OneTimeQuery, compute: Compute) -> None:
        """Fork a child that computes an answer when its turn comes.

        Raises:
            ShareExceeded, QuestionsBusy: there are too many already.
        """
        self._check_room(entry)
        self._name({*self._named, entry.ask})
        began_s = time.thread_time()
        try:
            child = QuestionChild(entry, compute)
        except OSError as error:
            raise QuestionsBusy(
                "there is no room for one more question now",
                found=error.strerror or "",
                attempt=f"again in {_RETRY_S} s",
            ) from error
        child.used_s = LANES_WEIGHT * (time.thread_time() - began_s)
        self._children.append(child)
        self._take_turns()
        began_s = time.monotonic()
        if child.since_s and began_s >= self._waits_again_s:
            child.ends_within(MOMENT_S)
            self._waits_again_s = began_s + (time.monotonic() - began_s) / MOMENTS_PART

    def finished(self) -> list[Answer]:
        """Returns what was found; whose turn takes too long is ended."""
        found = []
        for child in list(self._children):
            if child.ends_within(0.0) or child.is_overdue():
                found.append(child.answer())
                self._let_go(child)
        self._take_turns()
        for child in self._children:
            child.stand_back()
        return found

    def end(self, ask: str) -> None:
        """End a child whose answer nobody waits for any more."""
        for child in [child for child in self._children if child.entry.ask == ask]:
            self._let_go(child)

    def abandon(self) -> None:
        """End all."""
        for child in list(self._children):
            self._let_go(child)

    def _check_room(self, entry: OneTimeQuery) -> None:
        of_owner = sum(child.entry.owner == entry.owner for child in self._children)
        if entry.owner and of_owner >= OF_ONE:
            raise ShareExceeded(
                f"{of_owner} of your questions are being answered",
                found="your questions",
                exists=(f"up to {OF_ONE} at once",),
                attempt=f"again in {_RETRY_S} s",
            )
        if len(self._children) >= AT_ONCE + WAITING:
            raise QuestionsBusy(
                f"{len(self._children)} questions are being answered",
                found="one more",
                exists=(f"up to {AT_ONCE + WAITING} at once",),
                attempt=f"again in {_RETRY_S} s",
            )

    def _take_turns(self) -> None:
        """Let those begin whose turn it is: whose owner's last turn is the longest ago."""
        owners = {child.entry.owner for child in self._children}
        self._turns = {owner: turn for owner, turn in self._turns.items() if owner in owners}
        while True:
            at_work = [child.entry.owner for child in self._children if child.since_s]
            waiting = [
                child
                for child in self._children
                if not child.since_s and not (child.entry.owner and child.entry.owner in at_work)
            ]
            if len(at_work) >= AT_ONCE or not waiting:
                return
            child = min(waiting, key=lambda one: self._turns.get(one.entry.owner, 0))
            child.begin()
            self._begun += 1
            self._turns[child.entry.owner] = self._begun

    def _let_go(self, child: QuestionChild) -> None:
        self._children.remove(child)
        if child.ends_within(0.0):
            child.close()
        else:  # it has to come to the processor to end
            child.kill()
            self._dying.append(child)

    def _name(self, asks: set[str]) -> None:
        if asks != self._named:
            self._named = asks
            if self._names is not None:
                with suppress(OSError):
                    self._names.write_text("\n".join(sorted(asks)))
