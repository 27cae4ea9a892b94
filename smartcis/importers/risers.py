"""Risers: stairs and lifts that are drawn as lines or points, and levels that nothing joins."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import shapely
from shapely.geometry import Point

from smartcis.importers.drawing import Drawing, Finding, Note, RiserKind
from smartcis.importers.geometry.spaces import WalkableSpace
from smartcis.importers.geometry.vertical import STAIR_SLOPE_DEG, Climb, Riser
from smartcis.importers.level_names import level_id

REACH_M = 3.0  # how far from a space a stop may have been drawn
LEAST_RISE_M, GREATEST_RISE_M = 1.0, 30.0


def elevations(drawing: Drawing) -> dict[float, float]:
    """Returns how high each level lies: as the file says where it says so of all, soundly."""
    told = {level.ordinal: level.elevation_m for level in drawing.levels}
    heights = [told[ordinal] for ordinal in sorted(told)]
    if all(height is not None for height in heights) and all(
        0 < (upper or 0) - (lower or 0) < GREATEST_RISE_M for lower, upper in pairwise(heights)
    ):
        return {ordinal: float(height or 0) for ordinal, height in told.items()}
    return {ordinal: ordinal * drawing.level_height_m for ordinal in told}


def drawn_risers(
    drawing: Drawing,
    spaces: Sequence[WalkableSpace],
    rises: Sequence[Climb],
    heights_m: Mapping[float, float],
    notes: list[Note],
) -> list[Riser]:
    """Attaches each drawn riser to the spaces at its stops, and joins levels left apart.

    Args:
        spaces: of all levels.
        rises: climbs inside shafts that are known already.
        heights_m: of each level.
    """
    joined = {frozenset((rise.lower, rise.upper)) for rise in rises}
    found: list[Riser] = []
    for riser in drawing.risers:
        stops = []
        for level, point in sorted(riser.stops, key=lambda stop: stop[0]):
            at = _space_at(spaces, level, point)
            if at is None:
                why = f"no space lies within {REACH_M:g} m of its stop on level {level:g}"
                notes.append(Note(Finding.DROPPED, "stop", riser.key, why))
            else:
                stops.append(at)
        for lower, upper in pairwise(stops):
            if frozenset((lower[0], upper[0])) not in joined:
                joined.add(frozenset((lower[0], upper[0])))
                found.append(_riser(spaces, lower, upper, riser.kind, heights_m))
    found += _bridges(drawing, spaces, joined, heights_m, notes)
    return found


def _riser(
    spaces: Sequence[WalkableSpace],
    lower: tuple[int, Point],
    upper: tuple[int, Point],
    kind: RiserKind,
    heights_m: Mapping[float, float],
) -> Riser:
    rise_m = heights_m[spaces[upper[0]].level] - heights_m[spaces[lower[0]].level]
    length_m = max(LEAST_RISE_M, rise_m)
    if kind is not RiserKind.LIFT:
        length_m /= math.sin(math.radians(STAIR_SLOPE_DEG))
    return Riser(
        lower, upper, length_m, by_lift=kind is RiserKind.LIFT, steps=kind is RiserKind.STAIRS
    )


def _space_at(
    spaces: Sequence[WalkableSpace], level: float, point: Point
) -> tuple[int, Point] | None:
    """Returns the space nearest to a point, and the point on its ground."""
    near = [
        (round(float(space.free.distance(point)), 3), space.polygon.area, index)
        for index, space in enumerate(spaces)
        if space.level == level and space.parts and space.free.distance(point) <= REACH_M
    ]
    if not near:
        return None
    index = min(near)[2]
    return index, _on_ground(spaces[index], point)


def _on_ground(space: WalkableSpace, point: Point) -> Point:
    if space.free.contains(point):
        return point
    roomy = space.free.buffer(-0.3)
    ground = space.free if roomy.is_empty else roomy
    return Point(shapely.shortest_line(ground, point).coords[0])


def _bridges(
    drawing: Drawing,
    spaces: Sequence[WalkableSpace],
    joined: set[frozenset[int]],
    heights_m: Mapping[float, float],
    notes: list[Note],
) -> list[Riser]:
    """Joins levels that no shaft and no riser joins, by stairs and lifts drawn on one of them."""
    found: list[Riser] = []
    together = {frozenset(spaces[index].level for index in pair) for pair in joined}
    for below, above in pairwise(sorted(level.ordinal for level in drawing.levels)):
        if any(min(pair) <= below and max(pair) >= above for pair in together):
            continue
        for here, there in ((below, above), (above, below)):
            for index, space in enumerate(spaces):
                if space.level != here or not (space.is_stairs or space.is_lift) or not space.parts:
                    continue
                at = space.parts[0].representative_point()
                other = _space_at(spaces, there, at)
                if other is None:
                    continue
                own = (index, at)
                lower, upper = (own, other) if here < there else (other, own)
                kind = RiserKind.LIFT if space.is_lift else RiserKind.STAIRS
                found.append(_riser(spaces, lower, upper, kind, heights_m))
                why = f"drawn on one level only: it is taken to lead to {level_id(there)}"
                notes.append(Note(Finding.CONCLUDED, kind.value, space.rid, why))
            if found and spaces[found[-1].lower[0]].level == below:
                break
    return found
