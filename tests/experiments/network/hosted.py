"""Hosted: what one query node runs, the product's own circuit of the recursion.

    own, arrived ──▸ Fixpoint `held` ⟲ edges that stay here
                         └──▸ ⋈ edges that cross ──▸ Distinct `leaving` ──▸ exchange

Every derivation that arrived is a base row of its own: it is joined with one row that always
holds, the hub, so that two senders' derivations of one row stay two derivations for the Fixpoint.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, Row, Type
from aspen.provenance.bdd import Variable
from aspen.provenance.index import Annotation
from aspen.streamsql import compile_query
from aspen.views.circuit import Circuit
from aspen.views.compile import Compiler
from aspen.views.node import Node
from aspen.views.operators.fixpoint import FixpointOperator
from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.rules import Rules
from aspen.views.operators.scan import ScanOperator
from aspen.views.operators.support.absorption_lazy import AbsorptionLazy
from tests.experiments.network.bits import members

HUB = -1
"""Instead of x and y: the row that always holds."""

INPUTS = {
    "own": ("x", "y"),
    "stays": ("w", "x"),
    "crosses": ("w", "x"),
    "arrived": ("hub", "x", "y", "sender", "number"),
}
RELATIONS = tuple(
    Relation(name, tuple(Column(column, Type.INT) for column in columns))
    for name, columns in INPUTS.items()
)
_HELD = """
WITH RECURSIVE held(x, y) AS (
  SELECT o.x, o.y FROM own o
 UNION
  SELECT e.w, h.y FROM held h JOIN stays e ON e.x = h.x
 UNION
  SELECT a.x, a.y FROM held h JOIN arrived a ON a.hub = h.x
)
"""
_CATALOG = Catalog.of(RELATIONS)
HELD = compile_query(_HELD + "SELECT x, y FROM held", _CATALOG).plan
LEAVING = compile_query(
    _HELD + "SELECT DISTINCT c.w, h.y FROM held h JOIN crosses c ON c.x = h.x", _CATALOG
).plan

Changes = list[tuple[Any, int]]
"""Rows that came (+1) or went (-1)."""

Product = int
"""Facts, as bits: those that one derivation rests on."""


class Traced(AbsorptionLazy):
    """Absorption-lazy whose variables are facts of the whole network, not rows of this node.

    Args:
        product_of: the facts behind an input row, by its relation.
    """

    def __init__(self, rules: Rules, product_of: Callable[[str, Row], Product]) -> None:
        super().__init__(rules, sys.maxsize, lambda _error: None)
        self.dying: Product = 0
        self._product_of = product_of
        self._variable_of: dict[int, Variable] = {}
        self._fact_of: dict[Variable, int] = {}
        self._bits: dict[Annotation[Group], Product] = {}

    def facts(self, group: Group) -> Product:
        """Returns the facts that a settled row rests on."""
        held = self.held[group]
        bits = self._bits.get(held)
        if bits is None:
            bits = self._bits[held] = sum(1 << self._fact_of[one] for one in held.support)
        return bits

    def product(self, source: Source) -> Annotation[Group]:
        """Returns the conjunction of what a derivation used."""
        product = self.index.true
        for premise in self.rules.premises(source):
            product = self.index.both(product, self.held[premise])
        for side, row in self.rules.taken(source):
            assert isinstance(side.node, ScanOperator)
            facts = members(self._product_of(side.node.relation.name, row))
            variables = [self._variable(fact) for fact in facts]
            if len(variables) == 1:
                product = self.index.times(product, variables[0])
            elif variables:
                product = self.index.both(product, self._conjunction(variables))
        return product

    def _conjunction(self, variables: list[Variable]) -> Annotation[Group]:
        """Returns a product at once: what lies on the way to it nobody carries."""
        manager = self.index.manager
        function = manager.true
        for variable in variables:
            function = manager.conjoin(function, manager.literal(variable))
        return self.index.of(function, sorted(variables))

    def dead(self) -> list[Variable]:
        """Returns the variables of the facts that die in this epoch."""
        known = self._variable_of
        return [known[fact] for fact in members(self.dying) if fact in known]

    def _variable(self, fact: int) -> Variable:
        variable = self._variable_of.get(fact)
        if variable is None:
            variable = self._variable_of[fact] = self.index.allocate()
            self._fact_of[variable] = fact
        return variable

    def _sweep(self) -> None:
        self._bits.clear()
        for variable in self.index.sweep():
            del self._variable_of[self._fact_of.pop(variable)]


class Hosted:
    """The circuit of one node, its inputs and outputs.

    Args:
        product_of: the facts behind an input row, by its relation.
    """

    def __init__(self, product_of: Callable[[str, Row], Product]) -> None:
        self.circuit = Circuit()
        relations = {one.name: one for one in RELATIONS}
        compiler = Compiler(
            self.circuit, relations, lambda _spec, _window: None, lambda _plan: "absorption-lazy"
        )
        self.leaving = compiler.build(LEAVING)
        held = compiler.build(HELD)
        self.fixpoint = next(node for node in _below(held) if isinstance(node, FixpointOperator))
        self.support = Traced(self.fixpoint._rules, product_of)
        self.fixpoint._agenda.support = self.support
        self.inputs = {name: self.circuit.source(relations[name]) for name in relations}
        self.circuit.change(self.inputs["own"], (HUB, HUB), 1)
        self.step()

    def change(self, relation: str, row: Row, weight: int) -> None:
        """Puts a row of one input into the coming epoch."""
        self.circuit.change(self.inputs[relation], row, weight)

    def step(self, dying: Product = 0) -> tuple[Changes, Changes]:
        """Runs an epoch.

        Args:
            dying: facts that hold no longer.

        Returns:
            What changed of the rows held here, and of those that leave.
        """
        self.support.dying = dying
        moved = self.circuit.step()
        for node in moved:
            if node.failure is not None:
                raise node.failure
        held, leaving = (
            list(node.delta.items()) if node in moved else []
            for node in (self.fixpoint, self.leaving)
        )
        self.circuit.settle(moved)
        return held, leaving

    def facts(self, x: int, y: int) -> Product | None:
        """Returns the facts that a row held here rests on; None if it is not held."""
        group = self.fixpoint.groups.get((x, y))
        return None if group is None or group.best is None else self.support.facts(group)

    def rows(self) -> list[tuple[Any, Any]]:
        """Returns the rows held here."""
        settled = [group.best for group in self.fixpoint.groups.values() if group.best is not None]
        return [(x, y) for x, y in settled if x != HUB]


def _below(node: Node) -> Iterable[Node]:
    yield node
    for child in node.inputs:
        yield from _below(child)
