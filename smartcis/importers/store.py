"""Store: make the database equal to a derived building, touching only what differs.

Law: storing the same plan twice writes nothing the second time.
Law: nothing is stored unless everything is: the caller's transaction is the unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import shapely
from django.db import models, transaction
from shapely.geometry.base import BaseGeometry

from smartcis.importers.derive import BuildingPlan
from smartcis.importers.geometry.spaces import polygons
from smartcis.importers.held import ALL, HeldPart, origin_of, points, polygon_of
from smartcis.importers.level_names import level_id
from smartcis.importers.unmoved import same_ways, settled
from smartcis.importers.walking_points import keep_standing, numbered
from smartcis.models import (
    Building,
    Desk,
    Door,
    Kiosk,
    Level,
    Machine,
    RegionSeed,
    Reservation,
    RoutingEdge,
    RoutingNode,
    Sensor,
    Unit,
    Venue,
)
from smartcis.models.building import OUTDOORS
from smartcis.models.equal import Fields, RowCounts, make_equal

ATTRIBUTION_LENGTH = 300
ROUNDING_M = 0.01


class Stored:
    """What storing changed, per table."""

    def __init__(self) -> None:
        self.created, self.updated, self.deleted = Counter[str](), Counter[str](), Counter[str]()
        self.moved: list[str] = []  # what stood on points that are gone

    @property
    def nothing(self) -> bool:
        """Whether the database already said all this."""
        return not (self.created or self.updated or self.deleted)

    def note(self, model: type[models.Model], done: RowCounts) -> None:
        """Counts what was written of a table."""
        name = str(model._meta.verbose_name_plural)  # noqa: SLF001  # public despite its name
        for counter, count in zip((self.created, self.updated, self.deleted), done, strict=True):
            if count:
                counter[name] += count


@transaction.atomic
def clear() -> None:
    """Removes the building that is there, with all that stands in it."""
    # In an order that leaves no protected reference behind.
    for model in (RegionSeed, Sensor, Machine, Desk, Kiosk, Reservation, Venue):
        model._default_manager.all().delete()  # noqa: SLF001  # the documented way to a model's manager


@transaction.atomic
def store(plan: BuildingPlan, part: HeldPart = ALL) -> Stored:
    """Writes a building.

    Args:
        part: which of the venue's drawings it is; rows of others stay as they are.
    """
    done = Stored()
    venue = _venue_slug(plan, part)
    tables: tuple[tuple[models.QuerySet[Any], dict[Any, Fields]], ...] = (
        (Venue.objects.all(), _venues(plan, part)),
        (part.held(Building.objects.all()), _buildings(plan, part, venue)),
        (Level.objects.all(), _unless_edited(Level, _levels(plan, part, venue))),
        (part.held(Unit.objects.all()), _unless_edited(Unit, _units(plan, part))),
        (part.held(Door.objects.all(), "inner__drawing"), _doors(plan)),
    )
    for held, rows in tables:
        model = held.model
        done.note(model, make_equal(held, settled(held, rows) if plan.exported else rows))
    numbers = numbered(plan, part)
    wanted, steps = _nodes(plan, numbers), _edges(plan, numbers)
    if plan.exported and done.nothing and same_ways(wanted, steps):
        return done
    done.moved += keep_standing(wanted, part)
    done.note(RoutingNode, make_equal(points(part), wanted))
    edges = part.held(
        RoutingEdge.objects.filter(
            simulated=False, src__unit__drawing=models.F("dst__unit__drawing")
        ),
        "src__unit__drawing",
    )
    done.note(RoutingEdge, make_equal(edges, steps, "src_id", "dst_id"))
    return done


def _unless_edited(model: type[Level | Unit], wanted: dict[str, Fields]) -> dict[str, Fields]:
    """Returns rows with what people called them, where they did."""
    for one in model._default_manager.exclude(edited=[]):  # noqa: SLF001  # the documented way to a model's manager
        if one.pk in wanted:
            wanted[one.pk] |= {name: getattr(one, name) for name in one.edited}
    return wanted


def _venue_slug(plan: BuildingPlan, part: HeldPart) -> str:
    return Venue.objects.get().slug if part.drawing else plan.slug


def _venues(plan: BuildingPlan, part: HeldPart) -> dict[str, Fields]:
    """Returns the venue: its own drawing says how it is called, all say whom they are owed to."""
    others = Building.objects.none() if part.drawing is None else Building.objects.all()
    owed = dict.fromkeys(
        others.exclude(drawing__in=("", part.drawing or "")).values_list("attribution", flat=True)
    )
    if part.drawing:
        venue = Venue.objects.get()
        said = [venue.attribution, plan.attribution]
        name, origin = venue.name, origin_of(venue)
    else:
        said, name, origin = [plan.attribution, *owed], plan.name, plan.origin
    whole = ""
    for one in said:
        if one and one not in whole:
            whole = f"{whole}; {one}" if whole else one
    return {
        _venue_slug(plan, part): {
            "name": name,
            "attribution": whole[:ATTRIBUTION_LENGTH],
            "origin_lon_deg": origin[0],
            "origin_lat_deg": origin[1],
        }
    }


def _buildings(plan: BuildingPlan, part: HeldPart, venue: str) -> dict[str, Fields]:
    others: models.QuerySet[Building] = Building.objects.none()
    if part.drawing is not None:
        others = Building.objects.exclude(drawing=part.drawing)
    taken = set(others.values_list("feature_id", flat=True))
    added = (part.drawing or "", plan.attribution if part.drawing else "")
    found: dict[str, Fields] = {}
    for feature_id, name, shape in plan.buildings:
        key = f"{plan.slug[:20]}-{feature_id}"[:64] if feature_id in taken else feature_id
        drawing, owed = part.buildings.get(feature_id, added)
        found[key] = {
            "venue_id": venue,
            "name": name,
            "footprint": areas(shape),
            "drawing": drawing,
            "attribution": owed,
        }
    return found


def _levels(plan: BuildingPlan, part: HeldPart, venue: str) -> dict[str, Fields]:
    """Returns the levels; one of several drawings is called as the venue's own calls it."""
    wanted: dict[str, Fields] = {
        level.level_id: {
            "venue_id": venue,
            "feature_id": level.feature_id,
            "ordinal": level.ordinal,
            "name": level.name,
            "short_name": level.short_name,
            "outline": areas(level.outline),
        }
        for level in plan.levels
    }
    if part.drawing is None:
        return wanted
    others = Unit.objects.exclude(drawing__in=(part.drawing, OUTDOORS))
    for one in Level.objects.all():
        rest = list(others.filter(level=one))
        if not rest:
            continue
        said = wanted.get(one.level_id)
        if said is None or part.drawing:
            names = ("venue_id", "feature_id", "ordinal", "name", "short_name")
            kept = {name: getattr(one, name) for name in names}
        else:
            kept = said
        drawn = [] if said is None else said["outline"]
        mine = Unit.objects.filter(level=one, drawing=part.drawing)
        wanted[one.level_id] = {**kept, "outline": _both_outlines(one, rest, mine, drawn)}
    return wanted


