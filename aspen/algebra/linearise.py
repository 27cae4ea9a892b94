"""Linearise: the step of a recursion → rules, each a list of atoms with conditions and outputs.

    plan    Project x, z            rule    atoms       r(a0.c0, a0.c1)  r(a1.c0, a1.c1)
              Join on y = y                 conditions  a0.c1 = a1.c0
                RecursiveRef r              outputs     a0.c0, a1.c1
                RecursiveRef r

UNION ALL is pulled outwards (σ, π and ⋈ distribute over it), and inside a recursion rows are a
set, so a rule needs neither the order of its joins nor what stood between them. Columns are named
by atom and place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from itertools import count

from aspen.algebra.expr import Col, Expr, Op, columns_in, conjunction, conjuncts, substitute
from aspen.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    Fixpoint,
    Join,
    Plan,
    Project,
    RecursiveRef,
    Ship,
    Union,
    children,
)
from aspen.algebra.renaming import renamed
from aspen.errors import AspenError
from aspen.model.schema import Column


class NotMaintainable(AspenError):
    """A recursive step that reads its recursion in a way that has no meaning, or is not kept."""

    code = "aspen.views.not_maintainable"


@dataclass(frozen=True, slots=True)
class Atom:
    """One input of a rule.

    Args:
        plan: a RecursiveRef, or a plan without one.
        negated: `NOT EXISTS`: no row of the plan has `key` in its columns `places`, and that key
            is the atom's row.
        key: over the columns of other atoms.
        places: columns of the plan.
    """

    plan: Plan
    negated: bool = False
    key: tuple[Expr, ...] = ()
    places: tuple[int, ...] = ()

    @property
    def recursive(self) -> bool:
        """Whether it reads a relation of the recursion."""
        return isinstance(self.plan, RecursiveRef)

    @property
    def width(self) -> int:
        """How many columns a row of the atom has."""
        return len(self.key) if self.negated else len(self.plan.columns)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: for all rows of the atoms that pass the conditions, the outputs are a row."""

    atoms: tuple[Atom, ...]
    conditions: tuple[Expr, ...]
    outputs: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """A step taken apart.

    Args:
        rules: those that read the recursion.
        flat: the branches that do not.
    """

    rules: tuple[Rule, ...]
    flat: tuple[Plan, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """A subplan, taken apart: its atoms by number, conditions, and its columns."""

    atoms: dict[int, Atom]
    conditions: tuple[Expr, ...]
    columns: dict[str, Expr]


def linearise(step: Plan, recursion: Collection[str]) -> Step:
    """Take a recursive step apart.

    Args:
        recursion: names of the recursive relations.

    Raises:
        NotMaintainable: the recursion is read below a negation, an aggregate or the like.

    Law: the rules and flat branches together derive the set of rows the step does.
    Source: own; the normal form is that of Datalog.
    """
    flat: list[Plan] = []
    rules: list[Rule] = []
    numbers = count()
    for branch in _branches(step):
        if not mentions(branch, recursion):
            flat.append(renamed(branch, step.columns))
            continue
        for part in _parts(branch, recursion, lambda: next(numbers)):
            rule = _rule(part)
            if any(atom.recursive for atom in rule.atoms):
                rules.append(rule)
            else:
                flat.append(plan_of(rule, step.columns))
    return Step(tuple(rules), tuple(flat))


def mentions(plan: Plan, recursion: Collection[str]) -> bool:
    """Whether a plan reads one of the recursive relations."""
    if isinstance(plan, RecursiveRef):
        return plan.name in recursion
    if isinstance(plan, Fixpoint):
        # Inside, its own relations hide others of their names.
        recursion = frozenset(recursion) - {one.name for one in plan.relations}
    return any(mentions(child, recursion) for child in children(plan))


def _branches(plan: Plan) -> list[Plan]:
    if isinstance(plan, Union):
        return [branch for child in plan.children for branch in _branches(child)]
    if isinstance(plan, Distinct | Ship):
        # Rows of a recursion are a set already; a border moves them and changes nothing.
        return _branches(plan.child)
    return [plan]


def _rule(part: _Part) -> Rule:
    """Number the atoms of a part from 0, in the order of the plan."""
    names: dict[str, Expr] = {}
    for place, (number, atom) in enumerate(part.atoms.items()):
        names.update({_name(number, i): Col(_name(place, i)) for i in range(atom.width)})
    atoms = tuple(
        replace(atom, key=tuple(substitute(e, names) for e in atom.key))
        for atom in part.atoms.values()
    )
    return Rule(
        atoms,
        tuple(substitute(e, names) for e in part.conditions),
        tuple(substitute(e, names) for e in part.columns.values()),
    )


def _name(atom: int, place: int) -> str:
    return f"a{atom}.c{place}"


def _parts(plan: Plan, recursion: Collection[str], number: Callable[[], int]) -> list[_Part]:
    """Take a subplan apart; several parts where it is a union."""
    if isinstance(plan, RecursiveRef) or not mentions(plan, recursion):
        atom = number()
        columns: dict[str, Expr] = {
            column.name: Col(_name(atom, place)) for place, column in enumerate(plan.columns)
        }
        return [_Part({atom: Atom(plan)}, (), columns)]
    match plan:
        case Filter():
            return [
                replace(part, conditions=part.conditions + _where(plan.predicate, part.columns))
                for part in _parts(plan.child, recursion, number)
            ]
        case Project():
            return [
                replace(
                    part, columns={c.name: substitute(e, part.columns) for c, e in plan.outputs}
                )
                for part in _parts(plan.child, recursion, number)
            ]
        case Distinct() | Ship():
            return _parts(plan.child, recursion, number)
        case Union():
            names = [column.name for column in plan.columns]
            return [
                replace(part, columns=dict(zip(names, part.columns.values(), strict=True)))
                for child in plan.children
                for part in _parts(child, recursion, number)
            ]
        case Join():
            return [
                _joined(plan, left, right)
                for left in _parts(plan.left, recursion, number)
                for right in _parts(plan.right, recursion, number)
            ]
        case AntiJoin() if not mentions(plan.right, recursion) and plan.residual is None:
            rights = [column.name for column in plan.right.columns]
            places = tuple(rights.index(right) for _, right in plan.on)
            return [
                replace(
                    part,
                    atoms={
                        **part.atoms,
                        number(): Atom(
                            plan.right,
                            negated=True,
                            key=tuple(part.columns[left] for left, _ in plan.on),
                            places=places,
                        ),
                    },
                )
                for part in _parts(plan.left, recursion, number)
            ]
        case _:
            raise _refused(plan, recursion)


def _where(predicate: Expr, columns: dict[str, Expr]) -> tuple[Expr, ...]:
    return tuple(substitute(part, columns) for part in conjuncts(predicate))


def _joined(plan: Join, left: _Part, right: _Part) -> _Part:
    columns = {**left.columns, **right.columns}
    pairs = tuple(Op("=", columns[one], columns[other]) for one, other in plan.on)
    residual = () if plan.residual is None else _where(plan.residual, columns)
    conditions = (*left.conditions, *right.conditions, *pairs, *residual)
    return _Part({**left.atoms, **right.atoms}, conditions, columns)


def _refused(plan: Plan, recursion: Collection[str]) -> NotMaintainable:
    read = next(name for name in recursion if mentions(plan, (name,)))
    kind = type(plan).__name__
    cycle = f"{read} → {kind} → {read}"
    if isinstance(plan, AntiJoin) and not mentions(plan.right, recursion):
        return NotMaintainable(
            f"NOT EXISTS in the recursion of {read} compares by more than equality",
            found=cycle,
            attempt="let what must not exist be a view, and match its columns by =",
        )
    return NotMaintainable(
        f"{kind} in a circle has no least answer: {cycle}",
        found=cycle,
        exists=("joins", "WHERE", "UNION", "MIN or MAX grouped by the other columns"),
        attempt="apply it to the finished view, in a query that reads it",
    )


def plan_of(rule: Rule, columns: tuple[Column, ...]) -> Plan:
    """A rule as a plan again, its columns under their own names where those tell them apart.

    Args:
        columns: what the outputs are called.

    Law: `linearise` of it gives the rule, but for the order of atoms and conditions.
    """
    names = _own_names(rule)
    plan: Plan | None = None
    untested = [substitute(condition, names) for condition in rule.conditions]
    for number in _side_by_side(rule):
        given = rule.atoms[number].plan
        new = tuple(
            replace(column, name=name.name)
            for column, name in zip(
                given.columns, (names[n] for n in names_of(rule, number)), strict=True
            )
        )
        side = renamed(given, new)
        plan = side if plan is None else Join(plan, side)
        have = {column.name for column in plan.columns}
        test = conjunction(part for part in untested if columns_in(part) <= have)
        untested = [part for part in untested if not columns_in(part) <= have]
        plan = plan if test is None else Filter(plan, test)
    assert plan is not None
    for number, atom in enumerate(rule.atoms):
        if atom.negated:
            there = atom.plan.columns
            keys = tuple(
                (replace(there[place], name=_name(number, i)), substitute(key, names))
                for i, (place, key) in enumerate(zip(atom.places, atom.key, strict=True))
            )
            keep = tuple((column, Col(column.name)) for column in plan.columns)
            on = tuple(
                (column.name, there[place].name)
                for (column, _), place in zip(keys, atom.places, strict=True)
            )
            plan = AntiJoin(Project(plan, (*keep, *keys)), atom.plan, on)
    outputs = (substitute(output, names) for output in rule.outputs)
    return Project(plan, tuple(zip(columns, outputs, strict=True)))


def _own_names(rule: Rule) -> dict[str, Col]:
    """Returns each column's name in its atom's plan, where no other atom has the same."""
    atoms = [(n, atom.plan.columns) for n, atom in enumerate(rule.atoms) if not atom.negated]
    counted = Counter(column.name for _, columns in atoms for column in columns)
    return {
        _name(number, place): Col(
            column.name if counted[column.name] == 1 else _name(number, place)
        )
        for number, columns in atoms
        for place, column in enumerate(columns)
    }


def _side_by_side(rule: Rule) -> list[int]:
    """Order the positive atoms so that each is tied to one before it, where that can be."""
    waiting = [number for number, atom in enumerate(rule.atoms) if not atom.negated]
    tied = [atoms_in(condition) for condition in rule.conditions]
    ordered: list[int] = []
    while waiting:
        near = (
            number
            for number in waiting
            if any(number in atoms and atoms & {*ordered} for atoms in tied)
        )
        ordered.append(next(near, waiting[0]))
        waiting.remove(ordered[-1])
    return ordered


def equalities(rule: Rule) -> tuple[tuple[str, Expr], ...]:
    """Every condition that reads as `column = something of other atoms`, both ways round."""
    found: list[tuple[str, Expr]] = []
    for condition in rule.conditions:
        if isinstance(condition, Op) and condition.symbol == "=":
            sides = ((condition.left, condition.right), (condition.right, condition.left))
            found += [
                (own.name, other)
                for own, other in sides
                if isinstance(own, Col) and atom_of(own.name) not in atoms_in(other)
            ]
    return tuple(found)


def atom_of(name: str) -> int:
    """Returns the atom a column belongs to."""
    return int(name[1:].partition(".")[0])


def place_of(name: str) -> int:
    """Returns a column's place in its atom."""
    return int(name.partition(".c")[2])


def atoms_in(expr: Expr) -> frozenset[int]:
    """Returns the atoms whose columns an expression reads."""
    return frozenset(atom_of(name) for name in columns_in(expr))


def names_of(rule: Rule, number: int) -> tuple[str, ...]:
    """Returns the names of an atom's columns."""
    return tuple(_name(number, place) for place in range(rule.atoms[number].width))
