"""Magic sets: a recursion that derives what is demanded, and demand that is derived like rows.

    path(x, z) :- link(x, z).                        demand(y) :- demand(x), link(x, y).
    path(x, z) :- link(x, y), path(y, z).     ──►    path_bf(x, z) :- demand(x), link(x, z).
    asked: path("n1", z)                             path_bf(x, z) :- demand(x), link(x, y),
    demand("n1").                                                     path_bf(y, z).

Demand is a plan of rows: the constants of a query, or the rows of a relation it is joined with, so
that a change of demand is a delta like any other. Where no rule hands demand on to other values
(the step passes the bound columns on unchanged), it is joined with the base and nothing else.

Source: Bancilhon et al. (PODS 1986); [Condie11] chapter 4, whose example is a test.
Own: demand that needs no row of the recursion is a recursion of its own below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from aspen.algebra.block import Block, Input, column_name, plan_of
from aspen.algebra.expr import Col, Expr, Op, columns_in, substitute
from aspen.algebra.linearise import NotMaintainable, linearise
from aspen.algebra.plan import (
    Fixpoint,
    Join,
    Plan,
    Project,
    Recursive,
    RecursiveRef,
    Union,
    Values,
    nodes,
)
from aspen.algebra.renaming import renamed
from aspen.algebra.rewrite.adorn import Adorned, AdornedAtom, AdornedRule, adorn, is_trivial, wanted
from aspen.model.schema import Column

_DEMAND = "_demand"
MOST_RULES = 16
"""Rules of one recursion; a union in a join multiplies them."""


@dataclass(frozen=True, slots=True)
class Restricted:
    """A recursion under demand.

    Args:
        plan: it holds every demanded row, and no row that the whole recursion lacks.
        carried: whether demand is joined with the base alone.
    """

    plan: Fixpoint
    carried: bool


def restrict(plan: Fixpoint, bound: tuple[int, ...], demand: Plan) -> Restricted | None:
    """Restrict a recursion to demanded rows.

    Args:
        bound: indices of the columns that are demanded.
        demand: rows of their values; it reads no recursion from outside.

    Returns:
        None where some relation would be needed whole, or the recursion has no normal form.

    Law: filtered by `bound ∈ demand`, the rows of both recursions are the same.
    """
    relations = {relation.name: relation for relation in plan.relations}
    try:
        steps = {one.name: linearise(one.step, relations) for one in plan.relations}
    except NotMaintainable:
        return None
    rules = {name: step.rules for name, step in steps.items()}
    # A limit counts rows, and fewer would pass it.
    if plan.most is not None or sum(map(len, rules.values())) > MOST_RULES:
        return None
    adorned = adorn(Adorned(plan.name, bound), relations, rules)
    if adorned is None:
        return None
    bases = {
        name: [one.base, *(renamed(part, one.columns) for part in steps[name].flat)]
        for name, one in relations.items()
    }
    magic = _Magic(plan, adorned, {n: united(parts) for n, parts in bases.items()}, demand)
    if magic.mixed and any(one.best is not None for one in plan.relations):
        # Rows of a choice come and go while it is made, and demand with them.
        return None
    return Restricted(magic.build(), not magic.handed)


def already_bound(plan: Fixpoint) -> frozenset[int]:
    """Returns the indices a recursion's name says it is restricted by: `path_bf` by the first.

    A demand is not demanded again: it is as small as what is asked for.
    """
    found: set[int] = set()
    name, width = plan.name, len(plan.columns)
    if name.rstrip("0123456789").endswith(_DEMAND):
        return frozenset(range(width))
    while len(name) > width and name[-width - 1] == "_" and {*name[-width:]} <= {*"bf"}:
        found |= {index for index, mark in enumerate(name[-width:]) if mark == "b"}
        name = name[: -width - 1]
    return frozenset(found)


class _Magic:
    """The parts of a recursion under demand."""

    def __init__(
        self,
        plan: Fixpoint,
        adorned: dict[Adorned, tuple[AdornedRule, ...]],
        bases: dict[str, Plan],
        demand: Plan,
    ) -> None:
        self._plan = plan
        self._relations = {one.name: one for one in plan.relations}
        self._adorned = adorned
        self._bases = bases
        self._root = next(iter(adorned))
        self._alias = _unused("demand", _prefixes((plan, demand)))
        taken = _recursions((plan, demand))
        self._names = {one: _adorned_name(self._columns(one), one, taken) for one in adorned}
        taken |= {*self._names.values()}
        self._demands = {one: _unused(f"{own}{_DEMAND}", taken) for one, own in self._names.items()}
        outputs = zip(self._wanted(self._root), demand.columns, strict=True)
        self._demand = Project(demand, tuple((new, Col(old.name)) for new, old in outputs))
        calls = [
            (rule, call)
            for rules in adorned.values()
            for rule in rules
            for call in rule.calls
            if not is_trivial(rule, call)
        ]
        self.handed: dict[Adorned, list[Plan]] = {}
        self.mixed = any(
            rule.rule.inputs[number].recursive for rule, call in calls for number in call.through
        )
        called = {call.reads for _, call in calls}
        for rule, call in calls:
            self.handed.setdefault(call.reads, []).append(self._handed_on(rule, call, called))

    def _columns(self, one: Adorned) -> tuple[Column, ...]:
        return self._relations[one.relation].columns

    def build(self) -> Fixpoint:
        """Returns the recursion, its demand below it or, where they need each other, beside it."""
        made = [self._restricted(one) for one in self._adorned]
        others = [*made[1:]]
        if self.mixed:
            others += [self._demand_relation(one) for one in self.handed]
        first = made[0]
        return Fixpoint(
            first.name, self._plan.columns, first.base, first.step, first.best, tuple(others)
        )

    def _wanted(self, one: Adorned) -> tuple[Column, ...]:
        """Returns the columns of a demand."""
        columns = self._columns(one)
        lasts = [column.name.rsplit(".", maxsplit=1)[-1] for column in columns]
        names = [
            last if lasts.count(last) == 1 else f"c{index}" for index, last in enumerate(lasts)
        ]
        return tuple(
            replace(columns[index], name=f"{self._alias}.{names[index]}") for index in one.bound
        )

    def _demand_relation(self, one: Adorned) -> Recursive:
        columns = self._wanted(one)
        base = self._demand if one == self._root else Values(columns, ())
        return Recursive(self._demands[one], columns, base, united(self.handed[one]))

    def _reading(self, one: Adorned) -> Plan:
        """Read a demand from the recursion that it restricts."""
        if one not in self.handed:
            return self._demand
        if self.mixed:
            return RecursiveRef(self._demands[one], self._alias, self._wanted(one))
        own, *others = (
            self._demand_relation(other) for other in sorted(self.handed, key=lambda o: o != one)
        )
        return Fixpoint(own.name, own.columns, own.base, own.step, None, tuple(others))

    def _handed_on(self, rule: AdornedRule, call: AdornedAtom, called: Iterable[Adorned]) -> Plan:
        """Returns the rule by which demand of the head becomes demand of an atom."""
        head, atoms = rule.head, rule.rule.inputs
        demand: Plan = (
            RecursiveRef(self._demands[head], self._alias, self._wanted(head))
            if head in called
            else self._demand
        )
        numbers = {old: new for new, old in enumerate(sorted(call.through), start=1)}
        names: dict[str, Expr] = {
            wanted(index): Col(column_name(0, i)) for i, index in enumerate(head.bound)
        }
        used = [Input(demand)]
        for old, new in numbers.items():
            names |= {
                column_name(old, i): Col(column_name(new, i)) for i in range(atoms[old].width)
            }
            plan = atoms[old].plan
            if isinstance(plan, RecursiveRef):
                reads = next(one.reads for one in rule.calls if one.atom == old)
                plan = replace(plan, name=self._names[reads])
            used.append(Input(plan))
        equal = {
            Op("=", Col(one), Col(other))
            for members in rule.classes
            for one in members
            for other in members
        }
        conditions = [
            condition
            for condition in rule.rule.conditions
            if condition not in equal and columns_in(condition) <= {*names}
        ]
        for members in rule.classes:
            there = sorted(members & {*names})
            conditions += [Op("=", Col(a), Col(b)) for a, b in pairwise(there)]
        return plan_of(
            Block(
                tuple(used),
                tuple(substitute(condition, names) for condition in conditions),
                self._wanted(call.reads),
                tuple(names[value] for value in call.values),
            )
        )

    def _restricted(self, one: Adorned) -> Recursive:
        relation = self._relations[one.relation]
        base, steps = self._bases[one.relation], list(self._rules(one))
        demand = self._reading(one)
        pairs = zip(one.bound, self._wanted(one), strict=True)
        on = tuple((base.columns[index].name, column.name) for index, column in pairs)
        same = tuple(
            (new, Col(old.name)) for new, old in zip(relation.columns, base.columns, strict=True)
        )
        if isinstance(base, Values) and not base.rows:
            pass
        elif isinstance(demand, RecursiveRef):
            # What reads the recursion is no base.
            steps.append(Project(Join(base, demand, on), same))
            base = Values(relation.columns, ())
        else:
            base = Project(Join(base, demand, on), same)
        step = united(steps) if steps else Values(relation.columns, ())
        return Recursive(self._names[one], relation.columns, base, step, relation.best)

    def _rules(self, one: Adorned) -> Iterator[Plan]:
        relation = self._relations[one.relation]
        for rule in self._adorned[one]:
            reads = {call.atom: self._names[call.reads] for call in rule.calls}
            atoms = [
                replace(atom, plan=replace(atom.plan, name=reads[number]))
                if isinstance(atom.plan, RecursiveRef)
                else atom
                for number, atom in enumerate(rule.rule.inputs)
            ]
            conditions = list(rule.rule.conditions)
            # A row that comes from a demanded row with the same values is demanded.
            if not any(is_trivial(rule, call) for call in rule.calls):
                index = len(atoms)
                atoms.append(Input(self._reading(one)))
                conditions += [
                    Op("=", Col(column_name(index, i)), rule.rule.outputs[bound])
                    for i, bound in enumerate(one.bound)
                ]
            yield plan_of(
                replace(
                    rule.rule,
                    inputs=tuple(atoms),
                    conditions=tuple(conditions),
                    columns=relation.columns,
                )
            )


def united(plans: Iterable[Plan]) -> Plan:
    """Returns the rows of one plan or more; what never has rows is left out."""
    parts = [plan for plan in plans if not (isinstance(plan, Values) and not plan.rows)]
    if not parts:
        return next(iter(plans))
    return parts[0] if len(parts) == 1 else Union(tuple(parts))


def _adorned_name(columns: tuple[Column, ...], one: Adorned, taken: set[str]) -> str:
    marks = "".join("b" if index in one.bound else "f" for index in range(len(columns)))
    names = (f"{one.relation}{number}_{marks}" for number in ("", *range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


def _recursions(plans: Iterable[Plan]) -> set[str]:
    """Returns the names of all recursive relations inside some plans."""
    found: set[str] = set()
    for node in (node for plan in plans for node in nodes(plan)):
        if isinstance(node, Fixpoint):
            found |= {relation.name for relation in node.relations}
        elif isinstance(node, RecursiveRef):
            found.add(node.name)
    return found


def _prefixes(plans: Iterable[Plan]) -> set[str]:
    """Returns what stands before the dot in the names of columns."""
    every = (node for plan in plans for node in nodes(plan))
    return {name.partition(".")[0] for node in every for name in node.names}


def _unused(name: str, taken: set[str]) -> str:
    number = 1
    while (name if number == 1 else f"{name}{number}") in taken:
        number += 1
    return name if number == 1 else f"{name}{number}"
