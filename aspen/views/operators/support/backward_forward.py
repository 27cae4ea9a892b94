"""Backward/forward: before a row is retracted, look backwards for another proof.

    −bc       ac rested on ab·bc ✗        ac ← ad·dc?  ad ← link(a, d): proved, and ac stays

Law:        exactly the rows without a proof are retracted.
Algorithm:  Motik et al., AAAI 2015; see `proofs`. Own: a row is doubted when it loses the
            derivation it rests on, not any.
State:      within an epoch, what Proofs keeps.
Ends:       each derivation is looked at once per epoch.
"""

from __future__ import annotations

from aspen.views.operators.min_ship import Group
from aspen.views.operators.rules import Rules
from aspen.views.operators.support.proofs import Proofs
from aspen.views.operators.support.support import Support


class BackwardForward(Support):
    """See the module's head."""

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self._proofs = Proofs(rules)

    def convicted(self, suspects: list[Group]) -> list[Group]:
        """Look for proofs of the suspects; give the rows that have none."""
        return self._proofs.refuted(suspects)

    def forget(self) -> None:
        """Forget the proofs, too."""
        super().forget()
        self._proofs.clear()
