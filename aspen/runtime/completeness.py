"""Completeness: since when views hold all that their windows reach back to.

A window that reaches back further than its stream is remembered lacks rows, until time has passed
or as many rows have come as it holds. Whoever reads over it is told since when nothing is missing,
and told again once nothing is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from aspen.views.node import Node
from aspen.views.operators.window import WindowOperator

if TYPE_CHECKING:
    from aspen.runtime.outcome import Outcome
    from aspen.runtime.view import View


def latest_s(times: Iterable[float | None]) -> float | None:
    """Returns the latest time, None where there is none."""
    return max((one for one in times if one is not None), default=None)


def complete_since_s(node: Node) -> float | None:
    """Returns the log time since which all windows below a node are complete; None if all are."""
    return latest_s(window.complete_since_s for window in _windows_below(node))


class Completeness:
    """The windows of a lane that lack rows.

    Args:
        views: those of the lane, by name.
    """

    def __init__(self, views: Mapping[str, View]) -> None:
        self._views = views
        self._lacking: list[WindowOperator] = []

    def watch(self, window: WindowOperator) -> None:
        """Look at a new window until it is whole."""
        if window.complete_since_s is not None:
            self._lacking.append(window)

    def tell(self, outcome: Outcome) -> None:
        """Announce the views whose windows became whole."""
        if not self._lacking:
            return
        lacking = [window for window in self._lacking if not window.dropped]
        self._lacking = [window for window in lacking if window.complete_since_s is not None]
        whole = {window for window in lacking if window.complete_since_s is None}
        for name, view in self._views.items() if whole else ():
            if view.node is not None and whole.intersection(_windows_below(view.node)):
                outcome.open(name, view.columns, {}, view.complete_since_s)


def _windows_below(node: Node) -> set[WindowOperator]:
    seen, waiting = {node}, [node]
    while waiting:
        new = set(waiting.pop().inputs) - seen
        seen |= new
        waiting += new
    return {one for one in seen if isinstance(one, WindowOperator)}
