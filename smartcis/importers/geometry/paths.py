"""Paths: what walking lines in a drawing tell of ground nobody drew and of passages.

A line outside every space is a corridor as wide as two people; a line from one space into the next
shows that there is a way through the wall between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import shapely
from shapely.geometry import LineString, Point, Polygon
from shapely.geometry.base import BaseGeometry

from smartcis.importers.drawing import DrawnPath
from smartcis.importers.geometry.passages import Passage
from smartcis.importers.geometry.spaces import WalkableSpace, polygons

HALF_WIDTH_M = 0.9
LEAST_OUTSIDE_M = 1.0  # shorter stretches outside of all spaces are walls
LEAST_STRIP_M2 = 1.0
THROUGH_M = 1.0  # the thickest wall that a path goes through
LEAST_INSIDE_M = 0.3  # a path that only grazes a space does not enter it


def path_strips(
    paths: Sequence[DrawnPath], spaces: Sequence[WalkableSpace], blocked: Sequence[BaseGeometry]
) -> list[Polygon]:
    """Returns the ground along paths that lies in no space and in no wall of one level."""
    if not paths:
        return []
    taken = shapely.union_all([*(space.free for space in spaces), *blocked])
    outside = [
        piece
        for path in paths
        for piece in _lines(shapely.difference(path.line, taken))
        if piece.length > LEAST_OUTSIDE_M
    ]
    if not outside:
        return []
    wide = shapely.union_all(
        [piece.buffer(HALF_WIDTH_M, cap_style="square", join_style="mitre") for piece in outside]
    )
    left = shapely.difference(wide, taken)
    on_path = shapely.union_all(outside)
    return [piece for piece in polygons(left, LEAST_STRIP_M2) if piece.intersects(on_path)]


def path_passages(
    spaces: Sequence[WalkableSpace], lines: Sequence[BaseGeometry], drawn: Sequence[Passage]
) -> list[Passage]:
    """Returns the passages that paths show where no opening is drawn.

    Args:
        spaces: one level's.
        lines: paths.
        drawn: openings the data has.
    """
    known = {frozenset((way.inner, way.outer)) for way in drawn}
    found: list[Passage] = []
    tree = shapely.STRtree([space.free for space in spaces])
    for line in (piece for one in lines for piece in _lines(one)):
        stretches = sorted(
            stretch
            for hit in tree.query(line, predicate="intersects")
            for stretch in _stretches(line, spaces[int(hit)].free, int(hit))
        )
        for (_, leaves_m, one), (enters_m, _, other) in pairwise(stretches):
            pair = frozenset((one, other))
            if one == other or pair in known or enters_m - leaves_m > THROUGH_M:
                continue
            known.add(pair)
            at = line.interpolate((leaves_m + enters_m) / 2)
            found.append(_passage(spaces, one, other, at))
    return found


def _stretches(
    line: LineString, ground: BaseGeometry, index: int
) -> list[tuple[float, float, int]]:
    """Returns where along a line it is on some ground: (from, to, index), in metres."""
    found = []
    for piece in _lines(shapely.intersection(line, ground)):
        if piece.length >= LEAST_INSIDE_M:
            ends = [shapely.line_locate_point(line, Point(end)) for end in _ends(piece)]
            found.append((float(min(ends)), float(max(ends)), index))
    return found


def _ends(piece: LineString) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return piece.coords[0], piece.coords[-1]


def _passage(spaces: Sequence[WalkableSpace], one: int, other: int, at: Point) -> Passage:
    inner, outer = (one, other) if spaces[one].is_room else (other, one)
    if spaces[inner].is_room and spaces[outer].is_room:
        inner, outer = sorted((one, other), key=lambda index: spaces[index].polygon.area)
    return Passage(inner, outer, at, spaces[inner].is_room, derived=False)


def _lines(geometry: BaseGeometry) -> list[LineString]:
    parts = shapely.get_parts(geometry)
    lines = [part for part in parts if isinstance(part, LineString) and part.length > 0]
    if len(lines) < 2:  # noqa: PLR2004  # nothing to merge
        return lines
    return list(shapely.get_parts(shapely.line_merge(shapely.union_all(lines))))
