"""Backward/forward: before a row is retracted, look backwards for another proof.

    −bc       ac rested on ab·bc ✗        ac ← ad·dc?  ad ← link(a, d): proved, and ac stays

Law:        exactly the rows without a proof are retracted.
Algorithm:  Motik et al., AAAI 2015; see `proofs`. Own: a row is doubted when it loses the
            derivation it rests on, not any.
State:      within an epoch, what Proofs keeps.
Receives:   what its Fixpoint offers, settles, retracts and withdraws.     Gives: groups that fall.
Ends:       each derivation is looked at once per epoch.
"""

from __future__ import annotations

from aspen.model.schema import Row
from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.rules import Rules
from aspen.views.operators.support.proofs import Proofs
from aspen.views.operators.support.protocol import Support
from aspen.views.operators.support.stateless import StatelessSupport


class BackwardForward(StatelessSupport):
    """See the module's head.

    Args:
        rules: of the recursion.
    """

    def __init__(self, rules: Rules) -> None:
        self._suspects: list[Group] = []
        self._proofs = Proofs(rules)

    def withdrawn(self, group: Group, source: Source, row: Row) -> None:
        """Note groups that lost the derivation they rest on."""
        del row
        if group.via is not None and group.via == source:
            self._suspects.append(group)

    def fallen(self) -> list[Group]:
        """Look for proofs of the suspects; give the rows that have none."""
        suspects, self._suspects = self._suspects, []
        return self._proofs.refuted(suspects)

    def end(self) -> Support | None:
        """Forget the proofs: the next epoch may take away what they rested on."""
        self.clear()
        return None

    def clear(self) -> None:
        """Forget the proofs."""
        self._suspects.clear()
        self._proofs.clear()
