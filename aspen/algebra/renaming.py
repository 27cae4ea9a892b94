"""The same rows under other names, with fewer columns, or with more."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from aspen.algebra.expr import Col, Expr, columns_in, conjunction
from aspen.algebra.plan import Filter, Plan, Project
from aspen.model.schema import Column


def as_they_are(columns: Iterable[Column]) -> tuple[tuple[Column, Expr], ...]:
    """Returns the outputs of a projection that passes columns on."""
    return tuple((column, Col(column.name)) for column in columns)


def by_position(columns: Iterable[Column], others: Iterable[Column]) -> dict[str, Expr]:
    """Returns for each column's name the other column that stands where it stands."""
    return {one.name: Col(other.name) for one, other in zip(columns, others, strict=True)}


def renamed(plan: Plan, columns: tuple[Column, ...]) -> Plan:
    """Returns the same rows under other column names; a compiler sees that nothing is computed."""
    if tuple(c.name for c in plan.columns) == tuple(c.name for c in columns):
        return plan
    outputs = zip(columns, plan.columns, strict=True)
    return Project(plan, tuple((new, Col(old.name)) for new, old in outputs))


def narrowed(plan: Plan, columns: Iterable[Column]) -> Plan:
    """Returns some columns of a plan, by name."""
    wanted = tuple(columns)
    return plan if plan.columns == wanted else Project(plan, as_they_are(wanted))


def extended(plan: Plan, added: Iterable[tuple[Column, Expr]]) -> Plan:
    """Returns a plan's columns with further ones computed beside them, those it has not yet."""
    existing = plan.names
    new = tuple((column, expr) for column, expr in added if column.name not in existing)
    return Project(plan, as_they_are(plan.columns) + new) if new else plan


def filtered(plan: Plan, predicates: Iterable[Expr]) -> Plan:
    """Returns the rows of a plan that pass all of some conditions."""
    predicate = conjunction(predicates)
    return plan if predicate is None else Filter(plan, predicate)


def parted(conditions: Iterable[Expr], names: Collection[str]) -> tuple[list[Expr], list[Expr]]:
    """Parts conditions into those that read some columns, and nothing else, and the others."""
    own: list[Expr] = []
    rest: list[Expr] = []
    wanted = frozenset(names)
    for condition in conditions:
        read = columns_in(condition)
        (own if read and read <= wanted else rest).append(condition)
    return own, rest


def bare_names(columns: Iterable[Column]) -> list[str]:
    """Returns columns' names without what is before the point, numbered where two are alike."""
    found: dict[str, None] = {}
    for column in columns:
        bare = name = column.name.rpartition(".")[2]
        number = 1
        while name in found:
            number += 1
            name = f"{bare}_{number}"
        found[name] = None
    return list(found)
