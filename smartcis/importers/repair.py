"""Repair: a drawing in metres whose every shape can be computed with; what was mended is listed.

Law: shapes that were sound are given back as they were.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

import numpy as np
import shapely
from shapely.geometry import LineString, Point, Polygon
from shapely.geometry.base import BaseGeometry

from smartcis.importers.drawing import (
    Drawing,
    DrawnFixture,
    DrawnLevel,
    DrawnOpening,
    DrawnPath,
    DrawnSolid,
    DrawnSpace,
    Finding,
    Names,
    Note,
    label,
)
from smartcis.importers.errors import ImportTooLarge, NothingDrawn
from smartcis.importers.geometry.naming import slug
from smartcis.importers.geometry.projection import Projection
from smartcis.importers.geometry.spaces import ground_of
from smartcis.importers.level_names import level_id, tidy

LEAST_SPACE_M2 = 0.05  # smaller is a slip of the pen
WALL_HALF_M = 0.06  # half of what a wall drawn as a line is taken to be thick
FAR_DEG = 0.2  # some 20 km: further from the rest than any venue is wide
LARGEST_M = 20_000.0  # same, in plans that are drawn in metres
MOST_SHAPES = 100_000
TEXT_LENGTH, NAME_LENGTH, ID_LENGTH = 190, 100, 60
_SLIP = 1e-9

Shaped = TypeVar("Shaped", DrawnOpening, DrawnPath, DrawnSolid, DrawnFixture)


def repaired(drawing: Drawing, origin: tuple[float, float] | None = None) -> Drawing:
    """Returns a drawing in metres, sound.

    Args:
        origin: where x = y = 0 lies for one in degrees; its south-west corner by default.

    Raises:
        NothingDrawn: no space and no wall is left.
        ImportTooLarge: more shapes than a venue has.
    """
    shapes = len(drawing.spaces) + len(drawing.solids) + len(drawing.openings)
    if shapes > MOST_SHAPES:
        raise ImportTooLarge(
            f"the file draws {shapes} things",
            found=str(shapes),
            exists=[f"up to {MOST_SHAPES}"],
            attempt="cut it down to one venue",
        )
    notes = list(drawing.notes)
    drawing = _in_metres(_without_far(drawing, notes), origin or drawing.anchor)
    spaces = _spaces(drawing, notes)
    solids = _areas(drawing.solids, "solid", notes)
    if not spaces and not solids:
        raise NothingDrawn(
            "the file draws no room, no corridor and no wall",
            found=f"{len(drawing.spaces)} spaces, none of them an area",
            attempt="export areas of rooms, not lines or labels alone",
        )
    return replace(
        drawing,
        slug=_slug(drawing.slug),
        name=_text(drawing.name) or drawing.slug,
        attribution=drawing.attribution[:300],
        levels=_levels(drawing, spaces, solids, notes),
        spaces=tuple(spaces),
        solids=tuple(solids),
        openings=tuple(_sound(drawing.openings, lambda one: one.shape, "opening", notes)),
        entrances=tuple(
            replace(one, name=_text(one.name)[:NAME_LENGTH]) for one in drawing.entrances
        ),
        paths=tuple(_sound(drawing.paths, lambda one: one.line, "path", notes)),
        fixtures=tuple(_sound(drawing.fixtures, lambda one: one.shape, "fixture", notes)),
        buildings=tuple(
            replace(
                one,
                key=one.key[:ID_LENGTH],
                name=_text(one.name),
                footprint=None if one.footprint is None else _valid_area(one.footprint),
            )
            for one in drawing.buildings
        ),
        grounds=tuple(area for one in drawing.grounds if (area := _valid_area(one)) is not None),
        notes=tuple(notes),
    )


def _in_metres(drawing: Drawing, known: tuple[float, float] | None) -> Drawing:
    if drawing.origin is not None:
        return drawing
    drawn: list[BaseGeometry] = [one.outline for one in drawing.spaces]
    drawn = drawn or [one.shape for one in drawing.solids]
    if not drawn:
        return replace(drawing, origin=(0.0, 0.0))
    projection = Projection.around(drawn)
    if known is not None and math.dist(known, (projection.lon_deg, projection.lat_deg)) <= FAR_DEG:
        projection = Projection(*known)
    origin = (projection.lon_deg, projection.lat_deg)
    return drawing.mapped(projection.metres, origin=origin)


def _without_far(drawing: Drawing, notes: list[Note]) -> Drawing:
    """Drops what lies nowhere near the rest: points at 0°, 0°, slips of a digit."""
    drawn = [one.outline for one in drawing.spaces] or [one.shape for one in drawing.solids]
    corners = np.array([one.bounds[:2] for one in drawn if not one.is_empty])
    if not len(corners):
        return drawing
    middle = np.median(corners, axis=0)
    reach = FAR_DEG if drawing.origin is None else LARGEST_M

    def near(shape: BaseGeometry | None, what: str, key: str) -> bool:
        if shape is None or shape.is_empty:
            return True
        bounds = np.array(shape.bounds).reshape(2, 2)
        on_earth = drawing.origin is not None or bool(np.all(np.abs(bounds) <= [180.0, 90.0]))
        if on_earth and bool(np.all(np.abs(bounds - middle) <= reach)):
            return True
        why = "it lies far away from the rest" if on_earth else "its coordinates are no degrees"
        notes.append(Note(Finding.DROPPED, what, key, why))
        return False

    return replace(
        drawing,
        levels=tuple(
            one if near(one.outline, "level outline", one.key) else replace(one, outline=None)
            for one in drawing.levels
        ),
        spaces=tuple(one for one in drawing.spaces if near(one.outline, "space", one.key)),
        openings=tuple(one for one in drawing.openings if near(one.shape, "opening", one.key)),
        entrances=tuple(one for one in drawing.entrances if near(one.point, "entrance", one.key)),
        risers=tuple(
            one
            for one in drawing.risers
            if all(near(point, "riser", one.key) for _, point in one.stops)
        ),
        paths=tuple(one for one in drawing.paths if near(one.line, "path", one.key)),
        solids=tuple(one for one in drawing.solids if near(one.shape, "solid", one.key)),
        fixtures=tuple(one for one in drawing.fixtures if near(one.shape, "fixture", one.key)),
        labels=tuple(one for one in drawing.labels if near(one.point, "label", one.key)),
        buildings=tuple(
            one if near(one.footprint, "footprint", one.key) else replace(one, footprint=None)
            for one in drawing.buildings
        ),
        grounds=tuple(one for one in drawing.grounds if near(one, "footprint", "")),
    )


def _spaces(drawing: Drawing, notes: list[Note]) -> list[DrawnSpace]:
    found: list[DrawnSpace] = []
    drawn: set[tuple[float, str, bytes]] = set()
    for space in drawing.spaces:
        area = _area(space.outline, "space", space.key, notes)
        if area is None:
            notes.append(Note(Finding.DROPPED, "space", space.key, "it encloses no ground"))
            continue
        if area.area < LEAST_SPACE_M2:
            why = f"it is smaller than {LEAST_SPACE_M2} m²"
            notes.append(Note(Finding.DROPPED, "space", space.key, why))
            continue
        twin = (space.level, space.category, shapely.to_wkb(area.normalize()))
        if twin in drawn:
            notes.append(Note(Finding.DROPPED, "space", space.key, "it is drawn twice"))
            continue
        drawn.add(twin)
        found.append(
            replace(
                space,
                key=space.key[:ID_LENGTH],
                level=tidy(space.level),
                outline=area,
                category=_text(space.category)[:40] or "unspecified",
                names=_named(space.names),
                ref=_text(space.ref),
                shaft=space.shaft,
            )
        )
    return found


def _areas(solids: Iterable[DrawnSolid], what: str, notes: list[Note]) -> list[DrawnSolid]:
    found = []
    for solid in solids:
        shape = solid.shape
        if shape.geom_type in {"LineString", "MultiLineString", "LinearRing"}:
            shape = shape.buffer(WALL_HALF_M, cap_style="square", join_style="mitre")
        area = _area(shape, what, solid.key, notes)
        if area is None or area.is_empty:
            notes.append(Note(Finding.DROPPED, what, solid.key, "it encloses no ground"))
        else:
            found.append(replace(solid, level=tidy(solid.level), shape=area))
    return found


def _area(shape: BaseGeometry, what: str, key: str, notes: list[Note]) -> BaseGeometry | None:
    """Returns a valid area, or None; notes what had to be mended."""
    if isinstance(shape, LineString) and shape.is_closed and len(shape.coords) > 3:  # noqa: PLR2004  # a ring
        notes.append(Note(Finding.REPAIRED, what, key, "a closed line is taken as an area"))
        shape = Polygon(shape.coords)
    if not shape.area > 0:
        return None
    single = shapely.remove_repeated_points(shape, 0.0)
    if shapely.get_num_coordinates(single) != shapely.get_num_coordinates(shape):
        notes.append(Note(Finding.REPAIRED, what, key, "doubled corners are taken once"))
        shape = single
    area = _valid_area(shape)
    if area is not None and area is not shape:
        notes.append(
            Note(Finding.REPAIRED, what, key, "its outline crosses itself: its area is kept")
        )
    return area


def _valid_area(shape: BaseGeometry) -> BaseGeometry | None:
    """Returns the area of a shape, itself where it is sound, None where there is none."""
    if shape.is_valid and shape.geom_type in {"Polygon", "MultiPolygon"}:
        return shape if shape.area > 0 else None
    area = ground_of(shapely.make_valid(shape))
    return area if area.area > _SLIP and area.is_valid else None


def _sound(
    things: Iterable[Shaped],
    shape_of: Callable[[Shaped], BaseGeometry],
    what: str,
    notes: list[Note],
) -> list[Shaped]:
    found = []
    for thing in things:
        shape = shape_of(thing)
        if shape.is_empty:
            notes.append(Note(Finding.DROPPED, what, thing.key, "it is drawn nowhere"))
            continue
        if not shape.is_valid:
            shape = shapely.make_valid(shape)
            field = "line" if isinstance(thing, DrawnPath) else "shape"
            notes.append(Note(Finding.REPAIRED, what, thing.key, "its outline crosses itself"))
            thing = replace(thing, **{field: shape})  # noqa: PLW2901  # the mended one stands for it
        found.append(replace(thing, level=tidy(thing.level)))
    return found


def _levels(
    drawing: Drawing, spaces: Iterable[DrawnSpace], solids: Iterable[DrawnSolid], notes: list[Note]
) -> tuple[DrawnLevel, ...]:
    """Returns one level per ordinal, lowest first, each with something on it."""
    used = {one.level for one in spaces} | {one.level for one in solids}
    grouped: dict[float, list[DrawnLevel]] = defaultdict(list)
    for level in drawing.levels:
        grouped[tidy(level.ordinal)].append(level)
    found = []
    for ordinal in sorted(used):
        drawn = grouped.pop(ordinal, [])
        if not drawn:
            drawn = [DrawnLevel(level_id(ordinal), ordinal, {})]
        if len(drawn) > 1:
            others = ", ".join(one.key for one in drawn[1:])
            why = f"ordinal {tidy(ordinal)} stands several times: one with {others}"
            notes.append(Note(Finding.REPAIRED, "level", drawn[0].key, why))
        outlines = []
        for one in drawn:
            area = None if one.outline is None else _area(one.outline, "level", one.key, notes)
            if area is not None:
                outlines.append(area)
        first = drawn[0]
        found.append(
            replace(
                first,
                key=first.key[:ID_LENGTH],
                ordinal=tidy(ordinal),
                names=_named(first.names),
                short_name=_text(first.short_name)[:20],
                outline=outlines[0] if len(outlines) == 1 else _joined(outlines),
            )
        )
    for ordinal, unused in sorted(grouped.items()):
        why = "nothing is drawn on it"
        notes += [
            Note(Finding.DROPPED, "level", one.key or level_id(ordinal), why) for one in unused
        ]
    return tuple(found)


def _joined(outlines: list[BaseGeometry]) -> BaseGeometry | None:
    return shapely.union_all(outlines) if outlines else None


def _named(names: Names) -> Names:
    return {"": _text(label(names))} if label(names) else {}


def _text(text: str) -> str:
    """Returns a text that every database keeps and every page shows."""
    return "".join(sign for sign in text if sign.isprintable()).strip()[:TEXT_LENGTH]


def _slug(text: str) -> str:
    """Returns an id for a URL, the text itself where it is one."""
    fits = text.isascii() and text.replace("-", "").replace("_", "").isalnum()
    return text[:ID_LENGTH] if fits else slug(text)[:ID_LENGTH] or "building"


def as_point(shape: BaseGeometry) -> Point:
    """Returns the middle of a point, line or area."""
    if isinstance(shape, Point):
        return shape
    if shape.area > 0:
        return shape.centroid
    return (
        shapely.line_interpolate_point(shape, 0.5, normalized=True)
        if isinstance(shape, LineString)
        else shape.centroid
    )
