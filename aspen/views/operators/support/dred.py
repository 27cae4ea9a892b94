"""DRed: delete whatever lost a derivation, then derive again what still has one.

    rows      ab   ac   ad         ac ← ab·bc, ac ← link(a, c)
    −bc            ✗    ✗          over-deleted: ac lost one of two, and ad was derived from it
    again          ac   ad

Law:        what is retracted contains every row without a derivation left.
Algorithm:  A. Gupta, I. S. Mumick, V. S. Subrahmanian, "Maintaining Views Incrementally",
            SIGMOD 1993. Own: re-derivation reads the derivations that were not withdrawn
            instead of evaluating the rules again.
Ends:       each group is retracted once per epoch.
"""

from __future__ import annotations

from aspen.views.operators.support.support import Support


class DRed(Support):
    """See the module's head."""

    doubts_any = True
