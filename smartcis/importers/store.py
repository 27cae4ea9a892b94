"""Store: make the database equal to a derived building, touching only what differs.

Law: storing the same plan twice writes nothing the second time.
Law: nothing is stored unless everything is: the caller's transaction is the unit.
Points keep their numbers as long as they stay where they are, so that kiosks and desks that
stand on them keep their place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import shapely
from django.db import models, transaction
from shapely.geometry.base import BaseGeometry

from smartcis.importers.derive import BuildingPlan
from smartcis.importers.geometry.spaces import polygons
from smartcis.importers.level_names import level_id
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

FIRST_SIMULATED_NODE = 100_000  # desks and the like are numbered from here


class Stored:
    """What storing changed, per table."""

    def __init__(self) -> None:
        self.created, self.updated, self.deleted = Counter[str](), Counter[str](), Counter[str]()

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
        (Level, _levels(plan)),
        (Unit, _units(plan)),
        (Door, _doors(plan)),
    ):
        done.note(model, make_equal(model._default_manager.all(), rows))  # noqa: SLF001  # the documented way to a model's manager
    numbers = _numbers(plan)
    nodes = RoutingNode.objects.filter(simulated=False)
    done.note(RoutingNode, make_equal(nodes, _nodes(plan, numbers)))
    edges = RoutingEdge.objects.filter(simulated=False)
    done.note(RoutingEdge, make_equal(edges, _edges(plan, numbers), "src_id", "dst_id"))
    return done


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
        feature_id: {"venue_id": plan.slug, "name": name, "footprint": _areas(shape)}
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
            "outline": _areas(level.outline),
        }
        for level in plan.levels
    }


def _areas(shape: BaseGeometry | None) -> list[list[list[list[float]]]]:
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
            "polygon": _areas(drawn)[0],
            "ground": _areas(space.free),
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
    """Assigns each derived point a number: the one it has, or a fresh one."""
    stored: dict[tuple[Any, ...], list[int]] = {}
    highest = 0
    for one in RoutingNode.objects.filter(simulated=False).order_by("node"):
        stored.setdefault((one.unit_id, one.kind, one.x_m, one.y_m), []).append(one.node)
        highest = max(highest, one.node)
    numbers: dict[int, int] = {}
    for node in plan.graph.nodes:
        known = stored.get((plan.spaces[node.space].rid, node.kind, node.x_m, node.y_m))
        if known:
            numbers[node.number] = known.pop(0)
        else:
            highest += 1
            numbers[node.number] = highest
    return numbers


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
