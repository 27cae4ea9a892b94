"""Relations that go on along edges to one another, as one whose rows say of which they are.

    odd(x, z) :- link(x, z).                      parity(x, z, 1) :- link(x, z).
    odd(x, z) :- even(x, y), link(y, z).    ──►   parity(x, z, 1) :- parity(x, y, 0), link(y, z).
    even(x, z) :- odd(x, y), link(y, z).          parity(x, z, 0) :- parity(x, y, 1), link(y, z).

The relations are the states of an automaton, and the number of the state is part of a vertex.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from aspen.algebra.block import Block, Input, column_name, plan_of
from aspen.algebra.edge_rule import EdgeRule
from aspen.algebra.expr import Col, Const, Expr, Op
from aspen.algebra.linearise import NotMaintainable, linearise
from aspen.algebra.plan import (
    Best,
    Filter,
    Fixpoint,
    Plan,
    Project,
    Recursive,
    RecursiveRef,
    Values,
    nodes,
)
from aspen.algebra.renaming import by_position
from aspen.algebra.rewrite.magic import already_bound, united
from aspen.algebra.rewrite.rule import Rule
from aspen.model.schema import Column, Type

_NUMBER = "relation"


@dataclass(frozen=True, slots=True)
class _Single:
    """The one relation.

    Args:
        name: what it is called.
        columns: those that all relations have, and the number.
        numbers: of the relations, by name.
    """

    name: str
    columns: tuple[Column, ...]
    numbers: dict[str, int]

    def numbered(self, plan: Plan, number: int) -> Plan:
        """Returns rows of a relation with its number."""
        named = by_position(self.columns[:-1], plan.columns)
        outputs = tuple((column, named[column.name]) for column in self.columns[:-1])
        return Project(plan, (*outputs, (self.columns[-1], Const(number))))

    def rule(self, found: EdgeRule, number: int) -> Plan:
        """Returns a rule of a relation as one that reads and gives numbered rows."""
        block, reads = found.block, found.reads
        read = block.inputs[reads].plan
        assert isinstance(read, RecursiveRef)
        own = replace(self.columns[-1], name=f"{read.alias}.{self.columns[-1].name}")
        row = RecursiveRef(self.name, read.alias, (*read.columns, own))
        column = Col(column_name(reads, len(read.columns)))
        inputs = (*block.inputs[:reads], Input(row), *block.inputs[reads + 1 :])
        conditions = (*block.conditions, Op("=", column, Const(self.numbers[read.name])))
        outputs: tuple[Expr, ...] = (*block.outputs, Const(number))
        return plan_of(Block(inputs, conditions, self.columns, outputs))


def _single(plan: Plan) -> Plan | None:
    if not isinstance(plan, Fixpoint) or not plan.others or plan.most is not None:
        return None
    if already_bound(plan):
        return None
    # Whichever relation is asked for, the recursion is the same.
    ordered = sorted(plan.relations, key=lambda one: one.name)
    numbers = {one.name: number for number, one in enumerate(ordered)}
    columns = _columns(plan, ordered)
    if columns is None:
        return None
    best = _best(ordered, columns)
    if best is None and any(one.best is not None for one in ordered):
        return None
    single = _Single("_".join(numbers), columns, numbers)
    begins: list[Plan] = []
    goes: list[Plan] = []
    for number, one in enumerate(ordered):
        try:
            step = linearise(one.step, numbers)
        except NotMaintainable:
            return None
        rules = [EdgeRule.of(rule) for rule in step.rules]
        found = [rule for rule in rules if rule is not None]
        if len(found) < len(rules):
            return None
        parts = [p for p in (one.base, *step.flat) if not (isinstance(p, Values) and not p.rows)]
        begins += [single.numbered(part, number) for part in parts]
        goes += [single.rule(rule, number) for rule in found]
    if not begins:  # nor does it derive anything
        return None
    made = Fixpoint(single.name, columns, united(begins), united(goes), best)
    asked = Op("=", Col(columns[-1].name), Const(numbers[plan.name]))
    names = by_position(plan.columns, columns[:-1])
    return Project(Filter(made, asked), tuple((c, names[c.name]) for c in plan.columns))


def _columns(plan: Fixpoint, ordered: list[Recursive]) -> tuple[Column, ...] | None:
    """Returns the columns of the one relation; None where those of the relations differ."""
    types = {tuple((c.type, c.unit) for c in one.columns) for one in ordered}
    if len(types) > 1:
        return None
    shared = [
        replace(first, nullable=any(column.nullable for column in others))
        for first, *others in zip(*(one.columns for one in (ordered[0], *ordered)), strict=True)
    ]
    taken = {column.name for node in nodes(plan) for column in node.columns}
    taken |= {name.rpartition(".")[2] for name in taken}
    number = next(n for n in (_NUMBER + "_" * more for more in range(99)) if n not in taken)
    return (*shared, Column(number, Type.INT))


def _best(ordered: list[Recursive], columns: tuple[Column, ...]) -> Best | None:
    """Returns what the one relation chooses by; None where the relations choose differently."""
    found: set[Best] = set()
    for one in ordered:
        if one.best is None:
            return None
        names = {own.name: column.name for own, column in zip(one.columns, columns, strict=False)}
        keys = (*(names[c.name] for c in one.columns if c.name in one.best.keys), columns[-1].name)
        first, *more = ((names[column], how) for column, how in one.best.choices)
        found.add(Best(keys, *first, tuple(more)))
    return found.pop() if len(found) == 1 else None


# Claim: a row of the one relation is a row of a relation with its number, by induction over
# derivations; each rule reads and gives rows of the same numbers as before.
# Guard: demand has not restricted it, as it would again; every rule goes on from one row along
# edges; the relations have columns of the same types and choose alike, so that the number is a
# further column of their keys.
# Source: the product of a graph with an automaton, Mendelzon, Wood, Finding regular simple paths
# in graph databases (VLDB 1989).
MUTUAL_TO_SINGLE = Rule(
    name="mutual_to_single",
    claim="μ(X₁ … Xₙ).Xᵢ = π σ[number = i](μX. ∪ⱼ Xⱼ with j)",
    counter_example="one keeps the cheapest ways and the other all: as one they choose alike",
    build=_single,
)
