"""Work: what operators may do for one query before it ends with an error.

    a ⋈ b     probe 1: 7,000 pairs    probe 2: 7,000 pairs  …  probe 286: 2,000,000 are exceeded

A step is one pair, derivation or edge that an operator looks at. Steps are counted, not seconds:
a lane that is built again from the log does the same work and finds the same excess.

Law:    what is within its bounds has the rows it has without any; who exceeds them ends alone.
Source: own.
"""

from __future__ import annotations

from aspen.errors import AspenError

UNBOUNDED = 0
AT_ONCE = 10_000
"""So many steps of a kind that takes no time each are counted together."""


class WorkExceeded(AspenError, code="aspen.views.work_exceeded"):
    """A query that asks more of the engine than one query may."""


class Meter:
    """Counts the steps of whichever operator is at work, one after the other.

    `most` is how many it may take, UNBOUNDED for any number.
    """

    __slots__ = ("left", "most")

    def __init__(self) -> None:
        self.begin(UNBOUNDED)

    def begin(self, most: int) -> None:
        """Count anew."""
        self.most = most
        self.left: float = most or float("inf")

    def spend(self, steps: int, what: str) -> None:
        """Take steps.

        Args:
            what: the operator, as a sentence begins with it.

        Raises:
            WorkExceeded: there are no more.
        """
        self.left -= steps
        if self.left < 0:
            raise WorkExceeded(
                f"{what} takes more than the {self.most:,} steps that one query may",
                found=what,
                exists=(f"up to {self.most:,} steps an epoch",),
                attempt="join on equal columns, select before you join, or begin from fewer rows",
            )


UNMETERED = Meter()
"""Of operators outside a circuit."""
