"""Placing: which of the venue's drawings a file draws, and where in the venue it lies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

import shapely
from shapely import affinity
from shapely.geometry import Point
from shapely.geometry.base import BaseGeometry

from smartcis.importers.derive import BuildingPlan, Progress, derive
from smartcis.importers.drawing import Drawing
from smartcis.importers.errors import Unplaced
from smartcis.importers.geometry.known import KnownBuilding, is_drawing_of
from smartcis.importers.geometry.projection import Projection
from smartcis.importers.geometry.spaces import polygons
from smartcis.importers.held import HeldPart, known_building, origin_of
from smartcis.models import Unit, Venue
from smartcis.models.building import OUTDOORS

NOWHERE = (0.0, 0.0)  # of plans in metres without longitude and latitude
SLUG_LENGTH = 55


def placed_plan(
    drawing: Drawing, progress: Progress, *, add: bool
) -> tuple[BuildingPlan, HeldPart]:
    """Works a file's building out as the venue has it.

    Args:
        add: whether a building that is not there is added to the venue.

    Raises:
        ImportRefused: nothing in it can be walked in, or nobody knows where it lies.
    """
    venue = Venue.objects.first()
    added = sorted({*Unit.objects.values_list("drawing", flat=True)} - {"", OUTDOORS})
    if venue is None or not (add or added) or (drawing.slug == venue.slug and drawing.exported):
        plan = _alone(drawing, progress, None)
        return plan, _told(drawing, plan)
    plan = derive(drawing, progress, known_building(""))
    if _lies_as(plan, known_building("")) or (plan.slug == venue.slug and not add):
        return replace(plan, slug=venue.slug), HeldPart("")
    if not add and NOWHERE in (drawing.origin, origin_of(venue)):
        return _alone(drawing, progress, ""), HeldPart("")
    placed = _in_frame(_unstored(drawing), venue)
    plan = derive(placed, progress, KnownBuilding(origin=origin_of(venue)))
    if plan.origin != origin_of(venue):
        if not add:
            return _alone(drawing, progress, ""), HeldPart("")
        raise _unplaced("the file's building lies too far away to be added to this venue", plan)
    slug = _drawing_of(plan, added)
    if slug is None:
        if not add:
            return _alone(drawing, progress, ""), HeldPart("")
        slug = _fresh(plan.slug, {venue.slug, *added})
    known = known_building(slug)
    return replace(derive(placed, progress, known), slug=slug), HeldPart(slug)


def _alone(drawing: Drawing, progress: Progress, part: str | None) -> BuildingPlan:
    """Returns the plan of the building that is there, or of another one that stands alone."""
    known = known_building(part)
    if known.units:
        plan = derive(drawing, progress, known)
        if plan.slug == known.slug or _lies_as(plan, known):
            return replace(plan, slug=known.slug)
    return derive(drawing, progress)


def _lies_as(plan: BuildingPlan, known: KnownBuilding) -> bool:
    return plan.origin == known.origin and is_drawing_of(plan.spaces, known)


def _told(drawing: Drawing, plan: BuildingPlan) -> HeldPart:
    """Returns whose the units of a file of all are: as it says, and new ones by their ground."""
    units = {one.stored.rid: one.stored.drawing for one in drawing.spaces if one.stored}
    owed = {one.key: (one.drawing, one.attribution) for one in drawing.buildings if one.drawing}
    return HeldPart(None, units | _drawn_into(plan, units, owed), owed)


def _drawn_into(
    plan: BuildingPlan, units: Mapping[str, str], owed: Mapping[str, tuple[str, str]]
) -> dict[str, str]:
    """Returns in which drawing's building each new unit lies: in most of it, else the nearest."""
    rooms: dict[str, list[BaseGeometry]] = defaultdict(list)
    for space in plan.spaces:
        if space.rid in units:
            rooms[units[space.rid]].append(space.polygon)
    if set(rooms) <= {""}:
        return {}
    indoors = {slug: shapely.union_all(shapes) for slug, shapes in rooms.items()}
    grounds = dict(indoors)
    for key, _, shape in plan.buildings:
        slug, _ = owed.get(key, ("", ""))
        if shape is not None and slug in grounds:
            grounds[slug] = grounds[slug].union(shape)

    def fit(shape: BaseGeometry, slug: str) -> tuple[float, float, str]:
        inside_m2 = round(shape.intersection(grounds[slug]).area, 2)
        return (-inside_m2, round(shape.distance(indoors[slug]), 3), slug)

    return {
        space.rid: min(fit(space.polygon, slug) for slug in grounds)[2]
        for space in plan.spaces
        if space.rid not in units
    }


def _unstored(drawing: Drawing) -> Drawing:
    """Returns what is drawn in another venue's export, as if it had never been stored."""
    if not any(one.stored for one in drawing.spaces):
        return drawing
    return replace(
        drawing,
        spaces=tuple(
            replace(one, stored=None)
            for one in drawing.spaces
            if not (one.stored and one.stored.derived)
        ),
        openings=tuple(one for one in drawing.openings if not one.derived),
        entrances=tuple(one for one in drawing.entrances if not one.derived),
    )


def _in_frame(drawing: Drawing, venue: Venue) -> Drawing:
    """Returns a drawing whose metres, if it has some, are those of the venue.

    Raises:
        Unplaced: either cannot say where on earth it lies.
    """
    for origin, what in ((drawing.origin, "the file"), (origin_of(venue), "the venue")):
        if origin == NOWHERE:
            raise Unplaced(
                f"{what} does not say where on earth it lies",
                found="metres without longitude and latitude",
                attempt="give the site its longitude and latitude in the program that drew it, or"
                " export it as IMDF, GeoJSON in degrees or OpenStreetMap",
            )
    if drawing.origin is None:
        return drawing
    corner = Projection(*origin_of(venue)).metres(Point(drawing.origin))

    def moved(shape: BaseGeometry) -> BaseGeometry:
        return affinity.translate(shape, corner.x, corner.y)

    return drawing.mapped(moved, origin=origin_of(venue))


def _unplaced(why: str, plan: BuildingPlan) -> Unplaced:
    return Unplaced(
        why,
        found=f"longitude {plan.origin[0]:.4f}, latitude {plan.origin[1]:.4f}",
        attempt="one venue is a campus, not a country: import it into a product of its own",
    )


def _drawing_of(plan: BuildingPlan, added: list[str]) -> str | None:
    """Returns the added drawing that a plan is one of: by ground, else by name and some ground."""
    for slug in added:
        if _lies_as(plan, known_building(slug)):
            return slug
    if plan.slug in added:
        drawn = [polygons(one.polygon)[0] for one in plan.spaces]
        known = known_building(plan.slug)
        if any(one.outline.intersects(shape) for one in known.units for shape in drawn):
            return plan.slug
    return None


def _fresh(slug: str, taken: set[str]) -> str:
    stem = slug[:SLUG_LENGTH]
    names = (stem if k == 1 else f"{stem}-{k}" for k in range(1, len(taken) + 2))
    return next(one for one in names if one not in taken)
