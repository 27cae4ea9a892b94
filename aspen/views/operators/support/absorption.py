"""Absorption: what the absorption strategies share, Boolean annotations over the input rows.

    row      ab        ac              ad
    held     p1        p1 ∧ p2         p1 ∧ p2 ∧ p3        one variable per deletable input row

Law:        an annotation is true only while the group's row has a derivation; the manager holds
            exactly the variables that annotations mention.
Algorithm:  [LTZIL09] section IV.
State:      group -> annotation; (side, row) -> variable; one AnnotationIndex.
Receives:   settled groups and their sources, rows that went.     Gives: annotations.
Ends:       at the node budget: another support goes on in its place, and `notify` is called.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from aspen.errors import AspenError
from aspen.model.schema import Row
from aspen.provenance.index import Annotation, AnnotationIndex
from aspen.provenance.manager import Manager, Variable
from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.recursive_input import RecursiveInput
from aspen.views.operators.rules import Rules
from aspen.views.operators.support.protocol import Support


class NodeBudgetReached(AspenError):
    """A view's annotations outgrew their budget; it goes on without them."""

    code = "aspen.views.node_budget"


@dataclass(frozen=True, slots=True)
class Budget:
    """How large annotations may grow, and what happens then.

    Args:
        entries: decision nodes and mentions of variables, ~100 bytes each.
        fallback: makes the support that goes on.
        called: the name of the fallback.
        notify: called once.
    """

    entries: int
    fallback: Callable[[], Support]
    called: str
    notify: Callable[[AspenError], None]


class Absorption:
    """See the module's head.

    Args:
        name: of the strategy.
        rules: of the recursion.
        manager: of the annotations.
    """

    wants_offers = False
    rebuilds = False

    def __init__(self, name: str, rules: Rules, manager: Manager, budget: Budget) -> None:
        self.rules = rules
        self.index: AnnotationIndex[Group] = AnnotationIndex(manager)
        self.held: dict[Group, Annotation[Group]] = {}
        self.variables: dict[tuple[RecursiveInput, Row], Variable] = {}
        self.spent = False
        self._name = name
        self._budget = budget
        self._owners: dict[Variable, tuple[RecursiveInput, Row]] = {}

    def offered(self, group: Group, source: Source) -> None:
        """Not asked for."""

    def settled(self, group: Group, source: Source) -> None:
        """Annotate a row with its derivation's product."""
        held = self.index.true if self.spent else self.product(source)
        self.held[group] = held
        self.index.carry(held, group)

    def retracted(self, group: Group) -> None:
        """Take a row's annotation off."""
        self.index.drop(self.held.pop(group), group)

    def withdrawn(self, group: Group, source: Source, row: Row) -> None:
        """The annotation said so already."""

    def fallen(self) -> list[Group]:
        """None beyond the doomed."""
        return []

    def end(self) -> Support | None:
        """Releases the variables that no annotation mentions any more."""
        self.check()
        if not self.spent:
            self._sweep()
            return None
        return self._succeeded()

    def clear(self) -> None:
        """Take all annotations off."""
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
        if self.spent or self.index.entries() <= self._budget.entries:
            return
        self._sweep()
        self.spent = self.index.entries() > self._budget.entries

    def _sweep(self) -> None:
        for variable in self.index.sweep():
            del self.variables[self._owners.pop(variable)]

    def _succeeded(self) -> Support:
        budget = self._budget
        # No counts: a lane built anew from a snapshot says the very same.
        error = NodeBudgetReached(
            f"its annotations outgrew {budget.entries:,} nodes under {self._name}: "
            f"it goes on by {budget.called}",
            attempt=f"register it with {budget.called}, or with more nodes",
        )
        budget.notify(error)
        return budget.fallback()
