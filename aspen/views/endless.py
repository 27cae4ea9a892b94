"""Endless: the error of a recursion that does not reach a fixpoint."""

from __future__ import annotations

from aspen.errors import AspenError


class EndlessRecursion(AspenError, code="aspen.views.endless_recursion"):
    """A recursion that keeps deriving."""
