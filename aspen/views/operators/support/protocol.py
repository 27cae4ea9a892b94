"""Support: what a maintenance strategy has to know, so that all of them share one Fixpoint.

    epoch      doomed?  ──►  retract  ──►  withdraw what used gone rows  ──►  fallen?  ──►  arise
    support    asked                       called with each lost derivation       asked until none

Law:        after `fallen` gives nothing more, every settled row has a derivation from base rows
            through settled rows alone, or was retracted; retracting more than needed is allowed,
            because a retracted row with a live derivation settles again in the same epoch.
            `Group.via` of a row that stays is live and leads to base rows, or is None: unknown.
Algorithm:  the implementation's own; see `strategies`.
State:      whatever it wants to remember of groups and sources.
Receives:   an epoch's derivations as they come and go.     Gives: groups to retract.
Ends:       `fallen` must come to give nothing: every group falls at most once per epoch.
"""

from __future__ import annotations

from typing import Protocol

from aspen.model.schema import Row
from aspen.views.operators.min_ship import Group, Source


class Support(Protocol):
    """Remembers on what settled rows rest.

    `wants_offers` says whether `offered` is to be called for each derivation, which costs a call
    on the hottest path. `rebuilds` says that nothing is decided: every epoch starts from scratch.
    """

    wants_offers: bool
    rebuilds: bool

    def offered(self, group: Group, source: Source) -> None:
        """Hear of a derivation of a group's row, settled or not."""

    def settled(self, group: Group, source: Source) -> None:
        """Hear that a derivation went on; whatever it used is settled."""

    def retracted(self, group: Group) -> None:
        """Hear that a group is unsettled, before what used it is withdrawn."""

    def withdrawn(self, group: Group, source: Source, row: Row) -> None:
        """Hear, while rows are buried, that a group lost a derivation of a row."""

    def doomed(self) -> list[Group]:
        """Returns the settled groups that fall with the rows that went, as far as known at once."""

    def fallen(self) -> list[Group]:
        """Returns further groups to retract after derivations were withdrawn; empty at last."""

    def end(self) -> Support | None:
        """End the epoch.

        Returns:
            What goes on in this one's place, None as a rule.
        """

    def clear(self) -> None:
        """Forget everything: the recursion starts from scratch."""

    def close(self) -> None:
        """Let go of everything; called once."""
