"""Store: make the database equal to a derived building, touching only what differs.

Law: storing the same plan twice writes nothing the second time.
Law: nothing is stored unless everything is: the caller's transaction is the unit.
Points keep their numbers while they stay in their unit, so that kiosks, machines and desks that
stand on them keep their place.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import shapely
from django.db import models, transaction
from shapely.geometry import Point, Polygon
from shapely.geometry.base import BaseGeometry

from smartcis.importers.derive import BuildingPlan
from smartcis.importers.geometry.known import Known, KnownDoor, KnownUnit
from smartcis.importers.geometry.spaces import polygons
from smartcis.importers.geometry.walking_graph import GraphNode
from smartcis.importers.level_names import level_id
from smartcis.importers.unmoved import same_ways, settled
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
from smartcis.models.source import PKS_AT_ONCE, batched

STANDING: tuple[tuple[type[models.Model], str], ...] = (
    (Machine, "node_id"),
    (Kiosk, "node_id"),
    (Desk, "node_id"),
    (Sensor, "node_id"),
)
ATTRIBUTION_LENGTH = 300
ROUNDING_M = 0.01
FIRST_SIMULATED_NODE = 100_000  # desks and the like are numbered from here


@dataclass(frozen=True, slots=True)
class Part:
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


ALL = Part()


def known_building(drawing: str | None = None) -> Known:
    """Returns what the database calls the things of the building.

    Args:
        drawing: the file they were added with, empty for the venue's own; None for all.
    """
    venue = Venue.objects.first()
    if venue is None:
        return Known()
    units: models.QuerySet[Unit] = Unit.objects.exclude(drawing=OUTDOORS)
    doors: models.QuerySet[Door] = Door.objects.all()
    taken: frozenset[str] = frozenset()
    if drawing is not None:
        taken = frozenset(Unit.objects.exclude(drawing=drawing).values_list("rid", flat=True))
        units, doors = units.filter(drawing=drawing), doors.filter(inner__drawing=drawing)
    return Known(
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
def store(plan: BuildingPlan, part: Part = ALL) -> Stored:
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
    numbers = _numbers(plan, part)
    wanted, steps = _nodes(plan, numbers), _edges(plan, numbers)
    if plan.exported and done.nothing and same_ways(wanted, steps):
        return done
    done.moved += _keep_standing(wanted, part)
    done.note(RoutingNode, make_equal(_points(part), wanted))
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


def _points(part: Part) -> models.QuerySet[RoutingNode]:
    return part.held(RoutingNode.objects.filter(simulated=False), "unit__drawing")


def _venue_slug(plan: BuildingPlan, part: Part) -> str:
    return Venue.objects.get().slug if part.drawing else plan.slug


def _venues(plan: BuildingPlan, part: Part) -> dict[str, Fields]:
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


def _buildings(plan: BuildingPlan, part: Part, venue: str) -> dict[str, Fields]:
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


def _levels(plan: BuildingPlan, part: Part, venue: str) -> dict[str, Fields]:
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


def _units(plan: BuildingPlan, part: Part) -> dict[str, Fields]:
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


def _numbers(plan: BuildingPlan, part: Part) -> Mapping[int, int]:
    """Assigns each derived point a number: the one it has, that of one that moved, or a fresh one.

    What stands on a point of a unit stays on the unit's nearest point of its kind, of any kind.
    """
    stored = {one.node: one for one in _points(part)}
    rids = {node.number: plan.spaces[node.space].rid for node in plan.graph.nodes}
    numbers: dict[int, int] = {}
    exact: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for number, one in sorted(stored.items()):
        exact[one.unit_id, one.kind, one.x_m, one.y_m].append(number)
    for node in plan.graph.nodes:
        if there := exact[rids[node.number], node.kind, node.x_m, node.y_m]:
            numbers[node.number] = there.pop(0)
    used = _used_points()
    for same_kind in (True, False):
        kept = set(numbers.values())
        gone = [one for one in stored.values() if one.node not in kept]
        moved = _moved(
            [one for one in gone if same_kind or one.node in used],
            [one for one in plan.graph.nodes if one.number not in numbers],
            rids,
            same_kind=same_kind,
        )
        numbers.update(moved)
    every = RoutingNode.objects.filter(simulated=False)
    highest = every.aggregate(highest=models.Max("node"))["highest"] or 0
    for node in plan.graph.nodes:
        if node.number not in numbers:
            highest += 1
            numbers[node.number] = highest
    return numbers


def _keep_standing(wanted: Mapping[int, Fields], part: Part) -> list[str]:
    """Puts what stands on a point that goes onto the nearest of its unit that stays."""
    stays: dict[str, list[RoutingNode]] = defaultdict(list)
    goes: dict[int, RoutingNode] = {}
    for node in _points(part):
        if node.node not in wanted:
            goes[node.node] = node
        elif wanted[node.node]["unit_id"] == node.unit_id:
            stays[node.unit_id].append(node)
    moved: list[str] = []
    for model, name in STANDING:
        for keys in batched(goes, PKS_AT_ONCE):
            for one in model._default_manager.filter(**{f"{name}__in": keys}):  # noqa: SLF001  # the documented way to a model's manager
                gone = goes[getattr(one, name)]
                near = min(
                    stays[gone.unit_id],
                    key=lambda node: math.dist((node.x_m, node.y_m), (gone.x_m, gone.y_m)),
                    default=None,
                )
                if near is not None:
                    rows = model._default_manager.filter(pk=one.pk)  # noqa: SLF001  # same
                    rows.update(**{name: near.node})
                    moved.append(str(one))
    return moved


def _used_points() -> set[int]:
    """Returns the points that something stands on or is reached from."""
    steps = RoutingEdge.objects.filter(simulated=True)
    return {
        *Machine.objects.values_list("node_id", flat=True),
        *Kiosk.objects.values_list("node_id", flat=True),
        *Desk.objects.values_list("node_id", flat=True),
        *Sensor.objects.values_list("node_id", flat=True),
        *steps.values_list("src_id", flat=True),
    }


def _moved(
    gone: Sequence[RoutingNode],
    fresh: Sequence[GraphNode],
    rids: Mapping[int, str],
    *,
    same_kind: bool,
) -> dict[int, int]:
    """Pairs points that went with new ones of their unit, the nearest first."""
    by_unit: dict[tuple[str, str], list[GraphNode]] = defaultdict(list)
    for node in fresh:
        by_unit[rids[node.number], node.kind if same_kind else ""].append(node)
    near = sorted(
        (math.dist((one.x_m, one.y_m), (node.x_m, node.y_m)), one.node, node.number)
        for one in gone
        for node in by_unit[one.unit_id, one.kind if same_kind else ""]
    )
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for _, number, fresh_number in near:
        if number not in taken and fresh_number not in pairs:
            pairs[fresh_number] = number
            taken.add(number)
    return pairs


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
