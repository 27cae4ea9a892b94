"""Reasons: why maintained views are kept the way they are, and share what they share."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from aspen.algebra.read import read_plan
from aspen.errors import AspenError
from aspen.runtime.sharing import choose_sharing
from aspen.views.choose import choose, recursions
from smartcis.compiling.drafts import strategy_chosen
from smartcis.compiling.statistics import house_statistics
from smartcis.models import MaintainedView


def strategy_reasons(views: Iterable[MaintainedView]) -> dict[str, str]:
    """Returns for each view why it has its strategy, as a clause behind "because".

    The reason is worked out anew: counts have moved since the view was registered.
    """
    known = cache(house_statistics)
    reasons: dict[str, str] = {}
    for view in views:
        shared = not (view.standing or view.named or view.kept)
        if shared and not strategy_chosen(view):
            reasons[view.name] = "it was asked for"
            continue
        try:
            plan = read_plan(view.plan_text)
        except AspenError as error:
            reasons[view.name] = f"its plan cannot be read: {error.message}"
            continue
        if next(recursions(plan), None) is None:
            reasons[view.name] = "nothing is recursive, so there is nothing to choose"
            continue
        best = choose(plan, known())
        reasons[view.name] = (
            best.reason
            if best.strategy == view.strategy
            else f"it was chosen or asked for when the view was registered; now {best.strategy} "
            f"would be, because {best.reason}"
        )
    return reasons


def sharing_of(view: MaintainedView) -> tuple[str, str]:
    """Returns how the engine shares a view: the same choice from the same registration.

    Returns:
        own, trunk or tenant, empty where the plan cannot be read; a clause behind "because".
    """
    _, text, _, asked, *_ = view.registration()["register"]
    try:
        chosen = choose_sharing(asked, read_plan(text))
    except AspenError as error:
        return "", error.message
    return chosen.mode.value, chosen.reason
