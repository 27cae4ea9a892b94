"""Plan a query for the engine: borders 5 and 6 of the journey."""

from __future__ import annotations

from dataclasses import dataclass

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import Plan
from aspen.model.catalog import Catalog
from aspen.streamsql import Compiled
from federation.place import place
from federation.split import split


@dataclass(frozen=True, slots=True)
class Planned:
    """What the engine gets to maintain.

    Args:
        plan: the engine's fragment.
        text: the same as text, as the log carries it.
    """

    plan: Plan
    text: str


def plan_query(compiled: Compiled, catalog: Catalog) -> Planned:
    """Place a compiled query on motes and engine, and give the engine's part."""
    plan = split(place(compiled.plan, catalog)).engine.plan
    return Planned(plan, plan_text(plan))
