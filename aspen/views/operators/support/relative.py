"""Relative: rows refer to the derivations they come from; a deletion walks these to base rows.

    −bc       ac ← ab·bc ✗   ac ← ad·dc        ac stays if the walk from ad reaches base rows

Law:        exactly the rows without a well-founded derivation are retracted.
Algorithm:  T. J. Green et al., "Update Exchange with Mappings and Provenance", VLDB 2007, the
            "relative provenance" [LTZIL09] compares with. Own: the derivation graph is what MinShip
            holds, and what was found founded in an epoch is not walked again.
State:      within an epoch, the groups found founded.
Receives:   what its Fixpoint offers, settles, retracts and withdraws.     Gives: groups that fall.
Ends:       each derivation is walked once per epoch, up to all of the view.
"""

from __future__ import annotations

from aspen.model.schema import Row
from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.rules import Rules
from aspen.views.operators.support.founded import unfounded
from aspen.views.operators.support.protocol import Support
from aspen.views.operators.support.stateless import StatelessSupport


class Relative(StatelessSupport):
    """See the module's head.

    Args:
        rules: of the recursion.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._suspects: dict[Group, None] = {}
        self._founded: set[Group] = set()

    def withdrawn(self, group: Group, source: Source, row: Row) -> None:
        """Note groups whose settled row lost a derivation."""
        del source
        if group.best is not None and group.best == row:
            self._suspects[group] = None

    def fallen(self) -> list[Group]:
        """Walk from the suspects; give the rows no walk from which reaches base rows."""
        suspects, self._suspects = self._suspects, {}
        settled = [group for group in suspects if group.best is not None]
        return unfounded(self._rules, settled, self._founded)

    def end(self) -> Support | None:
        """Forget the walks: the next epoch may take away what they rested on."""
        self._founded.clear()
        return None

    def clear(self) -> None:
        """Forget the walks."""
        self._suspects.clear()
        self._founded.clear()
