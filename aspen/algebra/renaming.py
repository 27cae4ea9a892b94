"""The same rows under other names, with fewer columns, or with more."""

from __future__ import annotations

from collections.abc import Iterable

from aspen.algebra.expr import Col, Expr, conjunction
from aspen.algebra.plan import Filter, Plan, Project
from aspen.model.schema import Column


def renamed(plan: Plan, columns: tuple[Column, ...]) -> Plan:
    """Returns the same rows under other column names; a compiler sees that nothing is computed."""
    if tuple(c.name for c in plan.columns) == tuple(c.name for c in columns):
        return plan
    outputs = zip(columns, plan.columns, strict=True)
    return Project(plan, tuple((new, Col(old.name)) for new, old in outputs))


def narrowed(plan: Plan, columns: Iterable[Column]) -> Plan:
    """Returns some columns of a plan, by name."""
    wanted = tuple(columns)
    return (
        plan if plan.columns == wanted else Project(plan, tuple((c, Col(c.name)) for c in wanted))
    )


def extended(plan: Plan, added: Iterable[tuple[Column, Expr]]) -> Plan:
    """Returns a plan's columns with further ones computed beside them, those it has not yet."""
    existing = {column.name for column in plan.columns}
    new = tuple((column, expr) for column, expr in added if column.name not in existing)
    if not new:
        return plan
    own = tuple((column, Col(column.name)) for column in plan.columns)
    return Project(plan, own + new)


def filtered(plan: Plan, predicates: Iterable[Expr]) -> Plan:
    """Returns the rows of a plan that pass all of some conditions."""
    predicate = conjunction(predicates)
    return plan if predicate is None else Filter(plan, predicate)
