"""Units: what the numbers of a plan without a declared system are: degrees, metres, or smaller."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from smartcis.importers.drawing import Drawing, Finding, Note

MERCATOR_RADIUS_M = 6_378_137.0  # of EPSG:3857
WIDEST_DEG = 0.2  # no venue is wider: what is, is not in degrees
LARGEST_ROOM_M2 = 3_000.0  # no usual room is larger: its unit is smaller than a metre
SMALLER = ((0.01, "centimetres"), (0.001, "millimetres"))
MERCATOR = ("3857", "900913", "102100")


def as_degrees(drawing: Drawing, crs: str) -> Drawing:
    """Returns a drawing in Web Mercator as one in degrees; any other as it is."""
    if not crs.endswith(MERCATOR):
        return drawing

    def unrolled(points: NDArray[np.float64]) -> NDArray[np.float64]:
        lon = np.degrees(points[:, 0] / MERCATOR_RADIUS_M)
        lat = np.degrees(2 * np.arctan(np.exp(points[:, 1] / MERCATOR_RADIUS_M)) - math.pi / 2)
        return np.column_stack([lon, lat])

    return drawing.mapped(lambda shape: shapely.transform(shape, unrolled))


def in_sensible_units(drawing: Drawing) -> Drawing:
    """Returns a drawing in degrees as it is; one that can be none, in metres from its corner."""
    shapes = drawn_shapes(drawing)
    if not shapes:
        return drawing
    low_x, low_y, high_x, high_y = shapely.total_bounds(shapes)
    corners = np.array([shape.bounds for shape in shapes])
    spread = np.percentile(corners, 90, axis=0) - np.percentile(corners, 10, axis=0)
    on_earth = max(abs(low_x), abs(high_x)) <= 180 and max(abs(low_y), abs(high_y)) <= 90  # noqa: PLR2004  # degrees
    if on_earth and float(spread.max()) <= WIDEST_DEG:
        return drawing
    if on_earth and float(median(one.area for one in shapes)) < WIDEST_DEG**4:
        return drawing  # a venue in degrees, and something astray
    return local(drawing, _scale(shapes), "its coordinates are no degrees")


def local(drawing: Drawing, scale: tuple[float, str], reason: str) -> Drawing:
    """Returns a drawing in metres from its south-west corner, with no place on earth.

    Args:
        scale: metres in one unit of the file, and that unit's name.
        reason: why it is taken so.
    """
    shapes = drawn_shapes(drawing)
    low_x, low_y, _, _ = shapely.total_bounds(shapes) if shapes else (0.0, 0.0, 0.0, 0.0)
    factor, unit = scale

    def moved(points: NDArray[np.float64]) -> NDArray[np.float64]:
        shifted: NDArray[np.float64] = (points - np.array([low_x, low_y])) * factor
        return shifted

    why = f"{reason}: taken as {unit}, placed at 0° north, 0° east"
    return drawing.mapped(
        lambda shape: shapely.transform(shape, moved),
        origin=drawing.origin or (0.0, 0.0),
        notes=(*drawing.notes, Note(Finding.CONCLUDED, "lengths", "", why)),
    )


def drawn_shapes(drawing: Drawing) -> list[BaseGeometry]:
    """Returns the shapes that say where a drawing is: spaces, else walls."""
    shapes = [one.outline for one in drawing.spaces] or [one.shape for one in drawing.solids]
    return [shape for shape in shapes if not shape.is_empty]


def _scale(shapes: Sequence[BaseGeometry]) -> tuple[float, str]:
    areas = [shape.area for shape in shapes if shape.area > 0]
    usual = median(areas) if areas else 1.0
    if usual <= LARGEST_ROOM_M2:
        return 1.0, "metres"
    return next(
        ((factor, unit) for factor, unit in SMALLER if usual * factor**2 <= LARGEST_ROOM_M2 / 10),
        SMALLER[-1],
    )


def rescaled(drawing: Drawing, factor: float, why: str) -> Drawing:
    """Returns a drawing in metres with all lengths multiplied."""
    levels = tuple(
        replace(one, elevation_m=None if one.elevation_m is None else one.elevation_m * factor)
        for one in drawing.levels
    )
    return replace(drawing, levels=levels).mapped(
        lambda shape: shapely.transform(shape, lambda points: points * factor),
        notes=(*drawing.notes, Note(Finding.CONCLUDED, "lengths", "", why)),
    )
