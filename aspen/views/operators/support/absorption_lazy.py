"""Absorption, lazy: a settled row carries the Boolean product of what its derivation used.

    row      ab        ac              ad
    held     p1        p1 ∧ p2         p1 ∧ p2 ∧ p3
    −p2                FALSE           FALSE

Law:        a settled row's annotation is true while all rows its derivation rests on are there.
Algorithm:  [LTZIL09] Alg. 1 and section V (lazy): one derivation of a row goes on, so each
            annotation is a product; a deletion finds those that mention a dead variable by index.
State:      what Absorption keeps; one product per settled row.
"""

from __future__ import annotations

from aspen.model.schema import Row
from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.support.absorption import Absorption


class AbsorptionLazy(Absorption):
    """See the module's head."""

    name = "absorption-lazy"

    def withdrawn(self, group: Group, source: Source, row: Row) -> None:
        """Doubt nobody: the annotation says who falls."""

    def doomed(self) -> list[Group]:
        """Returns the rows whose annotation mentions a row that went: a product is FALSE then."""
        return [g for held in self.index.mentioning(self.dead()) for g in held.carriers]
