"""Places: where on the plan lies what a note speaks of, dropped things included."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from shapely.geometry.base import BaseGeometry

from smartcis.importers.drawing import Drawing, LevelPoint, Note
from smartcis.importers.geometry.projection import Projection
from smartcis.importers.geometry.spaces import WalkableSpace

FARTHEST_M = 100_000.0  # off any plan; NaN is, too


def located(
    notes: Sequence[Note],
    drawing: Drawing,
    origin: tuple[float, float],
    spaces: Sequence[WalkableSpace],
) -> list[Note]:
    """Returns notes that say where on the plan they belong, as far as that is known.

    Args:
        drawing: as read, with what repair dropped.
        origin: longitude and latitude of x = y = 0.
        spaces: of the building, in metres.
    """
    move = Projection(*origin).metres if drawing.origin is None else (lambda shape: shape)
    spots: dict[str, LevelPoint] = {}
    for key, level, shape in _drawn(drawing):
        if key not in spots and (spot := _spot(level, move(shape))) is not None:
            spots[key] = spot
    for space in spaces:
        if (spot := _spot(space.level, space.polygon)) is not None:
            spots[space.rid] = spot
    return [replace(one, at=spots.get(one.where)) for one in notes]


def _drawn(drawing: Drawing) -> Iterator[tuple[str, float, BaseGeometry]]:
    for space in drawing.spaces:
        yield space.key, space.level, space.outline
    for opening in drawing.openings:
        yield opening.key, opening.level, opening.shape
    for entrance in drawing.entrances:
        if entrance.level is not None:
            yield entrance.key, entrance.level, entrance.point
    for riser in drawing.risers:
        for level, point in riser.stops:
            yield riser.key, level, point
    for path in drawing.paths:
        yield path.key, path.level, path.line
    for solid in drawing.solids:
        yield solid.key, solid.level, solid.shape
    for fixture in drawing.fixtures:
        yield fixture.key, fixture.level, fixture.shape
    for label in drawing.labels:
        yield label.key, label.level, label.point


def _spot(level: float, shape: BaseGeometry) -> LevelPoint | None:
    if shape.is_empty:
        return None
    left, bottom, right, top = shape.bounds
    x_m, y_m = round((left + right) / 2, 3), round((bottom + top) / 2, 3)
    return LevelPoint(level, x_m, y_m) if abs(x_m) < FARTHEST_M and abs(y_m) < FARTHEST_M else None
