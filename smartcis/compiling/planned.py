"""Plan a query for the engine: what is maintained until an optimizer moves a part of it."""

from __future__ import annotations

from dataclasses import dataclass

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import Plan
from aspen.streamsql import Compiled


@dataclass(frozen=True, slots=True)
class Planned:
    """What the engine gets to maintain.

    Args:
        plan: all of the query.
        text: the same as text, as the log carries it.
    """

    plan: Plan
    text: str


def plan_query(compiled: Compiled) -> Planned:
    """Returns the plan of a compiled query as it begins: everything in the engine.

    What then runs inside the network is decided, and moved there, while it runs: it answers at
    once, and equal queries share a view wherever it is (see `smartcis.placements`).
    """
    return Planned(compiled.plan, plan_text(compiled.plan))
