"""Inline: a plan over views → the same plan over base relations alone; and its static part.

The circuit shares equal subplans, so a view that ten others scan is still computed once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from aspen.algebra.expr import Col
from aspen.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    Fixpoint,
    GroupBy,
    Join,
    MarkJoin,
    OuterJoin,
    Plan,
    PlanError,
    Project,
    RecursiveRef,
    Scan,
    SetOperation,
    Ship,
    TopK,
    Union,
    Values,
    Window,
    children,
    with_children,
)
from aspen.model.schema import Column


def renamed(plan: Plan, columns: tuple[Column, ...]) -> Plan:
    """Give the same rows under other column names; a compiler sees that nothing is computed."""
    if tuple(c.name for c in plan.columns) == tuple(c.name for c in columns):
        return plan
    outputs = zip(columns, plan.columns, strict=True)
    return Project(plan, tuple((new, Col(old.name)) for new, old in outputs))


def inline(plan: Plan, views: Mapping[str, Plan]) -> Plan:
    """Replace every scan of a view by the view's plan.

    Args:
        views: plans that scan no views themselves.

    Raises:
        PlanError: a scan expects other columns than the view has.
    """
    match plan:
        case Scan() if plan.relation in views:
            view = views[plan.relation]
            expected = [(c.name.split(".")[-1], c.type) for c in plan.columns]
            if expected != [(c.name.split(".")[-1], c.type) for c in view.columns]:
                raise PlanError(
                    f"view {plan.relation} has other columns by now",
                    found=", ".join(name for name, _ in expected),
                    exists=[c.name for c in view.columns],
                    attempt="register the query again",
                )
            return renamed(view, plan.columns)
        case Scan() | Values() | RecursiveRef():
            return plan
        case Join() | AntiJoin() | OuterJoin() | MarkJoin() | SetOperation():
            return replace(plan, left=inline(plan.left, views), right=inline(plan.right, views))
        case Union() | Fixpoint():
            return with_children(plan, tuple(inline(child, views) for child in children(plan)))
        case _:
            return replace(plan, child=inline(plan.child, views))


def static_part(plan: Plan) -> Plan | None:
    """Give the plan of those rows that rest on non-deletable base rows alone.

    Returns:
        `plan` itself when that is all of them, None when it is none of them.
    """
    match plan:
        case Scan():
            return None if plan.deletable or plan.stream else plan
        case Window():
            return None
        case RecursiveRef():
            return plan
        case Filter() | Project() | Distinct() | Ship():
            child = static_part(plan.child)
            if child is None or child is plan.child:
                return plan if child is not None else None
            return replace(plan, child=renamed(child, plan.child.columns))
        case Join():
            left, right = static_part(plan.left), static_part(plan.right)
            if left is None or right is None:
                return None
            if left is plan.left and right is plan.right:
                return plan
            return replace(
                plan,
                left=renamed(left, plan.left.columns),
                right=renamed(right, plan.right.columns),
            )
        case Union():
            return _static_union(plan)
        case AntiJoin():
            if static_part(plan.right) is not plan.right:
                return None
            left = static_part(plan.left)
            if left is None or left is plan.left:
                return plan if left is not None else None
            return replace(plan, left=renamed(left, plan.left.columns))
        case Values():
            return plan
        case GroupBy() | TopK():
            return plan if static_part(plan.child) is plan.child else None
        case SetOperation() | OuterJoin() | MarkJoin():
            sides = (plan.left, plan.right)
            return plan if all(static_part(side) is side for side in sides) else None
        case Fixpoint():
            return plan if all(static_part(part) is part for part in children(plan)) else None


def _static_union(plan: Union) -> Plan | None:
    parts = [static_part(child) for child in plan.children]
    if all(part is child for part, child in zip(parts, plan.children, strict=True)):
        return plan
    kept = [renamed(part, plan.columns) for part in parts if part is not None]
    if len(kept) < 2:  # noqa: PLR2004 - a union of one is that one
        return kept[0] if kept else None
    return Union(tuple(kept))
