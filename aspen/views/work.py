"""Work: what operators do for one query, counted in steps, and the errors of who exceeds.

    a ⋈ b     probe 1: 7,000 pairs    probe 2: 7,000 pairs  …  probe 286: 2,000,000 are exceeded

A step is one pair, derivation or edge that an operator looks at. Steps are counted, not seconds:
a lane that is built again from the log does the same work and finds the same excess. Time ends
questions alone, whose answers pass.

Law:    what is within its bounds has the rows it has without any; who exceeds them ends alone.
Source: own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from aspen.errors import AspenError

UNBOUNDED = 0
AT_ONCE = 10_000
"""So many steps are counted together, and so many may any query take, whatever else is going on."""
ANY = 1 << 62
RECURSION = "a recursion"
"""How messages name it, whichever operator maintains it."""


class WorkExceeded(AspenError, code="aspen.views.work_exceeded"):
    """A query that asks more of the engine than one query may."""


class StateExceeded(WorkExceeded, code="aspen.views.state_exceeded"):
    """A query whose operators hold more than those of one query may."""


class RowsExceeded(WorkExceeded, code="aspen.views.rows_exceeded"):
    """A query with more rows than one may have."""


class TimeExceeded(WorkExceeded, code="aspen.views.time_exceeded"):
    """A question that takes longer than one may."""


class ShareExceeded(WorkExceeded, code="aspen.views.share_exceeded"):
    """Queries of one owner that take more together than one owner's may."""


class Meter:
    """Counts the steps of whichever operator is at work, one after the other.

    `most` is how many it may take, UNBOUNDED for any number; after `left` more, `ask` is asked
    whether it may go on with them.
    """

    __slots__ = ("_ask", "_begun", "_held", "left", "most")

    def __init__(self) -> None:
        self.begin(UNBOUNDED)

    @property
    def spent(self) -> int:
        """Returns the steps since the beginning."""
        return self._begun - self.left - self._held

    def begin(self, most: int, ask: Callable[[int, str], None] | None = None) -> None:
        """Count anew.

        Args:
            ask: called every AT_ONCE steps with how many were taken and by what; it may raise.
        """
        self.most, self._ask = most, ask
        self._begun = most or ANY
        self.left = self._begun if ask is None else min(self._begun, AT_ONCE)
        self._held = self._begun - self.left

    @property
    def rest(self) -> int:
        """Returns the steps that are left in all."""
        return self.left + self._held

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Count something else meanwhile, and go on where it was."""
        before = (self.most, self._ask, self._begun, self.left, self._held)
        try:
            yield
        finally:
            self.most, self._ask, self._begun, self.left, self._held = before

    def spend(self, steps: int, what: str) -> None:
        """Take steps.

        Args:
            what: the operator, as a sentence begins with it.

        Raises:
            WorkExceeded: there are no more.
        """
        self.left -= steps
        if self.left < 0:
            self._go_on(what)

    def _go_on(self, what: str) -> None:
        if self.rest >= 0 and self._ask is not None:
            self._ask(self.spent, what)
            more = min(self._held, AT_ONCE - self.left)
            self.left += more
            self._held -= more
            return
        raise WorkExceeded(
            f"{what} takes more than the {self.most:,} steps that one query may",
            found=what,
            exists=(f"up to {self.most:,} steps an epoch",),
            attempt="join on equal columns, select before you join, or begin from fewer rows",
        )


UNMETERED = Meter()
"""Of operators outside a circuit."""
