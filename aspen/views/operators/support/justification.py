"""Justification: a settled row rests on the one derivation that settled it; no annotation is kept.

    rows     ab ── bc ── cd        the forwarded derivations form a forest
    −bc           ✗                bc lost its justification: cd, forwarded from it, falls too

Law:        the product of the base rows along a row's justifications is the annotation
            `absorption-lazy` would hold for it; both strategies retract the same rows.
Algorithm:  Jon Doyle, "A Truth Maintenance System" (1979), where a node is in by one well-founded
            justification; own: the forest is walked by withdrawing what a retracted row derived,
            so that no lists of children are kept.
State:      none beside `Group.via`.
Receives:   what its Fixpoint offers, settles, retracts and withdraws.     Gives: groups that fall.
Ends:       each retracted group is walked once per epoch.
"""

from __future__ import annotations

from aspen.model.schema import Row
from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.support.stateless import StatelessSupport


class Justification(StatelessSupport):
    """See the module's head."""

    def __init__(self) -> None:
        self._fallen: list[Group] = []

    def withdrawn(self, group: Group, source: Source, row: Row) -> None:
        """Note groups that lost the derivation they rest on."""
        del row
        if group.via is not None and group.via == source:
            self._fallen.append(group)

    def fallen(self) -> list[Group]:
        """Returns those who lost their justification since the last call."""
        fallen, self._fallen = self._fallen, []
        return fallen

    def clear(self) -> None:
        """Forget who lost one."""
        self._fallen.clear()
