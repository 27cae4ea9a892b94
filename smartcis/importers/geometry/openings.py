"""Openings: the doors a drawing has, tied to the two spaces they join."""

from __future__ import annotations

from collections.abc import Sequence

import shapely
from shapely.geometry import Point
from shapely.geometry.base import BaseGeometry

from smartcis.importers.geometry.contact import WALL_M
from smartcis.importers.geometry.passages import Passage
from smartcis.importers.geometry.spaces import WalkableSpace


def drawn_opening(spaces: Sequence[WalkableSpace], drawn: BaseGeometry) -> Passage | str:
    """Returns the passage at a drawn opening, or say why there is none.

    Args:
        spaces: one level's.
        drawn: a line across the wall's hole, in metres.
    """
    middle = shapely.line_interpolate_point(drawn, 0.5, normalized=True)
    near = sorted(
        (round(float(space.free.distance(middle)), 3), index)
        for index, space in enumerate(spaces)
        if not space.free.is_empty and space.free.distance(middle) <= WALL_M
    )
    if len(near) < 2:  # noqa: PLR2004  # a door has two sides
        return "fewer than two spaces lie at it"
    one, other = near[0][1], near[1][1]
    inner, outer = (one, other) if spaces[one].is_room else (other, one)
    is_door = spaces[one].is_room or spaces[other].is_room
    if spaces[inner].is_room and spaces[outer].is_room and _is_smaller(spaces, outer, inner):
        inner, outer = outer, inner
    return Passage(inner, outer, Point(middle), is_door, derived=False)


def _is_smaller(spaces: Sequence[WalkableSpace], one: int, other: int) -> bool:
    """Returns whether the first of two rooms is the smaller, which one enters from the other."""
    return bool(spaces[one].polygon.area < spaces[other].polygon.area)
