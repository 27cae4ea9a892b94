"""DRed: delete whatever lost a derivation, then derive again what still has one.

    rows      ab   ac   ad         ac ← ab·bc, ac ← link(a, c)
    −bc            ✗    ✗          over-deleted: ac lost one of two, and ad was derived from it
    again          ac   ad

Law:        what is retracted contains every row without a derivation left.
Algorithm:  A. Gupta, I. S. Mumick, V. S. Subrahmanian, "Maintaining Views Incrementally",
            SIGMOD 1993. Own: re-derivation reads the derivations that were not withdrawn
            instead of evaluating the rules again.
State:      none.
Receives:   what its Fixpoint offers, settles, retracts and withdraws.     Gives: groups that fall.
Ends:       each group is retracted once per epoch.
"""

from __future__ import annotations

from aspen.model.schema import Row
from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.support.stateless import StatelessSupport


class DRed(StatelessSupport):
    """See the module's head."""

    def __init__(self) -> None:
        self._fallen: dict[Group, None] = {}

    def withdrawn(self, group: Group, source: Source, row: Row) -> None:
        """Note groups whose settled row lost a derivation, whichever it was."""
        del source
        if group.best is not None and group.best == row:
            self._fallen[group] = None

    def fallen(self) -> list[Group]:
        """Returns those who lost a derivation since the last call."""
        fallen, self._fallen = self._fallen, {}
        return list(fallen)

    def clear(self) -> None:
        """Forget who lost one."""
        self._fallen.clear()
