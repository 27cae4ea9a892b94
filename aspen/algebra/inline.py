"""Inline: a plan over views → the same plan over base relations alone.

The circuit shares equal subplans, so a view that ten others scan is still computed once.
"""

from __future__ import annotations

from collections.abc import Mapping

from aspen.algebra.plan import Plan, PlanError, Scan, map_children
from aspen.algebra.plan_parts import refuse_large
from aspen.algebra.renaming import renamed


def inline(plan: Plan, views: Mapping[str, Plan]) -> Plan:
    """Replace every scan of a view by the view's plan.

    Args:
        views: plans that scan no views themselves.

    Raises:
        PlanError: a scan expects other columns than the view has.
        TooComplex: views over views, each of them small, are together more than one plan may be.
    """
    made = _inlined(plan, views)
    refuse_large(made)
    return made


def _inlined(plan: Plan, views: Mapping[str, Plan]) -> Plan:
    if not isinstance(plan, Scan) or plan.relation not in views:
        return map_children(plan, lambda child: _inlined(child, views))
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
