"""Recompute: forget the view and compute it again, whenever an input changed.

Law:        the fixpoint from scratch, which every other strategy equals.
Algorithm:  semi-naive evaluation.
State:      none that a decision rests on.
Receives:   what its Fixpoint offers, settles, retracts and withdraws.     Gives: groups that fall.
Ends:       as the recursion does from scratch.
"""

from __future__ import annotations

from aspen.views.operators.support.support import Support


class Recompute(Support):
    """See the module's head."""

    rebuilds = True
