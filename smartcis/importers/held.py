"""Held: what the database has of the building, all of it or what one file drew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import models
from shapely.geometry import Point, Polygon

from smartcis.importers.geometry.known import KnownBuilding, KnownDoor, KnownUnit
from smartcis.models import Door, RoutingNode, Unit, Venue
from smartcis.models.building import OUTDOORS


@dataclass(frozen=True, slots=True)
class HeldPart:
    """What a file draws of the venue.

    Args:
        drawing: the file that added it, empty for the venue's own; None for all there is.
        units: by id the drawing that added a unit, where the file draws all and says so.
        buildings: by id the drawing that added a building, and whom that is owed to; the same.
    """

    drawing: str | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    buildings: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def held(self, rows: models.QuerySet[Any], *within: str) -> models.QuerySet[Any]:
        """Returns its rows.

        Args:
            within: names of a row's drawing, where it has none itself; all must be this one.
        """
        for name in within or ("drawing",):
            if self.drawing is None:
                rows = rows.exclude(**{name: OUTDOORS})
            else:
                rows = rows.filter(**{name: self.drawing})
        return rows


ALL = HeldPart()


def known_building(drawing: str | None = None) -> KnownBuilding:
    """Returns what the database calls the things of the building.

    Args:
        drawing: the file they were added with, empty for the venue's own; None for all.
    """
    venue = Venue.objects.first()
    if venue is None:
        return KnownBuilding()
    units: models.QuerySet[Unit] = Unit.objects.exclude(drawing=OUTDOORS)
    doors: models.QuerySet[Door] = Door.objects.all()
    taken: frozenset[str] = frozenset()
    if drawing is not None:
        taken = frozenset(Unit.objects.exclude(drawing=drawing).values_list("rid", flat=True))
        units, doors = units.filter(drawing=drawing), doors.filter(inner__drawing=drawing)
    return KnownBuilding(
        slug=drawing or venue.slug,
        origin=origin_of(venue),
        units=tuple(
            KnownUnit(one.rid, one.feature_id, one.level.ordinal, one.name, polygon_of(one.polygon))
            for one in units.select_related("level")
        ),
        doors=tuple(
            KnownDoor(one.door_id, one.inner_id, one.outer_id, Point(one.x_m, one.y_m))
            for one in doors
        ),
        taken=taken,
        prefix=drawing or venue.slug,
    )


def origin_of(venue: Venue) -> tuple[float, float]:
    """Returns longitude and latitude of x = y = 0."""
    return (venue.origin_lon_deg, venue.origin_lat_deg)


def polygon_of(rings: Sequence[Sequence[Sequence[float]]]) -> Polygon:
    """Returns the polygon of stored rings, made sound where rounding crossed them."""
    if not rings:
        return Polygon()
    drawn = Polygon(rings[0], rings[1:])
    return drawn if drawn.is_valid else drawn.buffer(0)


def points(part: HeldPart) -> models.QuerySet[RoutingNode]:
    """Returns the walking points that were drawn or derived."""
    return part.held(RoutingNode.objects.filter(simulated=False), "unit__drawing")
