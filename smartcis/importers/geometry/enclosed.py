"""Enclosed: the rooms of a plan that draws walls instead of rooms.

Rooms are what is left of a floor when walls, windows and closed doors are taken away. Slits
narrower than a person are closed first, so that walls which miss each other by a hand still bound.
"""

from __future__ import annotations

from collections.abc import Sequence

import shapely
from shapely.geometry import Polygon
from shapely.geometry.base import BaseGeometry

from smartcis.importers.geometry.spaces import WalkableSpace, ground_of, polygons

SLIT_M = 0.3  # nobody fits through
LEAST_ROOM_M2 = 1.5
LEAST_RADIUS_M, SLIM_M2 = 0.6, 5.0  # a larger room that holds no larger circle is none
DOOR_HALF_M = 0.1  # half the thickness of a door drawn as a line
HALL_DOORS = 4  # a room with so many doors is passed through
FLAT = "mitre"


def enclosed_rooms(
    spaces: Sequence[WalkableSpace],
    walls: Sequence[BaseGeometry],
    doors: Sequence[BaseGeometry],
    outline: BaseGeometry | None,
    voids: Sequence[BaseGeometry] = (),
) -> list[tuple[BaseGeometry, str]]:
    """Finds the rooms between the walls of one level, with their categories.

    Args:
        spaces: drawn ones, which keep their ground.
        walls: and windows, as areas.
        doors: as points, lines or areas.
        outline: of the level; None when the walls alone say where it ends.
        voids: ground inside rooms that nobody walks on.

    Returns:
        Disjoint areas, largest first; what has many doors is a walkway.
    """
    closed = [door if door.area > 0 else door.buffer(DOOR_HALF_M) for door in doors]
    solid = shapely.union_all([*walls, *closed])
    sealed = solid.buffer(SLIT_M / 2, join_style=FLAT).buffer(-SLIT_M / 2, join_style=FLAT)
    if outline is None:
        outline = shapely.union_all([Polygon(piece.exterior) for piece in polygons(sealed)])
    taken = [*(space.free for space in spaces), *voids]
    left = shapely.difference(outline, shapely.union_all([sealed, solid, *taken]))
    half = SLIT_M / 2
    opened = left.buffer(-half, join_style=FLAT).buffer(half, join_style=FLAT)
    rooms = polygons(ground_of(shapely.intersection(opened, left)), LEAST_ROOM_M2)
    found: list[tuple[BaseGeometry, str]] = []
    for room in rooms:
        roomy = shapely.simplify(room, 0.02)
        ground = ground_of(shapely.intersection(roomy, left))
        for piece in polygons(ground, LEAST_ROOM_M2):
            radius_m = shapely.maximum_inscribed_circle(piece, tolerance=0.05).length
            if radius_m < LEAST_RADIUS_M and piece.area > SLIM_M2:
                continue  # the inside of a double wall
            near = sum(door.distance(piece) < SLIT_M for door in closed)
            found.append((piece, "walkway" if near >= HALL_DOORS else "room"))
    return found
