"""Justification: a settled row rests on the one derivation that settled it; no annotation is kept.

    rows     ab ── bc ── cd        the forwarded derivations form a forest
    −bc           ✗                bc lost its justification: cd, forwarded from it, falls too

Law:        the product of the base rows along a row's justifications is the annotation
            `absorption-lazy` would hold for it; both strategies retract the same rows.
Algorithm:  Jon Doyle, "A Truth Maintenance System" (1979), where a node is in by one well-founded
            justification; own: the forest is walked by withdrawing what a retracted row derived,
            so that no lists of children are kept.
Ends:       each retracted group is walked once per epoch.
"""

from __future__ import annotations

from aspen.views.operators.support.support import Support


class Justification(Support):
    """See the module's head: whoever lost the derivation it rests on falls."""
