"""Renaming: the same rows under other column names."""

from __future__ import annotations

from aspen.algebra.expr import Col
from aspen.algebra.plan import Plan, Project
from aspen.model.schema import Column


def renamed(plan: Plan, columns: tuple[Column, ...]) -> Plan:
    """Returns the same rows under other column names; a compiler sees that nothing is computed."""
    if tuple(c.name for c in plan.columns) == tuple(c.name for c in columns):
        return plan
    outputs = zip(columns, plan.columns, strict=True)
    return Project(plan, tuple((new, Col(old.name)) for new, old in outputs))
