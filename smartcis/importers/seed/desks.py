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
AIRY = (2.5, 2.2, 1.9, 1.7, 1.5, 1.3, 1.15, 1.0)  # multiples of both, roomiest first


def desk_seats(
    ground: BaseGeometry, walking: Sequence[Point], count: int
) -> list[tuple[Point, int]]:
    """Finds where desks can stand.

    Args:
        ground: the room's own ground.
        walking: points of the room's walking graph.
        count: how many desks are wanted.

    Returns:
        At most `count` points, each with the index of the nearest walking point it sees.
    """
    roomy = ground.buffer(-WALL_M)
    if roomy.is_empty or not walking:
        return []
    rectangle = shapely.minimum_rotated_rectangle(roomy)
    angle_deg = _long_side_deg(rectangle)
    middle = rectangle.centroid
    level = affinity.rotate(roomy, -angle_deg, origin=middle)
    sight = ground.buffer(0.002)
    shapely.prepare(sight)
    seats: list[tuple[Point, int]] = []
    # As airy as the wanted number allows.
    for airy in AIRY:
        flat = _grid(level, SEAT_M * airy, ROW_M * airy)
        placed = [affinity.rotate(one, angle_deg, origin=middle) for one in flat]
        seats = _in_sight(placed, walking, sight)
        if len(seats) >= count:
            break
    return seats[:count]


def _in_sight(
    placed: Sequence[Point], walking: Sequence[Point], sight: BaseGeometry
) -> list[tuple[Point, int]]:
    """Keeps the points that see a walking point and do not stand on one."""
    kept = []
    for seat in placed:
        if any(seat.distance(point) < SEAT_M / 2 for point in walking):
            continue
        near = nearest_seen(seat, walking, sight)
        if near is not None:
            kept.append((Point(round(seat.x, 3), round(seat.y, 3)), near))
    return kept


def nearest_seen(seat: Point, walking: Sequence[Point], sight: BaseGeometry) -> int | None:
    """Returns the index of the nearest walking point that a seat sees, None if it sees none."""
    for near in sorted(range(len(walking)), key=lambda k: seat.distance(walking[k])):
        ends = [(seat.x, seat.y), (walking[near].x, walking[near].y)]
        if shapely.covers(sight, shapely.linestrings(ends)):
            return near
    return None


def _long_side_deg(rectangle: BaseGeometry) -> float:
    (ax, ay), (bx, by), (cx, cy) = list(rectangle.exterior.coords)[:3]
    along = (bx - ax, by - ay), (cx - bx, cy - by)
    dx, dy = max(along, key=lambda side: math.hypot(*side))
    return math.degrees(math.atan2(dy, dx))


def _grid(level: BaseGeometry, seat_m: float, row_m: float) -> list[Point]:
    """Returns grid points inside, row by row."""
    left, bottom, right, top = level.bounds
    columns = max(1, int((right - left) // seat_m) + 1)
    rows = max(1, int((top - bottom) // row_m) + 1)
    across = (right - left - (columns - 1) * seat_m) / 2
    up = (top - bottom - (rows - 1) * row_m) / 2
    points = [
        Point(left + across + column * seat_m, bottom + up + row * row_m)
        for row in range(rows)
        for column in range(columns)
    ]
    return [point for point in points if level.covers(point)]
