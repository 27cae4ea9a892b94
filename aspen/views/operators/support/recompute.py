"""Recompute: forget the view and compute it again, whenever an input changed.

Law:        the fixpoint from scratch, which every other strategy equals.
Algorithm:  semi-naive evaluation.
"""

from __future__ import annotations

from aspen.views.operators.support.support import Support


class Recompute(Support):
    """See the module's head."""

    rebuilds = True
