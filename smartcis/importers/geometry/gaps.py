"""Gap corridors: walkable ground that nobody drew, found as the gaps between drawn shapes.

Closing (grow by half the width, shrink again) fills exactly the gaps narrower than the width.
What closing adds and no shape owns is a corridor, provided it lies inside a building's footprint.
Source: own; width from the building's widest office corridors.
"""

from __future__ import annotations

from collections.abc import Sequence

import shapely
from shapely.geometry import Polygon
from shapely.geometry.base import BaseGeometry

from smartcis.importers.geometry.spaces import WalkableSpace, ground_of, polygons

WIDEST_M = 4.0  # a gap wider than this may be a courtyard, a void or another house
NARROWEST_M = 0.7  # a gap narrower than this is a wall
LEAST_AREA_M2 = 1.0


def gap_corridors(
    spaces: Sequence[WalkableSpace],
    footprint: BaseGeometry | None,
    blocked: Sequence[BaseGeometry] = (),
) -> list[Polygon]:
    """Finds the corridors between the spaces of one level.

    Args:
        spaces: one level's, with their own ground settled.
        footprint: ground covered by buildings; None when the data has none.
        blocked: walls, columns and holes.

    Returns:
        Disjoint polygons, largest first, none overlapping a space.
    """
    drawn = shapely.union_all([space.polygon for space in spaces])
    half = WIDEST_M / 2
    closed = drawn.buffer(half, join_style="mitre").buffer(-half, join_style="mitre")
    if blocked:
        drawn = ground_of(shapely.union_all([drawn, *blocked]))
    gaps = shapely.difference(closed, drawn)
    if footprint is not None:
        gaps = ground_of(shapely.intersection(gaps, footprint))
    # Opening drops the slivers between touching walls and keeps what a person fits through; the
    # rounding it leaves at corners is given back by growing into the gap again.
    fit = NARROWEST_M / 2
    opened = gaps.buffer(-fit, join_style="mitre").buffer(fit * 1.05, join_style="mitre")
    corridors = shapely.difference(ground_of(shapely.intersection(opened, gaps)), drawn)
    plain = [piece.simplify(0.02) for piece in polygons(corridors, LEAST_AREA_M2)]
    # Straightening may cut into a wall by its two centimetres: give that back.
    return [
        piece
        for straight in plain
        for piece in polygons(shapely.difference(straight, drawn), LEAST_AREA_M2)
    ]
