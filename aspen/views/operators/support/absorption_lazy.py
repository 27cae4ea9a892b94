"""Absorption, lazy: a settled row carries the Boolean product of what its derivation used.

    row      ab        ac              ad
    held     p1        p1 ∧ p2         p1 ∧ p2 ∧ p3        one variable per deletable input row
    −p2                FALSE           FALSE

Law:        a settled row's annotation is true while all rows its derivation rests on are there.
Algorithm:  [LTZIL09] Alg. 1 and section V (lazy): one derivation of a row goes on, so each
            annotation is a product; a deletion finds those that mention a dead variable by index.
State:      group -> annotation; (side, row) -> variable; one AnnotationIndex.
Ends:       always: one look-up per dead variable.
"""

from __future__ import annotations

from aspen.model.schema import Row
from aspen.provenance.index import Annotation, AnnotationIndex
from aspen.provenance.manager import Manager, Variable
from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.recursive_input import RecursiveInput
from aspen.views.operators.rules import Rules


class AbsorptionLazy:
    """See the module's head.

    Args:
        rules: of the recursion.
        manager: of the annotations.
    """

    hears_offers = False

    def __init__(self, rules: Rules, manager: Manager) -> None:
        self._rules = rules
        self.index: AnnotationIndex[Group] = AnnotationIndex(manager)
        self.held: dict[Group, Annotation[Group]] = {}
        self.variables: dict[tuple[RecursiveInput, Row], Variable] = {}
        self._owners: dict[Variable, tuple[RecursiveInput, Row]] = {}

    def offered(self, group: Group, source: Source) -> None:
        """Not asked for."""

    def settled(self, group: Group, source: Source) -> None:
        """Annotate a row with its derivation's product."""
        held = self.index.true
        for premise in self._rules.premises(source):
            held = self.index.both(held, self.held[premise])
        for side, row in self._rules.taken(source):
            held = self._times(held, side, row)
        self.held[group] = held
        held.carriers[group] = None

    def retracted(self, group: Group) -> None:
        """Take a row's annotation off."""
        self.index.drop(self.held.pop(group), group)

    def withdrawn(self, group: Group, source: Source) -> None:
        """The annotation said so already."""

    def doomed(self) -> list[Group]:
        """Give the rows whose annotation mentions a row that went: a product is FALSE then."""
        known = self.variables
        dead = [
            known[side, row]
            for side in self._rules.sides
            for rows in side.gone.values()
            for row in rows
            if (side, row) in known
        ]
        return [group for held in self.index.mentioning(dead) for group in held.carriers]

    def fallen(self) -> list[Group]:
        """None beyond the doomed."""
        return []

    def end(self) -> None:
        """Give back the variables that no annotation mentions any more."""
        for variable in self.index.sweep():
            del self.variables[self._owners.pop(variable)]

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
        """Give the input rows a settled group's annotation mentions."""
        return tuple(self._owners[variable] for variable in self.held[group].support)

    def _times(self, held: Annotation[Group], side: RecursiveInput, row: Row) -> Annotation[Group]:
        variable = self.variables.get((side, row))
        if variable is None:
            if side.is_static(row):
                return held
            variable = self.variables[side, row] = self.index.allocate()
            self._owners[variable] = (side, row)
        return self.index.times(held, variable)
