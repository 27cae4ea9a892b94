"""Kept errors: what was refused, and what operators want to be known, as rows to be queried."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from aspen.errors import AspenError
from aspen.model.schema import Row
from aspen.runtime.own_relations import ENGINE_ERROR, ERRORS_KEPT
from aspen.views.circuit import Circuit


class KeptErrors:
    """The rows of `engine_error` in one lane, the newest last."""

    def __init__(self, circuit: Circuit) -> None:
        self.rows: deque[Row] = deque()
        self._circuit = circuit

    def keep(self, position: int, error: AspenError) -> None:
        """Make an error a row; the oldest goes when there are too many."""
        table = self._circuit.sources[ENGINE_ERROR.name]
        self.rows.append((position, error.code, error.message))
        self._circuit.change(table, self.rows[-1], 1)
        if len(self.rows) > ERRORS_KEPT:
            self._circuit.change(table, self.rows.popleft(), -1)

    def keep_new(self, position: int, notices: Iterable[AspenError]) -> bool:
        """Keep those that are not kept yet; whether there are any."""
        known = {(code, message) for _, code, message in self.rows}
        news = [one for one in notices if (one.code, one.message) not in known]
        for notice in news:
            self.keep(position, notice)
        return bool(news)
