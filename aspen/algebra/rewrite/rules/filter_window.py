"""Filters over windows: only time windows let them through."""

from __future__ import annotations

from dataclasses import replace

from aspen.algebra.plan import Filter, Plan, Window
from aspen.algebra.rewrite.rule import Rule


def _below(plan: Plan) -> Plan | None:
    match plan:
        case Filter(Window(child) as window, predicate):
            # Partitions do not matter to a pure RANGE window, nor to the rows it holds.
            return replace(window, child=Filter(child, predicate))
    return None


# Claim: whether a row is still in time does not depend on other rows.
# Guard: no ROWS. `seat_reading [PARTITION BY mid ROWS 1] s WHERE s.weight_kg >= 5.0` asks for seats
# whose *newest* reading is heavy; below the window it would ask for the newest *heavy* reading,
# and a seat would never be left. Nor SESSION: the light readings between keep a session together.
FILTER_BELOW_RANGE = Rule(
    name="filter_below_range",
    claim="filter[p](r[RANGE t]) = filter[p](r)[RANGE t]",
    counter_example="[PARTITION BY mid ROWS 1] s WHERE s.weight_kg >= 5.0: the newest heavy reading"
    " is not the newest reading if that is heavy",
    match=lambda plan: isinstance(plan, Filter) and isinstance(plan.child, Window),
    guard=lambda plan: (
        isinstance(plan, Filter)
        and isinstance(plan.child, Window)
        and plan.child.bounds.by_time_alone
    ),
    build=_below,
)
