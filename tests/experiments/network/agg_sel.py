"""AggSel: the product's aggregate selection over one stream of path rows, several at once.

    MIN(cost), MIN(hops) of one group     passed on           best
      + cost 9, hops 2                    + (9, 2)            (9, 2) for both
      + cost 7, hops 3                    + (7, 3)            (7, 3) for cost; (9, 2) stays for hops
      + cost 8, hops 3                    nothing
      + cost 6, hops 1                    - (7, 3) - (9, 2) + (6, 1)   for both

Law:        what has been passed on and not taken back is, per group, the best live row of each
            aggregate.
Algorithm:  a Fixpoint without steps over the candidates: `BestRelation` or `MultiBestRelation`
            of `aspen.views.operators`, once per turn.
State:      the Fixpoint's; which rows mention a variable, to let them die.
Receives:   rows, withdrawals, deaths of variables.     Gives: withdrawals, then rows.
Ends:       a group passes on at most one row per aggregate and turn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from aspen.model.schema import Column, Relation, Type
from aspen.views.circuit import Circuit
from aspen.views.operators.agg_sel import Selection
from aspen.views.operators.best_relation import BestRelation
from aspen.views.operators.fixpoint import FixpointOperator
from aspen.views.operators.multi_best_relation import MultiBestRelation
from aspen.views.operators.recursive_input import RecursiveInput
from aspen.views.operators.rules import Rules
from aspen.views.operators.support.justification import Justification
from tests.experiments.network.bits import members
from tests.experiments.network.fact import Value, Vertex

CANDIDATES = Relation("candidate", (Column("source", Type.INT),))


class PathRow(NamedTuple):
    """One row of `path(source, target, cost, hops, vertices)`, annotated.

    Args:
        product: as bits, the variables of its links; a path has this one derivation.
    """

    source: Vertex
    target: Value
    cost: int
    hops: int
    vertices: tuple[Vertex, ...]
    product: int


class AggSel:
    """One operator's selection.

    Args:
        selections: one per aggregate, all with the same groups.
    """

    def __init__(self, selections: Sequence[Selection]) -> None:
        self._circuit = Circuit()
        self._candidates = self._circuit.source(CANDIDATES)
        rules = Rules((RecursiveInput(self._candidates, (), None),), ())
        relation = (
            BestRelation("path", selections[0])
            if len(selections) == 1
            else MultiBestRelation("path", tuple(selections))
        )
        self._best = FixpointOperator(rules, (relation,), Justification())
        self._circuit.add("best", self._best)
        self._rows: dict[Any, int] = self._candidates.table
        self._fresh: list[PathRow] = []
        self._mentioning: defaultdict[int, dict[PathRow, None]] = defaultdict(dict)
        self._fallen: set[PathRow] = set()

    def add(self, row: PathRow) -> None:
        """Takes a row in, unless it is here."""
        if not self._rows.get(row, 0) + self._pending(row):
            self._change(row, 1)
            self._fresh.append(row)

    def remove(self, row: PathRow) -> None:
        """Takes a row out, if it is here."""
        self._change(row, -1)

    # The product's rows are of its own types; these carry vertices and a product.
    def _change(self, row: Any, weight: int) -> None:
        self._circuit.change(self._candidates, row, weight)

    def _pending(self, row: Any) -> int:
        return self._candidates.pending.get(row, 0)

    def bury(self, dying: int) -> list[PathRow]:
        """Drops the rows that mention dying variables; returns those that had been passed on."""
        for row in self._fresh:
            for variable in members(row.product):
                self._mentioning[variable][row] = None
        self._fresh.clear()
        passed = set(self.passed())
        buried = {row for v in members(dying) for row in self._mentioning.pop(v, ())}
        for row in buried:
            self.remove(row)
        # Whoever got it hears of the death itself.
        self._fallen = buried & passed
        return sorted(self._fallen)

    def settle(self) -> Iterable[tuple[list[PathRow], list[PathRow]]]:
        """Returns the rows to take back and the rows to pass on, if there are any."""
        moved = self._circuit.step()
        for node in moved:
            if node.failure is not None:
                raise node.failure
        delta: dict[Any, int] = dict(self._best.delta) if self._best in moved else {}
        self._circuit.settle(moved)
        fallen, self._fallen = self._fallen, set()
        gone = [row for row, weight in delta.items() if weight < 0 and row not in fallen]
        come = [row for row, weight in delta.items() if weight > 0]
        return [(gone, come)] if gone or come else []

    def passed(self) -> Iterator[PathRow]:
        """Returns the rows passed on."""
        rows: dict[Any, int] = self._best.contents()
        yield from rows

    def rows(self) -> Iterator[PathRow]:
        """Returns all rows kept."""
        yield from self._rows

    def forget(self) -> None:
        """Forgets which rows mentioned variables, once no row is left."""
        if not self._rows:
            self._fresh.clear()
            self._mentioning.clear()
