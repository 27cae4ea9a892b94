"""Contact: where two spaces share a wall, and for how long.

Two shapes are neighbours when they touch or lie no further apart than a wall is thick. A contact
is the list of straight stretches of that shared wall, longest first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import shapely
from shapely.geometry import LineString, Point
from shapely.geometry.base import BaseGeometry

from smartcis.importers.geometry.spaces import WalkableSpace

WALL_M = 0.5  # the thickest gap still read as one wall between two drawings
LEAST_STRETCH_M = 0.6  # no door is narrower
STRAIGHT_DEG = 12.0  # bends below this do not end a stretch


@dataclass(frozen=True)
class SpaceContact:
    """A shared wall between two spaces of one level.

    Args:
        one: index of the first space.
        other: index of the second, greater than the first.
        stretches: straight pieces of wall on the first space's side, longest first.
    """

    one: int
    other: int
    stretches: tuple[LineString, ...]

    @property
    def length_m(self) -> float:
        """Length of the longest straight stretch."""
        return float(self.stretches[0].length)


def contacts(spaces: Sequence[WalkableSpace]) -> list[SpaceContact]:
    """Finds every pair of neighbours on one level, in index order."""
    grounds = [space.free for space in spaces]
    tree = shapely.STRtree(grounds)
    found = []
    for one, ground in enumerate(grounds):
        if ground.is_empty:
            continue
        near = tree.query(ground, predicate="dwithin", distance=WALL_M)
        for other in sorted(int(index) for index in near if index > one):
            stretches = _shared(ground, grounds[other])
            if stretches:
                found.append(SpaceContact(one, other, stretches))
    return found


def _shared(one: BaseGeometry, other: BaseGeometry) -> tuple[LineString, ...]:
    """Returns the straight stretches of `one`'s outline that face `other` across a wall."""
    gap = shapely.distance(one, other)
    # A constant reach would make thin walls look thick at corners: take this pair's own gap.
    facing = shapely.intersection(one.boundary, other.buffer(gap + 0.03, join_style="mitre"))
    lines = [
        piece
        for merged in shapely.get_parts(shapely.line_merge(facing))
        if isinstance(merged, LineString)
        for piece in _straight(merged)
        if piece.length >= LEAST_STRETCH_M
    ]
    return tuple(sorted(lines, key=lambda line: (-round(line.length, 3), line.wkt)))


def _straight(line: LineString) -> list[LineString]:
    """Cuts a line where it bends."""
    points = list(line.coords)
    pieces: list[list[tuple[float, ...]]] = [[points[0]]]
    for before, here, after in zip(points, points[1:], points[2:], strict=False):
        pieces[-1].append(here)
        turn = math.atan2(after[1] - here[1], after[0] - here[0]) - math.atan2(
            here[1] - before[1], here[0] - before[0]
        )
        if abs(math.degrees(math.remainder(turn, math.tau))) > STRAIGHT_DEG:
            pieces.append([here])
    pieces[-1].append(points[-1])
    return [LineString(piece) for piece in pieces if len(piece) > 1]


def crossing_point(stretch: LineString, share: float, other: BaseGeometry) -> Point:
    """Returns the point of a wall where a door stands: between the two sides of the wall.

    Args:
        stretch: straight piece of the first space's outline.
        share: 0 at its start, 1 at its end.
        other: ground on the far side.
    """
    here = stretch.interpolate(share, normalized=True)
    there = shapely.shortest_line(here, other)
    return there.interpolate(0.5, normalized=True) if there.length > 0 else here
