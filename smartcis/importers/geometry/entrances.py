"""Entrances: where the building opens to the outside.

Mapped entrances count where they stand on a space's border. A building whose data names none gets
one, concluded, in every ground-level walkway that reaches the outline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import shapely
from shapely.geometry import Point
from shapely.geometry.base import BaseGeometry

from smartcis.importers.geometry.spaces import WalkableSpace

REACH_M = 1.5  # how far from a drawn border an entrance may have been mapped
OUTER_WALL_M = 0.3  # a door in the outer wall lies this close to the outline
LEAST_FRONT_M = 1.5  # shortest stretch of outline that may hold a concluded entrance


@dataclass(frozen=True)
class Entrance:
    """A way in from outside.

    Args:
        space: index of the space it opens into.
        point: where, in metres.
        name: as mapped; may be empty.
        derived: concluded instead of mapped.
    """

    space: int
    point: Point
    name: str
    derived: bool


def mapped_entrance(
    spaces: Sequence[WalkableSpace], mapped: Point, level: float | None, name: str
) -> Entrance | str:
    """Attaches an entrance of the data to a space, or returns why it cannot be.

    Args:
        spaces: of all levels.
        mapped: where, in metres.
        level: its level tag, None when it has none.
        name: may be empty.
    """
    near = [
        (not space.is_walkway, space.free.distance(mapped), index)
        for index, space in enumerate(spaces)
        if not space.is_lift
        and (level is None or space.level == level)
        and space.free.distance(mapped) <= REACH_M
    ]
    if not near:
        return "no drawn space within 1.5 m"
    if len({spaces[index].level for _, _, index in near}) > 1:
        return "no level tag, and spaces of several levels lie there"
    walkways = [entry for entry in near if not entry[0]]
    _, _, chosen = min(walkways or near)
    border = spaces[chosen].free.boundary
    point = Point(shapely.shortest_line(border, mapped).coords[0])
    return Entrance(chosen, point, name, derived=False)


def concluded_entrances(
    spaces: Sequence[WalkableSpace], outline: BaseGeometry, level: float
) -> list[Entrance]:
    """Concludes entrances where the data has none: the ground level's walkways at the outline."""
    found = []
    for index, space in enumerate(spaces):
        if space.level != level or not space.is_walkway:
            continue
        edge = shapely.intersection(space.free.boundary, outline.boundary.buffer(OUTER_WALL_M))
        stretches = shapely.get_parts(shapely.line_merge(edge))
        longest = max(stretches, key=lambda line: line.length, default=None)
        if longest is not None and longest.length >= LEAST_FRONT_M:
            door = longest.interpolate(0.5, normalized=True)
            found.append(Entrance(index, Point(door), "", derived=True))
    return found


def guessed_entrance(
    spaces: Sequence[WalkableSpace], outline: BaseGeometry, level: float
) -> Entrance:
    """Guesses where one comes in when nothing tells: the largest space at the outer wall."""
    here = [index for index, space in enumerate(spaces) if space.level == level and space.parts]
    wall = outline.boundary.buffer(OUTER_WALL_M)
    outer = [index for index in here if spaces[index].free.intersects(wall)] or here
    chosen = max(outer, key=lambda index: (not spaces[index].is_lift, spaces[index].free.area))
    border = spaces[chosen].parts[0].exterior
    front = shapely.line_merge(shapely.intersection(border, wall))
    longest = max(shapely.get_parts(front), key=lambda line: line.length, default=border)
    line = longest if longest.length > 0 else border
    return Entrance(chosen, Point(line.interpolate(0.5, normalized=True)), "", derived=True)
