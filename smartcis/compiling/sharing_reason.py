"""Say how much of its dataflow a maintained view has in common with others, and why."""

from __future__ import annotations

from dataclasses import dataclass

from aspen.algebra.read import read_plan
from aspen.errors import AspenError
from aspen.runtime.sharing import choose_sharing
from smartcis.models import MaintainedView


@dataclass(frozen=True, slots=True)
class Sharing:
    """How a view is shared.

    Args:
        mode: own, trunk or tenant; empty where the plan cannot be read.
        reason: a clause behind "because".
    """

    mode: str
    reason: str


def sharing_of(view: MaintainedView) -> Sharing:
    """Returns how the engine shares a view: the same choice from the same registration."""
    _, text, _, asked, _ = view.registration()["register"]
    try:
        chosen = choose_sharing(asked, read_plan(text))
    except AspenError as error:
        return Sharing("", error.message)
    return Sharing(chosen.mode.value, chosen.reason)
