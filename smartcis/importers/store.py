"""Store: make the database equal to a derived building, touching only what differs.

Law: storing the same plan twice writes nothing the second time.
Law: nothing is stored unless everything is: the caller's transaction is the unit.
Points keep their numbers while they stay in their unit, so that kiosks, machines and desks that
stand on them keep their place.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
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
from smartcis.models.equal import Fields, RowCounts, make_equal
from smartcis.models.source import PKS_AT_ONCE, batched

STANDING: tuple[tuple[type[models.Model], str], ...] = (
    (Machine, "node_id"),
    (Kiosk, "node_id"),
    (Desk, "node_id"),
    (Sensor, "node_id"),
)
FIRST_SIMULATED_NODE = 100_000  # desks and the like are numbered from here


def known_building() -> Known:
    """Returns what the database calls the things of the building."""
    venue = Venue.objects.first()
    if venue is None:
        return Known()
    units = Unit.objects.filter(level__venue=venue).select_related("level")
    doors = Door.objects.filter(level__venue=venue)
    return Known(
        slug=venue.slug,
        origin=(venue.origin_lon_deg, venue.origin_lat_deg),
        units=tuple(
            KnownUnit(one.rid, one.feature_id, one.level.ordinal, one.name, polygon_of(one.polygon))
            for one in units
        ),
        doors=tuple(
            KnownDoor(one.door_id, one.inner_id, one.outer_id, Point(one.x_m, one.y_m))
            for one in doors
        ),
    )


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
def store(plan: BuildingPlan) -> Stored:
    """Writes a building."""
    done = Stored()
    for model, rows in (
        (Venue, _venues(plan)),
        (Building, _buildings(plan)),
        (Level, _unless_edited(Level, _levels(plan))),
        (Unit, _unless_edited(Unit, _units(plan))),
        (Door, _doors(plan)),
    ):
        held = model._default_manager.all()  # noqa: SLF001  # the documented way to a model's manager
        done.note(model, make_equal(held, settled(held, rows) if plan.exported else rows))
    numbers = _numbers(plan)
    wanted, steps = _nodes(plan, numbers), _edges(plan, numbers)
    if plan.exported and done.nothing and same_ways(wanted, steps):
        return done
    done.moved += _keep_standing(wanted)
    nodes = RoutingNode.objects.filter(simulated=False)
    done.note(RoutingNode, make_equal(nodes, wanted))
    edges = RoutingEdge.objects.filter(simulated=False)
    done.note(RoutingEdge, make_equal(edges, steps, "src_id", "dst_id"))
    return done


def _unless_edited(model: type[Level | Unit], wanted: dict[str, Fields]) -> dict[str, Fields]:
    """Returns rows with what people called them, where they did."""
    for one in model._default_manager.exclude(edited=[]):  # noqa: SLF001  # the documented way to a model's manager
        if one.pk in wanted:
            wanted[one.pk] |= {name: getattr(one, name) for name in one.edited}
    return wanted


def _venues(plan: BuildingPlan) -> dict[str, Fields]:
    return {
        plan.slug: {
            "name": plan.name,
            "attribution": plan.attribution,
            "origin_lon_deg": plan.origin[0],
            "origin_lat_deg": plan.origin[1],
        }
    }


def _buildings(plan: BuildingPlan) -> dict[str, Fields]:
    return {
        feature_id: {"venue_id": plan.slug, "name": name, "footprint": areas(shape)}
        for feature_id, name, shape in plan.buildings
    }


def _levels(plan: BuildingPlan) -> dict[str, Fields]:
    return {
        level.level_id: {
            "venue_id": plan.slug,
            "feature_id": level.feature_id,
            "ordinal": level.ordinal,
            "name": level.name,
            "short_name": level.short_name,
            "outline": areas(level.outline),
        }
        for level in plan.levels
    }


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


def _units(plan: BuildingPlan) -> dict[str, Fields]:
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


def _numbers(plan: BuildingPlan) -> Mapping[int, int]:
    """Assigns each derived point a number: the one it has, that of one that moved, or a fresh one.

    What stands on a point of a unit stays on the unit's nearest point of its kind, of any kind.
    """
    stored = {one.node: one for one in RoutingNode.objects.filter(simulated=False)}
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
    highest = max(stored, default=0)
    for node in plan.graph.nodes:
        if node.number not in numbers:
            highest += 1
            numbers[node.number] = highest
    return numbers


def _keep_standing(wanted: Mapping[int, Fields]) -> list[str]:
    """Puts what stands on a point that goes onto the nearest of its unit that stays."""
    stays: dict[str, list[RoutingNode]] = defaultdict(list)
    goes: dict[int, RoutingNode] = {}
    for node in RoutingNode.objects.filter(simulated=False):
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
