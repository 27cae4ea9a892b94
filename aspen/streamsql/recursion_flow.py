"""What one recursive step makes of the recursive rows: sub-selects in FROM are looked through.

Only termination analysis reads this; names are made unique by the way they were reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

from sqlglot import exp

from aspen.algebra.expr import (
    Col,
    Expr,
    Op,
    Outer,
    columns_in,
    conjuncts,
    outer_in,
    parts,
    with_parts,
)
from aspen.algebra.plan import (
    AntiJoin,
    Apply,
    ApplyKind,
    Distinct,
    Filter,
    Fixpoint,
    GroupBy,
    Join,
    OuterJoin,
    Plan,
    Project,
    RecursiveRef,
    Union,
    children,
)
from aspen.algebra.rewrite.dependent import outer_names, partners
from aspen.errors import Position
from aspen.streamsql.errors import NonStratified, Unsupported
from aspen.streamsql.positions import whole
from aspen.streamsql.tree import items_of


@dataclass(frozen=True, slots=True)
class Negated:
    """A NOT EXISTS of a step.

    Args:
        reads: the columns around it that it compares.
        plain: it compares by equality alone.
    """

    reads: frozenset[str]
    plain: bool


@dataclass(frozen=True, slots=True)
class Branch:
    """One step: how the columns of a relation come from recursive ones.

    Args:
        relation: the relation it derives.
        step: its text.
        reads: the recursive rows it joins, each a relation and the names of its columns.
        outputs: one per column of the relation.
        predicates: conditions that are true of every derived row.
        negated: its NOT EXISTS.
    """

    relation: str
    step: exp.Select
    reads: tuple[tuple[str, tuple[str, ...]], ...]
    outputs: tuple[Expr, ...]
    predicates: tuple[Expr, ...]
    negated: tuple[Negated, ...]

    @property
    def recursive(self) -> dict[str, tuple[str, int]]:
        """By name, each recursive column: its relation and its index there."""
        return {
            name: (relation, index)
            for relation, names in self.reads
            for index, name in enumerate(names)
        }

    def at(self, index: int) -> Position:
        """Returns where the text computes a column."""
        items = items_of(self.step)
        return items[index].at if index < len(items) else whole(self.step)


@dataclass(frozen=True, slots=True)
class _Flat:
    """A query or FROM, looked through."""

    columns: Mapping[str, Expr]
    reads: tuple[tuple[str, tuple[str, ...]], ...] = ()
    predicates: tuple[Expr, ...] = ()
    negated: tuple[Negated, ...] = ()

    def joined(self, other: _Flat) -> _Flat:
        return _Flat(
            {**self.columns, **other.columns},
            self.reads + other.reads,
            self.predicates + other.predicates,
            self.negated + other.negated,
        )

    def passing(self, *predicates: Expr) -> _Flat:
        return replace(self, predicates=self.predicates + predicates)


def branches(relation: str, step: exp.Select, plan: Plan) -> list[Branch]:
    """Looks through a step.

    Returns:
        As many branches as the unions in its sub-selects give.

    Raises:
        NonStratified, Unsupported: the recursion is read through what has no least answer.
    """
    return [
        Branch(
            relation, step, flat.reads, tuple(flat.columns.values()), flat.predicates, flat.negated
        )
        for flat in _flats(plan, "", whole(step))
    ]


def _alone(plan: Plan) -> bool:
    """Whether a sub-query has one answer for all rows."""
    return not outer_names(plan) and not _reads_recursion(plan)


def _reads_recursion(plan: Plan) -> bool:
    if isinstance(plan, Fixpoint):
        return False
    return isinstance(plan, RecursiveRef) or any(map(_reads_recursion, children(plan)))


def _flats(plan: Plan, prefix: str, at: Position) -> list[_Flat]:
    own: dict[str, Expr] = {c.name: Col(prefix + c.name) for c in plan.columns}
    if not _reads_recursion(plan):
        return [_Flat(own)]
    match plan:
        case RecursiveRef(name, _, columns):
            return [_Flat(own, ((name, tuple(prefix + column.name for column in columns)),))]
        case Project(child, outputs):
            return [
                replace(flat, columns={c.name: _filled(e, flat.columns) for c, e in outputs})
                for flat in _flats(child, prefix, at)
            ]
        case Filter(child, predicate):
            tests = tuple(conjuncts(predicate))
            return [
                flat.passing(*(_filled(test, flat.columns) for test in tests))
                for flat in _flats(child, prefix, at)
            ]
        case Join(left, right):
            pairs = product(_flats(left, f"{prefix}0/", at), _flats(right, f"{prefix}1/", at))
            return [one.joined(other) for one, other in pairs]
        case Distinct(child):
            return _flats(child, prefix, at)
        case Union(sides):
            flats = (flat for side in sides for flat in _flats(side, prefix, at))
            return [
                replace(flat, columns=dict(zip(own, flat.columns.values(), strict=True)))
                for flat in flats
            ]
        case Apply(left, _, ApplyKind.EXISTS | ApplyKind.NOT_EXISTS):
            around = _flats(left, prefix, at)
            return [found for flat in around for found in _exists(plan, flat, f"{prefix}2/", at)]
        case Apply(left, right, ApplyKind.VALUE, output) if output and _alone(right):
            value = _Flat({output.name: own[output.name]})
            return [flat.joined(value) for flat in _flats(left, prefix, at)]
        case Apply() | GroupBy():
            raise NonStratified(
                "an aggregate or a sub-query's value in a recursive step has no least answer",
                position=at,
                attempt="compute it in a CTE or view that the step joins with",
            )
        case OuterJoin() | AntiJoin():
            raise NonStratified(
                "an outer join of a recursive view in its own step has no least answer",
                position=at,
                found="an outer join",
                attempt="join with the finished view, in the query that reads it",
            )
    raise Unsupported(
        "a recursive view is read through a query that is no SELECT or UNION",
        position=at,
        attempt="read it directly in FROM",
    )


def _exists(plan: Apply, around: _Flat, prefix: str, at: Position) -> list[_Flat]:
    names = frozenset(around.columns)
    right, across = partners(plan.right, names)
    if plan.kind is ApplyKind.NOT_EXISTS:
        if outer_names(right) & names:
            raise NonStratified(
                "a NOT EXISTS that reads the recursive rows at several depths has no least answer",
                position=at,
                found="NOT EXISTS",
                attempt="compute it in a CTE or view that the step joins with",
            )
        compared = (around.columns[name] for part in across for name in outer_in(part))
        reads = frozenset[str]().union(*map(columns_in, compared))
        made = Negated(reads, all(map(_is_equality, across)))
        return [replace(around, negated=(*around.negated, made))]
    flats: list[_Flat] = []
    for inside in _flats(right, prefix, at):
        tests = tuple(_filled(part, inside.columns) for part in across)
        matched = tuple(_filled(t, {}, around.columns) for t in inside.predicates + tests)
        flats.append(
            replace(
                around,
                reads=around.reads + inside.reads,
                predicates=around.predicates + matched,
                negated=around.negated + inside.negated,
            )
        )
    return flats


def _is_equality(test: Expr) -> bool:
    match test:
        case Op("=", Outer(), Col()) | Op("=", Col(), Outer()):
            return True
    return False


def _filled(expr: Expr, own: Mapping[str, Expr], around: Mapping[str, Expr] | None = None) -> Expr:
    """Replaces columns, and those of the rows around, by what they are computed from."""
    match expr:
        case Col(name):
            return own.get(name, expr)
        case Outer(name):
            return (around or {}).get(name, expr)
    return with_parts(expr, (_filled(part, own, around) for part in parts(expr)))
