"""Own assignment: where views of the system relations are kept: each lane has rows of its own.

    lanes      0                            1
    w_queries  what lane 0 says of itself   what lane 1 says of itself

Law: with several lanes such a view is the sum of what every lane computes for itself, or in error.
"""

from __future__ import annotations

from aspen.algebra.carried import Carried, Root
from aspen.algebra.lane_rows import LANE, CrossesLanes, lane_part
from aspen.algebra.plan import Plan, relations_of
from aspen.model.schema import Value
from aspen.runtime.own_relations import LANE_RELATIONS, SYSTEM_NAMES

OWN_ROOT = Root("sys", LANE)
"""What such views are split by; no relation has this name."""

EVERYWHERE = -1
"""The lane of a question that every lane answers for itself."""

REASON = "every lane tells of itself"


def reads_own(plan: Plan) -> bool:
    """Whether a plan over base relations reads what every lane says of itself."""
    return not LANE_RELATIONS.isdisjoint(relations_of(plan))


def monitors(plan: Plan) -> bool:
    """Whether a plan over base relations reads system relations, which do not count such plans."""
    return not SYSTEM_NAMES.isdisjoint(relations_of(plan))


def own_part(plan: Plan, number: int, lanes: int) -> Plan:
    """Returns what one lane computes of such a plan.

    Raises:
        CrossesLanes: it would need the rows of several lanes in one place.
    """
    return plan if lanes == 1 else lane_part(plan, LANE_RELATIONS, number, lanes).plan


def own_column(plan: Plan, lanes: int) -> int:
    """Returns the index of the output column that says which lane a row is of, -1 where none does.

    Raises:
        CrossesLanes: as `own_part`.
    """
    kept = lane_part(plan, LANE_RELATIONS, 0, lanes).kept or {}
    names = [column.name for column in plan.columns]
    return min((names.index(c) for c, how in kept.items() if how is Carried.VALUE), default=-1)


def explain_own(plan: Plan, lanes: int) -> str:
    """Say in a sentence how such a plan is kept by several lanes, or why it is not."""
    try:
        own_part(plan, 0, lanes)
    except CrossesLanes as refused:
        return f"in none of {lanes} lanes, because {refused.message}; {refused.attempt}"
    return f"in each of {lanes} lanes for its own rows, because {REASON}"


def own_lane(value: Value, lanes: int) -> int:
    """Returns the lane that has a row, by that column: the first one has those that say none."""
    return value if isinstance(value, int) and value in range(lanes) else 0
