"""Picture: a building that is not stored yet, as what a page draws of it."""

from __future__ import annotations

from typing import Any

from smartcis.importers.derive import BuildingPlan
from smartcis.importers.store import areas


def picture_of(plan: BuildingPlan) -> list[dict[str, Any]]:
    """Returns the levels from the lowest up, each with outline, units, doors and entrances.

    Shapes are lists of polygons, each a list of rings of [x, y] in metres.
    """
    reached = plan.unreached
    return [
        {
            "level_id": level.level_id,
            "name": level.name,
            "outline": areas(level.outline),
            "units": [
                {
                    "rid": space.rid,
                    "name": space.name,
                    "category": space.category,
                    "derived": space.derived,
                    "unreached": reached.get(index, ""),
                    "shape": areas(space.free),
                }
                for index, space in enumerate(plan.spaces)
                if space.level == level.ordinal
            ],
            "doors": [
                {"x_m": door.x_m, "y_m": door.y_m, "derived": door.derived}
                for door in plan.graph.doors
                if plan.spaces[door.inner].level == level.ordinal
            ],
            "entrances": [
                {
                    "x_m": round(one.point.x, 3),
                    "y_m": round(one.point.y, 3),
                    "derived": one.derived,
                    "name": one.name,
                }
                for one in plan.entrances
                if plan.spaces[one.space].level == level.ordinal
            ],
        }
        for level in sorted(plan.levels, key=lambda one: one.ordinal)
    ]
