"""Projections over projections, and those that do nothing."""

from __future__ import annotations

from collections import Counter

from aspen.algebra.expr import Col, Const, leaves, substitute
from aspen.algebra.plan import Plan, Project
from aspen.algebra.rewrite.rule import Rule


def _computes_nothing_twice(plan: Plan) -> bool:
    match plan:
        case Project(Project(_, inner), outer):
            uses = Counter(leaf for _, expr in outer for leaf in leaves(expr))
            return all(isinstance(expr, Col | Const) or uses[Col(c.name)] <= 1 for c, expr in inner)
    return False


def _merge(plan: Plan) -> Plan | None:
    match plan:
        case Project(Project(child, inner), outer):
            values = {column.name: expr for column, expr in inner}
            return Project(child, tuple((c, substitute(expr, values)) for c, expr in outer))
    return None


def _is_identity(plan: Plan) -> bool:
    return (
        isinstance(plan, Project)
        and plan.columns == plan.child.columns
        and all(expr == Col(column.name) for column, expr in plan.outputs)
    )


# Guard: an inner expression used twice would be computed twice.
MERGE_PROJECTS = Rule(
    name="merge_projects",
    claim="project[f](project[e](r)) = project[f∘e](r)",
    counter_example="none of meaning; distance(…) AS d, d * d would compute the distance twice",
    guard=_computes_nothing_twice,
    build=_merge,
)

DROP_IDENTITY = Rule(
    name="drop_identity",
    claim="project[all columns as they are](r) = r",
    counter_example="a projection that renames, reorders, widens or drops is no identity",
    match=_is_identity,
    build=lambda plan: plan.child if isinstance(plan, Project) else None,
)
