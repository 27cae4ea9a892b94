"""Static part: the rows of a plan that rest on base rows which practically never go."""

from __future__ import annotations

from aspen.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    Join,
    Plan,
    Project,
    Scan,
    Ship,
    Union,
    Window,
    children,
    with_children,
)
from aspen.algebra.renaming import renamed


def static_part(plan: Plan) -> Plan | None:
    """Returns the plan of those rows that rest on non-deletable base rows alone.

    Returns:
        `plan` itself when that is all of them, None when it is none of them.
    """
    inputs = children(plan)
    if isinstance(plan, Window) or (isinstance(plan, Scan) and (plan.deletable or plan.stream)):
        return None
    parts = [static_part(child) for child in inputs]
    if all(part is child for part, child in zip(parts, inputs, strict=True)):
        return plan
    match plan:
        case Filter() | Project() | Distinct() | Ship() | Join():
            pass
        case AntiJoin() if parts[1] is plan.right:
            pass
        case Union():
            kept = [renamed(part, plan.columns) for part in parts if part is not None]
            if len(kept) < 2:  # noqa: PLR2004 - a union of one is that one
                return kept[0] if kept else None
            return Union(tuple(kept))
        case _:
            return None
    named = [
        renamed(part, child.columns)
        for part, child in zip(parts, inputs, strict=True)
        if part is not None
    ]
    return with_children(plan, tuple(named)) if len(named) == len(inputs) else None
