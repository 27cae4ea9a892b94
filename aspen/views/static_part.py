"""Static part: the rows of a plan that rest on base rows which practically never go."""

from __future__ import annotations

from dataclasses import replace

from aspen.algebra.plan import (
    AntiJoin,
    Apply,
    Distinct,
    Filter,
    Fixpoint,
    GroupBy,
    Join,
    MarkJoin,
    OuterJoin,
    Plan,
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
)
from aspen.algebra.renaming import renamed


def static_part(plan: Plan) -> Plan | None:
    """Returns the plan of those rows that rest on non-deletable base rows alone.

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
        case SetOperation() | OuterJoin() | MarkJoin() | Apply():
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
