"""Retries: a view in error is built again when what it reads has changed.

    log time     0       4          15             40        70
    edge         +a→a               +b→c           -a→a
    tick                    ·          · fails again  · too early  · runs
    wait         ≥ 10 s                ≥ 20 s

Law:    a view that fails has the rows of the oracle again at the first tick at which what broke it
        is gone and its wait is over; each failure doubles the wait, up to ten minutes.
Absent: views of which several lanes keep parts, since a lane cannot tell the rows of the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import astuple, dataclass
from typing import Any

from aspen.algebra.plan import relations_of
from aspen.algebra.whole import OutOfRange
from aspen.errors import InternalError
from aspen.model.schema import Relation, SourceKind
from aspen.runtime.assignment import Whole
from aspen.runtime.own_relations import OWN_RELATIONS
from aspen.runtime.view import View
from aspen.views.foresee import Hopeless
from aspen.views.node import EndlessRecursion
from aspen.views.work import RowsExceeded, ShareExceeded, StateExceeded, WorkExceeded

FIRST_S, MOST_S = 10.0, 600.0
_OF_ROWS = frozenset(
    kind.code
    for kind in (
        EndlessRecursion,
        Hopeless,
        InternalError,
        OutOfRange,
        RowsExceeded,
        ShareExceeded,
        StateExceeded,
        WorkExceeded,
    )
)
"""Errors that rows bring about, and take away when they go."""


@dataclass(slots=True)
class Wait:
    """How long a view waits.

    Args:
        reads: the tables whose changes may mend it; none where time may.
        due_s: log time until which it waits.
        wait_s: how long that is.
        changed: whether what it reads has changed.
    """

    reads: frozenset[str]
    due_s: float
    wait_s: float
    changed: bool = False


class Retries:
    """The views of a lane that wait, by name."""

    def __init__(self, relations: Mapping[str, Relation]) -> None:
        self._relations = relations
        self._waits: dict[str, Wait] = {}

    def note(self, view: View, now_s: float) -> None:
        """Let a view wait if it is in error and rows may mend it; longer if it waited before.

        Args:
            now_s: log time.
        """
        name, before = view.entry.view, self._waits.pop(view.entry.view, None)
        code = (view.error or {}).get("code")
        if code not in _OF_ROWS or view.closed is None or not isinstance(view.assignment, Whole):
            return
        reads = relations_of(view.closed)
        tables = reads if all(map(self._is_table, reads)) and code != ShareExceeded.code else ()
        wait_s = FIRST_S if before is None else min(2 * before.wait_s, MOST_S)
        self._waits[name] = Wait(frozenset(tables), max(now_s, 0.0) + wait_s, wait_s)

    def forget(self, name: str) -> None:
        """Let a view wait no longer: it runs, or is gone."""
        self._waits.pop(name, None)

    def change(self, relations: Iterable[str]) -> None:
        """Note that relations have changed."""
        if self._waits:
            changed = set(relations)
            for wait in self._waits.values():
                wait.changed = wait.changed or not changed.isdisjoint(wait.reads)

    def due(self, now_s: float) -> Collection[str]:
        """Returns the views that are to be built again at a tick."""
        return [
            name
            for name, wait in self._waits.items()
            if now_s >= wait.due_s and (wait.changed or not wait.reads)
        ]

    def dump(self) -> dict[str, list[Any]]:
        """Returns the state, for a snapshot."""
        return {name: [sorted(w.reads), *astuple(w)[1:]] for name, w in self._waits.items()}

    def load(self, state: Mapping[str, list[Any]]) -> None:
        """Go on from a snapshot."""
        for name, (reads, *rest) in state.items():
            self._waits[name] = Wait(frozenset(reads), *rest)

    def _is_table(self, name: str) -> bool:
        relation = self._relations.get(name)
        return (
            relation is not None and relation.kind is SourceKind.TABLE and name not in OWN_RELATIONS
        )
