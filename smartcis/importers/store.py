"""Store: make the database equal to a derived building, touching only what differs.

Law: storing the same plan twice writes nothing the second time.
Law: nothing is stored unless everything is: the caller's transaction is the unit.
Points keep their numbers as long as they stay where they are, so that kiosks and desks that
stand on them keep their place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import shapely
from django.db import models, transaction
from shapely.geometry.base import BaseGeometry

from smartcis.importers.derive import BuildingPlan
from smartcis.importers.geometry.spaces import polygons
from smartcis.models import Building, Door, Level, RoutingEdge, RoutingNode, Unit, Venue

Fields = dict[str, Any]

FIRST_SIMULATED_NODE = 100_000  # desks and the like are numbered from here


@dataclass
class Stored:
    """What storing changed, per table."""

    created: Counter[str] = field(default_factory=Counter)
    updated: Counter[str] = field(default_factory=Counter)
    deleted: Counter[str] = field(default_factory=Counter)

    @property
    def nothing(self) -> bool:
        """Whether the database already said all this."""
        return not (self.created or self.updated or self.deleted)


@transaction.atomic
def store(plan: BuildingPlan) -> Stored:
    """Writes a building."""
    done = Stored()
    venue: Fields = {
        "name": plan.name,
        "attribution": plan.attribution,
        "origin_lon_deg": plan.origin[0],
        "origin_lat_deg": plan.origin[1],
    }
    _sync(Venue, {plan.slug: venue}, done)
    _sync(
        Building,
        {
            feature_id: {"venue_id": plan.slug, "name": name, "footprint": _areas(shape)}
            for feature_id, name, shape in plan.buildings
        },
        done,
    )
    _sync(
        Level,
        {
            level.level_id: {
                "venue_id": plan.slug,
                "feature_id": level.feature_id,
                "ordinal": level.ordinal,
                "name": level.name,
                "short_name": level.short_name,
                "outline": _areas(level.outline),
            }
            for level in plan.levels
        },
        done,
    )
    _sync(Unit, _units(plan), done)
    _sync(Door, _doors(plan), done, keep=("state",))
    numbers = _numbers(plan)
    _sync(RoutingNode, _nodes(plan, numbers), done, only={"simulated": False})
    _sync_edges(plan, numbers, done)
    return done


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


def _units(plan: BuildingPlan) -> dict[Any, Fields]:
    wanted: dict[Any, Fields] = {}
    for index, space in enumerate(plan.spaces):
        drawn = polygons(space.polygon)[0]
        label = shapely.maximum_inscribed_circle(
            drawn if space.free.is_empty else space.parts[0], tolerance=0.1
        ).coords[0]
        wanted[space.rid] = {
            "level_id": f"L{space.level}",
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


def _doors(plan: BuildingPlan) -> dict[Any, Fields]:
    return {
        door.door_id: {
            "level_id": f"L{plan.spaces[door.inner].level}",
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


def _nodes(plan: BuildingPlan, numbers: Mapping[int, int]) -> dict[Any, Fields]:
    named = {
        (entrance.space, round(entrance.point.x, 3), round(entrance.point.y, 3)): entrance
        for entrance in plan.entrances
    }
    wanted: dict[Any, Fields] = {}
    for node in plan.graph.nodes:
        space = plan.spaces[node.space]
        entrance = named.get((node.space, node.x_m, node.y_m)) if node.kind == "entrance" else None
        wanted[numbers[node.number]] = {
            "level_id": f"L{space.level}",
            "unit_id": space.rid,
            "kind": node.kind,
            "name": entrance.name if entrance else "",
            "x_m": node.x_m,
            "y_m": node.y_m,
            "derived": entrance.derived if entrance else True,
            "simulated": False,
        }
    return wanted


def _sync_edges(plan: BuildingPlan, numbers: Mapping[int, int], done: Stored) -> None:
    wanted: dict[tuple[int, int], Fields] = {}
    for edge in plan.graph.edges:
        ends = numbers[edge.src], numbers[edge.dst]
        wanted[ends] = {
            "length_mm": edge.length_mm,
            "step_free": edge.step_free,
            "way": edge.way,
            "door_id": edge.door_id or None,
        }
    stored = {(one.src_id, one.dst_id): one for one in RoutingEdge.objects.filter(simulated=False)}
    gone = [one.pk for ends, one in stored.items() if ends not in wanted]
    changed = [one for ends, one in stored.items() if ends in wanted and _apply(one, wanted[ends])]
    fresh = [
        RoutingEdge(src_id=src, dst_id=dst, **values)
        for (src, dst), values in wanted.items()
        if (src, dst) not in stored
    ]
    name = RoutingEdge._meta.verbose_name_plural  # noqa: SLF001  # public despite its name
    _write(RoutingEdge, str(name), gone, changed, fresh, done)


def _sync(
    model: type[models.Model],
    wanted: Mapping[Any, Fields],
    done: Stored,
    *,
    only: Mapping[str, Any] | None = None,
    keep: Sequence[str] = (),
) -> None:
    """Makes a table hold exactly the wanted rows.

    Args:
        model: the table.
        wanted: primary key → values.
        done: where changes are counted.
        only: leaves rows that do not match alone.
        keep: fields that people edit; an import leaves them.
    """
    stored = {one.pk: one for one in model._default_manager.filter(**(only or {}))}  # noqa: SLF001  # the documented way to a model's manager
    gone = [key for key in stored if key not in wanted]
    fresh, changed = [], []
    for key, values in wanted.items():
        known = stored.get(key)
        if known is None:
            fresh.append(model(pk=key, **values))
        elif _apply(known, {name: v for name, v in values.items() if name not in keep}):
            changed.append(known)
    name = model._meta.verbose_name_plural  # noqa: SLF001  # public despite its name
    _write(model, str(name), gone, changed, fresh, done)


def _write(
    model: type[models.Model],
    name: str,
    gone: Sequence[Any],
    changed: Sequence[models.Model],
    fresh: Sequence[models.Model],
    done: Stored,
) -> None:
    manager = model._default_manager  # noqa: SLF001  # the documented way to a model's manager
    for start in range(0, len(gone), 500):
        manager.filter(pk__in=gone[start : start + 500]).delete()
    if changed:
        fields = [
            one.name
            for one in model._meta.concrete_fields  # noqa: SLF001  # public despite its name
            if not one.primary_key
        ]
        manager.bulk_update(changed, fields, batch_size=200)
    if fresh:
        manager.bulk_create(fresh, batch_size=500)
    for counter, count in (
        (done.deleted, len(gone)),
        (done.updated, len(changed)),
        (done.created, len(fresh)),
    ):
        if count:
            counter[name] += count


def _apply(known: models.Model, values: Fields) -> bool:
    """Sets what differs; returns whether anything did."""
    differs = False
    for name, value in values.items():
        if getattr(known, name) != value:
            setattr(known, name, value)
            differs = True
    return differs
