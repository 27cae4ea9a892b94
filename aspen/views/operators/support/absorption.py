"""Absorption: what the absorption strategies share, Boolean annotations over the input rows.

    row      ab        ac              ad
    held     p1        p1 ∧ p2         p1 ∧ p2 ∧ p3        one variable per deletable input row

Law:        an annotation is true only while the group's row has a derivation; the manager holds
            exactly the variables that annotations mention.
Algorithm:  [LTZIL09] section IV.
State:      group -> annotation; (side, row) -> variable; one AnnotationIndex.
Receives:   settled groups and their sources, rows that went.     Gives: annotations.
Ends:       at the node budget: another support goes on instead, and `notify` is called.
"""

from __future__ import annotations

from collections.abc import Callable

from aspen.errors import AspenError
from aspen.model.schema import Row
from aspen.provenance.bdd import Bdd, Variable
from aspen.provenance.index import Annotation, AnnotationIndex
from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.recursive_input import RecursiveInput
from aspen.views.operators.rules import Rules
from aspen.views.operators.support.justification import Justification
from aspen.views.operators.support.support import Support

FALLBACK = "justification"
"""What goes on when annotations outgrow their budget: it keeps nothing that could grow."""


class NodeBudgetReached(AspenError, code="aspen.views.node_budget"):
    """A view's annotations outgrew their budget; it goes on without them."""


class Absorption(Support):
    """See the module's head.

    Args:
        rules: of the recursion.
        nodes: annotation entries (decision nodes and mentions of variables) it may have, ~100
            bytes each.
        notify: called once, when they do not suffice.

    `name` is the strategy's.
    """

    name: str

    def __init__(self, rules: Rules, nodes: int, notify: Callable[[AspenError], None]) -> None:
        super().__init__()
        self.rules = rules
        self.index: AnnotationIndex[Group] = AnnotationIndex(Bdd())
        self.held: dict[Group, Annotation[Group]] = {}
        self.variables: dict[tuple[RecursiveInput, Row], Variable] = {}
        self.spent = False
        self._nodes = nodes
        self._notify = notify
        self._owners: dict[Variable, tuple[RecursiveInput, Row]] = {}

    def settled(self, group: Group, source: Source) -> None:
        """Annotate a row with its derivation's product."""
        held = self.index.true if self.spent else self.product(source)
        self.held[group] = held
        self.index.carry(held, group)

    def retracted(self, group: Group) -> None:
        """Take a row's annotation off."""
        self.index.drop(self.held.pop(group), group)

    def end(self) -> Support | None:
        """Releases the variables that no annotation mentions any more."""
        super().end()
        self.check()
        if not self.spent:
            self._sweep()
            return None
        # No counts: a lane built anew from a snapshot says the very same.
        error = NodeBudgetReached(
            f"its annotations outgrew {self._nodes:,} nodes under {self.name}: "
            f"it goes on by {FALLBACK}",
            attempt=f"register it with {FALLBACK}, or with more nodes",
        )
        self._notify(error)
        return Justification()

    def clear(self) -> None:
        """Take all annotations off."""
        super().clear()
        for group, held in self.held.items():
            self.index.drop(held, group)
        self.held.clear()

    def close(self) -> None:
        """Let go of every function, so that the manager can end before them."""
        self.held.clear()
        self.index.close()

    def annotation(self, group: Group) -> tuple[tuple[RecursiveInput, Row], ...]:
        """Returns the input rows a settled group's annotation mentions."""
        return tuple(self._owners[variable] for variable in self.held[group].support)

    def dead(self) -> list[Variable]:
        """Returns the variables of the input rows that went."""
        known = self.variables
        return [
            known[side, row]
            for side in self.rules.sides
            for rows in side.gone.values()
            for row in rows
            if (side, row) in known
        ]

    def product(self, source: Source) -> Annotation[Group]:
        """Returns the conjunction of what a derivation used."""
        self.check()
        product = self.index.true
        for premise in self.rules.premises(source):
            product = self.index.both(product, self.held[premise])
        for side, row in self.rules.taken(source):
            variable = self.variable(side, row)
            if variable is not None:
                product = self.index.times(product, variable)
        return product

    def variable(self, side: RecursiveInput, row: Row) -> Variable | None:
        """Returns an input row's variable, None for a given row; it must be used at once."""
        variable = self.variables.get((side, row))
        if variable is None and not side.is_static(row):
            variable = self.variables[side, row] = self.index.allocate()
            self._owners[variable] = (side, row)
        return variable

    def check(self) -> None:
        """Look at the budget, once more after throwing away what nobody carries."""
        if self.spent or self.index.entries() <= self._nodes:
            return
        self._sweep()
        self.spent = self.index.entries() > self._nodes

    def _sweep(self) -> None:
        for variable in self.index.sweep():
            del self.variables[self._owners.pop(variable)]
