"""Kept errors: what was refused, and what operators report, as rows to be queried.

Every lane refuses the same and knows it, so that any lane's snapshot has it; lane 0 publishes
it. What operators report is published by the lane that has them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from aspen.errors import AspenError
from aspen.model.schema import Row
from aspen.runtime.own_relations import ENGINE_ERROR, ERRORS_KEPT
from aspen.views.circuit import Circuit

PUBLISHES_FOR_ALL = 0
"""The lane that publishes what all refuse."""


class KeptErrors:
    """The errors one lane knows, the newest last.

    Args:
        lane: its number.
    """

    def __init__(self, circuit: Circuit, lane: int) -> None:
        self.rows: deque[Row] = deque()
        self._circuit = circuit
        self._lane = lane

    @property
    def own(self) -> dict[Row, int]:
        """The rows of `engine_error` in this lane."""
        return {row: 1 for row in self.rows if row[-1] == self._lane}

    def refuse(self, position: int, error: AspenError) -> None:
        """Keep what every lane refuses."""
        self._keep((position, error.code, error.message, PUBLISHES_FOR_ALL))

    def load(self, rows: Iterable[Row], *, own: bool) -> None:
        """Take over the errors a lane knew.

        Args:
            own: whether it was this one; what operators of others said is theirs.
        """
        known = (row for row in rows if own or row[-1] == PUBLISHES_FOR_ALL)
        self.rows.extend(known)
        self._circuit.sources[ENGINE_ERROR.name].table = self.own

    def keep_new(self, position: int, notices: Iterable[AspenError]) -> bool:
        """Keep those that are not kept yet; whether there are any."""
        known = {(code, message) for _, code, message, _ in self.rows}
        news = [one for one in notices if (one.code, one.message) not in known]
        for notice in news:
            self._keep((position, notice.code, notice.message, self._lane))
        return bool(news)

    def _keep(self, row: Row) -> None:
        """Make an error a row; the oldest goes when there are too many."""
        self.rows.append(row)
        self._change(row, 1)
        if len(self.rows) > ERRORS_KEPT:
            self._change(self.rows.popleft(), -1)

    def _change(self, row: Row, weight: int) -> None:
        if row[-1] == self._lane:
            self._circuit.change(self._circuit.sources[ENGINE_ERROR.name], row, weight)
