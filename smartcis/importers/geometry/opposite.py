"""Opposite: which two grounds lie on either side of a drawn opening.

From the opening's middle one looks both ways at right angles to its wall; what is met first on
each side is what the opening joins. A neighbour along the same wall is never met.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import shapely
from shapely.geometry import LineString, Point, Polygon
from shapely.geometry.base import BaseGeometry

DRAWN_WALL_M = 1.0  # half of the thickest wall that a drawn door goes through
LEAST_MET_M = 0.02  # a look along a wall's face meets nothing
SHARES = (0.5, 0.3, 0.7)  # where along the opening one looks from, the middle first

Vector = tuple[float, float]


def opposite_sides(
    grounds: Mapping[int, BaseGeometry], drawn: BaseGeometry, middle: Point
) -> list[int]:
    """Returns at most two of the grounds, by index, nearest first.

    Args:
        grounds: candidates.
        drawn: a point, a line or an area in the wall's hole, in metres.
        middle: of it.
    """
    if not grounds:
        return []
    along, half_m = _axis(grounds, drawn, middle)
    across = (-along[1], along[0])
    width_m = _width_m(drawn, along)
    best: list[int] = []
    for share in SHARES:
        shift = (share - 0.5) * width_m
        at = Point(middle.x + shift * along[0], middle.y + shift * along[1])
        met: list[int] = []
        for sign in (1.0, -1.0):
            reach_m = sign * (half_m + DRAWN_WALL_M)
            look = LineString([at, (at.x + across[0] * reach_m, at.y + across[1] * reach_m)])
            found = _first(grounds, look, at, met)
            if found is not None:
                met.append(found)
        if len(met) == 2:  # noqa: PLR2004  # both sides
            return met
        best = best or met
    return best or [min(grounds, key=lambda index: (grounds[index].distance(middle), index))]


def _first(
    grounds: Mapping[int, BaseGeometry], look: LineString, at: Point, taken: list[int]
) -> int | None:
    met = []
    for index, ground in grounds.items():
        if index not in taken:
            seen = shapely.intersection(look, ground)
            if seen.length > LEAST_MET_M:
                met.append((round(float(seen.distance(at)), 3), -float(seen.length), index))
    return min(met)[2] if met else None


def _axis(
    grounds: Mapping[int, BaseGeometry], drawn: BaseGeometry, middle: Point
) -> tuple[Vector, float]:
    """Returns the direction of the wall, and half its thickness where the opening tells."""
    if drawn.area > 0:
        box = shapely.minimum_rotated_rectangle(drawn)
        if isinstance(box, Polygon):
            (ax, ay), (bx, by), (cx, cy) = list(box.exterior.coords)[:3]
            long, short = sorted(
                ((bx - ax, by - ay), (cx - bx, cy - by)), key=_length, reverse=True
            )
            return _unit(long), _length(short) / 2
    if isinstance(drawn, LineString) and _length(_chord(drawn)) > 0:
        return _unit(_chord(drawn)), 0.0
    nearest = min(grounds, key=lambda index: (grounds[index].distance(middle), index))
    return _along_border(grounds[nearest], middle), 0.0


def _along_border(ground: BaseGeometry, middle: Point) -> Vector:
    """Returns the direction of the stretch of border nearest to a point."""
    best, direction = math.inf, (1.0, 0.0)
    for ring in shapely.get_parts(shapely.line_merge(ground.boundary)):
        along = shapely.line_locate_point(ring, middle)
        here = ring.interpolate(along)
        if here.distance(middle) < best:
            before = ring.interpolate(max(0.0, along - 0.1))
            after = ring.interpolate(min(ring.length, along + 0.1))
            stretch = (after.x - before.x, after.y - before.y)
            if _length(stretch) > 0:
                best, direction = here.distance(middle), _unit(stretch)
    return direction


def _width_m(drawn: BaseGeometry, along: Vector) -> float:
    points = shapely.get_coordinates(drawn)
    reach = [x * along[0] + y * along[1] for x, y in points]
    return float(max(reach) - min(reach))


def _chord(line: LineString) -> Vector:
    (ax, ay), (bx, by) = line.coords[0], line.coords[-1]
    return bx - ax, by - ay


def _length(vector: Vector) -> float:
    return math.hypot(*vector)


def _unit(vector: Vector) -> Vector:
    length = _length(vector)
    return (vector[0] / length, vector[1] / length) if length else (1.0, 0.0)
