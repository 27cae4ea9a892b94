"""Sight: which straight lines between points stay on a piece of ground."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import shapely
from shapely.geometry import Point
from shapely.geometry.base import BaseGeometry

ROUNDING_M = 0.002


def sight_lines(
    ground: BaseGeometry, points: Sequence[Point], clearance_m: float = 0.0
) -> list[tuple[float, int, int]]:
    """Finds all pairs of points that see each other.

    Args:
        ground: where one may walk.
        points: candidates; a point off the ground sees nobody.
        clearance_m: how far a line must keep from every wall.

    Returns:
        (length in metres, smaller index, greater index), shortest first.
    """
    if len(points) < 2:  # noqa: PLR2004  # a pair needs two
        return []
    walkable = ground.buffer(ROUNDING_M - clearance_m)
    shapely.prepare(walkable)
    pairs = np.array(list(combinations(range(len(points)), 2)))
    positions = np.array([(point.x, point.y) for point in points])
    lines = shapely.linestrings(positions[pairs])
    kept = shapely.covers(walkable, lines)
    lengths = shapely.length(lines)
    return sorted(
        (float(lengths[k]), int(pairs[k][0]), int(pairs[k][1])) for k in np.flatnonzero(kept)
    )
