"""Accounts: what all queries and questions of one owner may take together.

    begun    first evaluations    steps
    kept     every epoch after    steps
    asked    questions            seconds of the processor

    3,000,000 ──60 queries of ann──► 0 ──log time: 30 s──► 3,000,000

Law:    `begun` follows from the log alone, however it is cut into batches, and stands in snapshots
        with `kept`: a view that was refused is refused again where its lane is built anew.
        Seconds are asked of questions alone, whose answers pass.
Source: own; token buckets that fill by the log's time, not the clock's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from typing import TYPE_CHECKING

from aspen.views.work import AT_ONCE, ShareExceeded

if TYPE_CHECKING:
    from aspen.views.budgets import Budget
    from aspen.views.node import Node

AT_ONCE_OF_ONE = 3
"""What all of one owner may take together is what so many queries or questions may."""
FILLS_S = 30.0
"""Log time in which what was taken is forgotten."""
ROW_BYTES = 400
"""What a row takes in an index or an operator, about."""
_LONGEST_S = 10 * FILLS_S


class Bucket:
    """What may be taken in FILLS_S; `most` is what it holds when full."""

    __slots__ = ("_at_s", "_owed", "most")

    def __init__(self) -> None:
        self.most = self._at_s = self._owed = 0.0

    def owed(self, now_s: float) -> float:
        """Returns what was taken and is not forgotten yet.

        Args:
            now_s: log time.
        """
        if now_s > self._at_s:
            self._owed = max(0.0, self._owed - self.most * (now_s - self._at_s) / FILLS_S)
            self._at_s = now_s
        return self._owed

    def left(self, now_s: float) -> float:
        """Returns what may be taken, below zero where more was taken than may be."""
        return self.most - self.owed(now_s)

    def wait_s(self, now_s: float, amount: float) -> float:
        """Returns the log time until so much may be taken, if nothing else is meanwhile."""
        return max(0.0, amount - self.left(now_s)) * FILLS_S / self.most

    def take(self, amount: float) -> None:
        """Take something, or give back what was taken."""
        self._owed = max(0.0, self._owed + amount)

    def dump(self) -> list[float]:
        """Returns the state."""
        return [self.most, self._at_s, self._owed]

    def load(self, state: Sequence[float]) -> None:
        """Take over the state that `dump` was called of."""
        self.most, self._at_s, self._owed = max(self.most, state[0]), *state[1:]


class OwnerAccount:
    """What an owner's queries and questions may do together."""

    __slots__ = ("asked", "begun", "budgets", "kept")

    def __init__(self) -> None:
        self.budgets: dict[Budget, None] = {}
        self.begun, self.kept, self.asked = Bucket(), Bucket(), Bucket()

    def left(self, now_s: float, passed_s: float = 0.0) -> float:
        """Returns the steps that are left for an epoch, below zero where more were taken.

        Args:
            now_s: log time.
            passed_s: the log time that the epoch takes in: who was behind by minutes does the
                work of minutes in one.
        """
        gained = self.kept.most * min(passed_s, _LONGEST_S) / FILLS_S
        return max(self.kept.most, gained) - self.kept.owed(now_s)

    def may_begin(self, now_s: float, steps: int) -> int:
        """Returns how many steps a first evaluation may take, of those a query may."""
        return min(steps, max(AT_ONCE, int(self.begun.left(now_s))))

    def too_much_begun(self, now_s: float, steps: int, what: str) -> ShareExceeded:
        """Returns the refusal of a query that may not begin yet.

        Args:
            steps: what it might have taken.
            what: the operator that took the last of them.
        """
        most, wait_s = self.begun.most, self.begun.wait_s(now_s, steps)
        return ShareExceeded(
            f"{what} takes more than your queries have left of the {most:,.0f} steps in which all"
            f" of them may begin within {FILLS_S:g} s",
            found=what,
            exists=(f"up to {most:,.0f} steps in {FILLS_S:g} s to begin with",),
            attempt=f"again in {ceil(max(1.0, wait_s))} s, or let it begin from fewer rows",
        )

    def idle(self, now_s: float) -> bool:
        """Whether it is as good as one that was never used."""
        owed = (bucket.owed(now_s) for bucket in (self.begun, self.kept, self.asked))
        return not self.budgets and not any(owed)

    def add(self, budget: Budget) -> None:
        """Take in one more query."""
        self.budgets[budget] = None
        for bucket in (self.begun, self.kept):
            bucket.most = max(bucket.most, AT_ONCE_OF_ONE * budget.steps)

    def held_bytes(self) -> int:
        """Estimate what the operators of all its queries hold."""
        return held_bytes({node for budget in self.budgets for node in budget.nodes})

    def dump(self) -> list[list[float]]:
        """Returns what a lane that goes on must know."""
        return [self.begun.dump(), self.kept.dump()]

    def load(self, state: Sequence[Sequence[float]]) -> None:
        """Take over what `dump` said."""
        for bucket, one in zip((self.begun, self.kept), state, strict=True):
            bucket.load(one)


def held_bytes(nodes: Iterable[Node]) -> int:
    """Estimate what operators hold that the house does not need; of what is shared, a part."""
    return sum(
        ROW_BYTES * node.weighed_rows // len(node.payers.budgets)
        for node in nodes
        if node.payers.most
    )
