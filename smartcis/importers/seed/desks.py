"""Desks: rows of seats inside a room, each in sight of a point one can walk to."""

from __future__ import annotations

import math
from collections.abc import Sequence

import shapely
from shapely import affinity
from shapely.geometry import Point
from shapely.geometry.base import BaseGeometry

WALL_M = 0.6  # a desk stands this far from every wall
SEAT_M = 1.6  # between two seats of a row
ROW_M = 2.1  # between two rows


def desk_places(
    ground: BaseGeometry, walking: Sequence[Point], count: int
) -> list[tuple[Point, int]]:
    """Find places for desks.

    Args:
        ground: the room's own ground.
        walking: points of the room's walking graph.
        count: how many desks are wanted.

    Returns:
        At most `count` places, each with the index of the nearest walking point it sees.
    """
    roomy = ground.buffer(-WALL_M)
    if roomy.is_empty or not walking:
        return []
    rectangle = shapely.minimum_rotated_rectangle(roomy)
    angle_deg = _long_side_deg(rectangle)
    middle = rectangle.centroid
    level = affinity.rotate(roomy, -angle_deg, origin=middle)
    places: list[tuple[Point, int]] = []
    sight = ground.buffer(0.002)
    shapely.prepare(sight)
    for flat in _grid(level):
        place = affinity.rotate(flat, angle_deg, origin=middle)
        if any(place.distance(point) < SEAT_M / 2 for point in walking):
            continue
        near = sorted(range(len(walking)), key=lambda k: place.distance(walking[k]))
        seen = next(
            (
                k
                for k in near
                if shapely.covers(
                    sight, shapely.linestrings([(place.x, place.y), (walking[k].x, walking[k].y)])
                )
            ),
            None,
        )
        if seen is not None:
            places.append((Point(round(place.x, 3), round(place.y, 3)), seen))
    if len(places) <= count:
        return places
    # Fill whole rows from the front instead of scattering.
    return places[:count]


def _long_side_deg(rectangle: BaseGeometry) -> float:
    (ax, ay), (bx, by), (cx, cy) = list(rectangle.exterior.coords)[:3]
    along = (bx - ax, by - ay), (cx - bx, cy - by)
    dx, dy = max(along, key=lambda side: math.hypot(*side))
    return math.degrees(math.atan2(dy, dx))


def _grid(level: BaseGeometry) -> list[Point]:
    """Give grid points inside, row by row."""
    left, bottom, right, top = level.bounds
    columns = max(1, int((right - left) // SEAT_M) + 1)
    rows = max(1, int((top - bottom) // ROW_M) + 1)
    across = (right - left - (columns - 1) * SEAT_M) / 2
    up = (top - bottom - (rows - 1) * ROW_M) / 2
    points = [
        Point(left + across + column * SEAT_M, bottom + up + row * ROW_M)
        for row in range(rows)
        for column in range(columns)
    ]
    return [point for point in points if level.covers(point)]