def _both_outlines(
    level: Level, others: Iterable[Unit], mine: Iterable[Unit], drawn: list[Any]
) -> list[Any]:
    """Returns the outline of a level: what is drawn now, and what other drawings have there.

    Args:
        mine: units that the drawing had there before.
    """
    theirs = shapely.union_all([polygon_of(one.polygon) for one in others])
    before = shapely.union_all([polygon_of(one.polygon) for one in mine])
    kept = [
        rings
        for rings in level.outline
        if polygon_of(rings).intersects(theirs) or not polygon_of(rings).intersects(before)
    ]
    pieces = [*kept]
    for rings in drawn:
        shape = polygon_of(rings)
        near = [one for one in pieces if polygon_of(one).intersects(shape)]
        if any(polygon_of(one).buffer(ROUNDING_M).covers(shape) for one in near):
            continue
        pieces = [one for one in pieces if one not in near]
        pieces += areas(shapely.union_all([shape, *map(polygon_of, near)])) if near else [rings]
    same = sorted(pieces) == sorted(level.outline)
    return list(level.outline) if same else sorted(pieces)


def areas(shape: BaseGeometry | None) -> list[list[list[list[float]]]]:
    """Returns polygons as JSON: lists of rings of [x, y], rounded to the millimetre."""
    if shape is None:
        return []
    return [
        [
            [[round(x, 3), round(y, 3)] for x, y in ring.coords]
            for ring in (piece.exterior, *piece.interiors)
        ]
        for piece in polygons(shape)
    ]


def _units(plan: BuildingPlan, part: HeldPart) -> dict[str, Fields]:
    wanted: dict[str, Fields] = {}
    for index, space in enumerate(plan.spaces):
        drawn = polygons(space.polygon)[0]
        label = shapely.maximum_inscribed_circle(
            drawn if space.free.is_empty else space.parts[0], tolerance=0.1
        ).coords[0]
        wanted[space.rid] = {
            "level_id": level_id(space.level),
            "feature_id": space.feature_id,
            "name": space.name,
            "category": space.category,
            "polygon": areas(drawn)[0],
            "ground": areas(space.free),
            "label_x_m": round(label[0], 3),
            "label_y_m": round(label[1], 3),
            "area_m2": round(space.polygon.area, 2),
            "derived": space.derived,
            "unreached": plan.unreached.get(index, ""),
            "drawing": part.drawing or part.units.get(space.rid, ""),
        }
    return wanted


def _doors(plan: BuildingPlan) -> dict[str, Fields]:
    return {
        door.door_id: {
            "level_id": level_id(plan.spaces[door.inner].level),
            "inner_id": plan.spaces[door.inner].rid,
            "outer_id": plan.spaces[door.outer].rid,
            "x_m": door.x_m,
            "y_m": door.y_m,
            "derived": door.derived,
        }
        for door in plan.graph.doors
    }


def _nodes(plan: BuildingPlan, numbers: Mapping[int, int]) -> dict[int, Fields]:
    named = {
        (entrance.space, round(entrance.point.x, 3), round(entrance.point.y, 3)): entrance
        for entrance in plan.entrances
    }
    wanted: dict[int, Fields] = {}
    for node in plan.graph.nodes:
        space = plan.spaces[node.space]
        entrance = named.get((node.space, node.x_m, node.y_m)) if node.kind == "entrance" else None
        wanted[numbers[node.number]] = {
            "level_id": level_id(space.level),
            "unit_id": space.rid,
            "kind": node.kind,
            "name": entrance.name if entrance else "",
            "x_m": node.x_m,
            "y_m": node.y_m,
            "derived": entrance.derived if entrance else True,
            "simulated": False,
        }
    return wanted


def _edges(plan: BuildingPlan, numbers: Mapping[int, int]) -> dict[tuple[int, int], Fields]:
    return {
        (numbers[edge.src], numbers[edge.dst]): {
            "length_mm": edge.length_mm,
            "step_free": edge.step_free,
            "way": edge.way,
            "door_id": edge.door_id or None,
        }
        for edge in plan.graph.edges
    }
