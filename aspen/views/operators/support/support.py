"""Support: what a maintenance strategy has to know, so that all of them share one Fixpoint.

    epoch      doomed?  ──►  retract  ──►  withdraw what used gone rows  ──►  fallen?  ──►  arise
    support    asked                       called with each lost derivation       asked until none

Law:        after `fallen` gives nothing more, every settled row has a derivation from base rows
            through settled rows alone, or was retracted; retracting more than needed is allowed,
            because a retracted row with a live derivation settles again in the same epoch.
            `Group.via` of a row that stays is live and leads to base rows, or is None: unknown.
Algorithm:  each strategy's own; see `strategies`.
State:      within an epoch, the groups in doubt; whatever else a strategy wants to remember.
Receives:   an epoch's derivations as they come and go.     Gives: groups to retract.
Ends:       `fallen` must come to give nothing: every group falls at most once per epoch.
"""

from __future__ import annotations

from aspen.model.schema import Row
from aspen.views.operators.min_ship import Group, Source


class Support:
    """Remembers on what settled rows rest; a strategy overrides what it decides by.

    `wants_offers` says whether `offered` is to be called for each derivation, which costs a call
    on the hottest path. `rebuilds` says that nothing is decided: every epoch starts from scratch.
    `doubts_any` says that a row is in doubt when it loses any derivation, not just the one it
    rests on.
    """

    wants_offers = False
    rebuilds = False
    doubts_any = False

    def __init__(self) -> None:
        self._suspects: dict[Group, None] = {}

    def offered(self, group: Group, source: Source) -> None:
        """Hear of a derivation of a group's row, settled or not."""

    def settled(self, group: Group, source: Source) -> None:
        """Hear that a derivation went on; whatever it used is settled."""

    def retracted(self, group: Group) -> None:
        """Hear that a group is unsettled, before what used it is withdrawn."""

    def withdrawn(self, group: Group, source: Source, row: Row) -> None:
        """Hear, while rows are buried, that a group lost a derivation of a row."""
        if self.doubts_any:
            if group.best is not None and group.best == row:
                self._suspects[group] = None
        elif group.via is not None and group.via == source:
            self._suspects[group] = None

    def doomed(self) -> list[Group]:
        """Returns the settled groups that fall with the rows that went, as far as known at once."""
        return []

    def fallen(self) -> list[Group]:
        """Returns further groups to retract after derivations were withdrawn; empty at last."""
        suspects, self._suspects = self._suspects, {}
        return self.convicted(list(suspects))

    def convicted(self, suspects: list[Group]) -> list[Group]:
        """Returns the groups that fall, of those in doubt and what they had hung on."""
        return suspects

    def end(self) -> Support | None:
        """End the epoch.

        Returns:
            What goes on instead of this one, None as a rule.
        """
        self.forget()
        return None

    def forget(self) -> None:
        """Forget whom this epoch doubted and why: the next may take away what that rested on."""
        self._suspects.clear()

    def clear(self) -> None:
        """Forget everything: the recursion starts from scratch."""
        self.forget()

    def close(self) -> None:
        """Let go of everything; called once."""
