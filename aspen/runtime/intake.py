"""Intake: the changes of a transaction, checked, on their way into tables and windows.

Rows of one stream that follow one another, as a gateway sends them, are checked and handed on
together: at 20,000 a second a call per row and station is what a lane spends its time on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from operator import itemgetter

from aspen.errors import AspenError
from aspen.log.entry import Change
from aspen.model.schema import Relation, SchemaError, SourceKind
from aspen.runtime.lifetimes import Lifetimes
from aspen.runtime.own_relations import OWN_RELATIONS
from aspen.runtime.rows import RowCheck
from aspen.runtime.stream_memory import StreamMemory
from aspen.views.circuit import Circuit

_NAME = itemgetter(0)


class RefusedChange(AspenError, code="aspen.runtime.refused_change"):
    """A change in the log that cannot be applied."""


class Intake:
    """Where changes enter a lane.

    Args:
        refuse: called with the reason a change was not taken.
    """

    def __init__(
        self,
        relations: dict[str, Relation],
        circuit: Circuit,
        streams: StreamMemory,
        lifetimes: Lifetimes,
        refuse: Callable[[AspenError], None],
    ) -> None:
        self._relations = relations
        self._circuit = circuit
        self._streams = streams
        self._lifetimes = lifetimes
        self._refuse = refuse
        self._checks: dict[str, RowCheck] = {}

    def know(self, relation: Relation) -> None:
        """Check rows of a relation from now on as it is declared now."""
        self._checks[relation.name] = RowCheck(relation)

    def take(self, at_s: float, changes: Sequence[Change]) -> None:
        """Take in a transaction, refusing what does not fit.

        Args:
            at_s: log time of the transaction.
        """
        for name, run in groupby(changes, _NAME):
            relation = self._relations.get(name)
            if relation is None or name in OWN_RELATIONS:
                why = "is the engine's own" if relation else "is not declared"
                for _ in run:
                    self._refuse(RefusedChange(f"relation {name} {why}"))
            elif relation.kind is SourceKind.STREAM:
                self._arrive(relation, at_s, list(run))
            else:
                for change in run:
                    self._change(relation, at_s, change)

    def _arrive(self, relation: Relation, at_s: float, run: list[Change]) -> None:
        rows = self._checks[relation.name].plain(run)
        if rows is None:
            # Something in there must be refused or converted; the order of arrival stays.
            for change in run:
                self._change(relation, at_s, change)
            return
        self._streams.arrive(relation, at_s, rows)
        self._circuit.arrive(relation.name, at_s, rows)

    def _change(self, relation: Relation, at_s: float, change: Change) -> None:
        circuit = self._circuit
        try:
            row = self._checks[relation.name](change.row)
        except SchemaError as error:
            self._refuse(error)
            return
        if relation.kind is SourceKind.STREAM:
            if change.weight != 1:
                self._refuse(RefusedChange(f"stream {relation.name} only ever grows"))
                return
            self._streams.arrive(relation, at_s, (row,))
            circuit.arrive(relation.name, at_s, (row,))
        elif circuit.change(circuit.sources[relation.name], row, change.weight):
            self._lifetimes.change(relation, at_s, row, change.weight)
        else:
            self._refuse(RefusedChange(f"relation {relation.name} has no row {row!r} to delete"))
