"""Say how much of its dataflow a maintained view has in common with others, and why."""

from __future__ import annotations

from aspen.algebra.read import read_plan
from aspen.errors import AspenError
from aspen.runtime.sharing import choose_sharing
from smartcis.models import MaintainedView


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
