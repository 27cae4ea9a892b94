"""StatelessSupport: a support that keeps nothing; its strategies implement only what they decide.

Law:        nothing falls.
Algorithm:  none.
State:      none.
Receives:   every call of a Support, and ignores it.     Gives: nothing.
Ends:       at once.
"""

from __future__ import annotations

from aspen.model.schema import Row
from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.support.protocol import Support


class StatelessSupport:
    """What is common to a strategy whose only state is the groups' own."""

    wants_offers = False
    rebuilds = False

    def offered(self, group: Group, source: Source) -> None:
        """Not asked for."""

    def settled(self, group: Group, source: Source) -> None:
        """The group notes its justification itself."""

    def retracted(self, group: Group) -> None:
        """Nothing is kept."""

    def withdrawn(self, group: Group, source: Source, row: Row) -> None:
        """Nothing is kept."""

    def doomed(self) -> list[Group]:
        """None is known before derivations are withdrawn."""
        return []

    def fallen(self) -> list[Group]:
        """None."""
        return []

    def end(self) -> Support | None:
        """Nothing was kept."""
        return None

    def clear(self) -> None:
        """Nothing is kept."""

    def close(self) -> None:
        """Nothing is kept."""
