"""The building as drawn: what the map needs before anything moves."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db.models import Prefetch
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from smartcis.actions.errors import NotFound, unknown
from smartcis.api.schema import READ, answers
from smartcis.models import (
    Door,
    Kiosk,
    Level,
    Machine,
    RoutingNode,
    Sensor,
    SoftwareInstall,
    Unit,
    Venue,
)

SIMULATED_NOTE = "Machines, software, seats, sensors and visitors are simulated."
# Unit categories of IMDF that join levels, and what people call them.
CONNECTORS = {
    "stairs": "stairs",
    "elevator": "lift",
    "escalator": "escalator",
    "ramp": "ramp",
}

Ring = list[list[float]]


def _points(help_text: str) -> serializers.ListField:
    point = serializers.ListField(child=serializers.FloatField(), min_length=2, max_length=2)
    ring = serializers.ListField(child=point)
    return serializers.ListField(child=ring, help_text=help_text)


class LevelSerializer(serializers.Serializer[Any]):
    """A floor."""

    id = serializers.CharField()
    name = serializers.CharField()
    short_name = serializers.CharField()
    ordinal = serializers.IntegerField()
    bounds_m = serializers.ListField(
        child=serializers.FloatField(), help_text="min x, min y, max x, max y in metres"
    )


class KioskSerializer(serializers.Serializer[Any]):
    """A screen on a wall."""

    id = serializers.CharField()
    name = serializers.CharField()
    node = serializers.IntegerField()
    level_id = serializers.CharField()
    x_m = serializers.FloatField()
    y_m = serializers.FloatField()


class BuildingSerializer(serializers.Serializer[Any]):
    """What is shown as one."""

    slug = serializers.CharField()
    name = serializers.CharField()
    attribution = serializers.CharField()
    simulated_note = serializers.CharField()
    levels = LevelSerializer(many=True)
    default_level = serializers.CharField()
    kiosks = KioskSerializer(many=True)
    software = serializers.ListField(child=serializers.CharField())


class PlanUnitSerializer(serializers.Serializer[Any]):
    """A room, corridor, staircase or lift."""

    id = serializers.CharField()
    name = serializers.CharField(allow_blank=True)
    category = serializers.CharField()
    polygon = _points("outer ring, then holes; metres")
    label = serializers.ListField(child=serializers.FloatField())  # type: ignore[assignment]  # DRF removes it from the class
    node = serializers.IntegerField(allow_null=True, help_text="its walking point")


class PlanDoorSerializer(serializers.Serializer[Any]):
    """A door."""

    id = serializers.CharField()
    x_m = serializers.FloatField()
    y_m = serializers.FloatField()


class PlanMachineSerializer(serializers.Serializer[Any]):
    """A machine."""

    mid = serializers.CharField()
    host = serializers.CharField()
    rid = serializers.CharField()
    node = serializers.IntegerField()
    x_m = serializers.FloatField()
    y_m = serializers.FloatField()
    simulated = serializers.BooleanField()
    software = serializers.ListField(child=serializers.CharField())


class PlanSensorSerializer(serializers.Serializer[Any]):
    """A sensor."""

    sid = serializers.CharField()
    kind = serializers.CharField()
    rid = serializers.CharField()
    mid = serializers.CharField(allow_null=True)
    x_m = serializers.FloatField()
    y_m = serializers.FloatField()
    simulated = serializers.BooleanField()


class ConnectorSerializer(serializers.Serializer[Any]):
    """A way to another floor."""

    kind = serializers.CharField()
    x_m = serializers.FloatField()
    y_m = serializers.FloatField()


class PlanSerializer(serializers.Serializer[Any]):
    """One floor's plan."""

    level_id = serializers.CharField()
    outline = _points("rings; metres, x east, y north")
    units = PlanUnitSerializer(many=True)
    doors = PlanDoorSerializer(many=True)
    machines = PlanMachineSerializer(many=True)
    sensors = PlanSensorSerializer(many=True)
    connectors = ConnectorSerializer(many=True)


def _default_level(levels: list[Level]) -> str:
    """Choose the floor shown first: where most machines are, the lowest of equals."""
    machines = Counter(Machine.objects.values_list("unit__level_id", flat=True))
    return max(levels, key=lambda level: machines[level.level_id]).level_id if levels else ""


class BuildingView(APIView):
    """The building, its floors, kiosks and software."""

    @extend_schema(responses=answers(BuildingSerializer, *READ))
    def get(self, _request: Request) -> Response:
        """Returns the building."""
        venue = Venue.objects.first()
        if venue is None:
            raise NotFound("no building has been imported", attempt="manage.py import_building")
        levels = list(Level.objects.filter(venue=venue).order_by("ordinal"))
        software = SoftwareInstall.objects.order_by("software").values_list("software", flat=True)
        return Response(
            {
                "slug": venue.slug,
                "name": venue.name,
                "attribution": venue.attribution,
                "simulated_note": SIMULATED_NOTE,
                "levels": [_level(level) for level in levels],
                "default_level": _default_level(levels),
                "kiosks": [_kiosk(kiosk) for kiosk in Kiosk.objects.select_related("node")],
                "software": list(software.distinct()),
            }
        )


class PlanView(APIView):
    """One floor's plan; unchanged plans answer 304 to If-None-Match."""

    @extend_schema(responses=answers(PlanSerializer, *READ))
    def get(self, _request: Request, level_id: str) -> Response:
        """Returns the plan of a floor."""
        level = Level.objects.filter(pk=level_id).first()
        if level is None:
            raise unknown("level", level_id, Level.objects.values_list("pk", flat=True))
        units = list(Unit.objects.filter(level=level).order_by("rid"))
        return Response(
            {
                "level_id": level.level_id,
                "outline": rings(level.outline),
                "units": _units(level, units),
                "doors": [
                    {"id": door.door_id, "x_m": door.x_m, "y_m": door.y_m}
                    for door in Door.objects.filter(level=level).order_by("pk")
                ],
                "machines": _machines(level),
                "sensors": _sensors(level),
                "connectors": [
                    {
                        "kind": CONNECTORS[unit.category],
                        "x_m": unit.label_x_m,
                        "y_m": unit.label_y_m,
                    }
                    for unit in units
                    if unit.category in CONNECTORS
                ],
            }
        )


def rings(outline: list[list[Ring]]) -> list[Ring]:
    """Returns all rings of several polygons."""
    return [ring for polygon in outline for ring in polygon]


def _level(level: Level) -> dict[str, Any]:
    points = [point for ring in rings(level.outline) for point in ring] or [[0.0, 0.0]]
    xs, ys = zip(*points, strict=True)
    return {
        "id": level.level_id,
        "name": level.name,
        "short_name": level.short_name,
        "ordinal": level.ordinal,
        "bounds_m": [min(xs), min(ys), max(xs), max(ys)],
    }


def _kiosk(kiosk: Kiosk) -> dict[str, Any]:
    place = kiosk.node
    return {
        "id": kiosk.kiosk_id,
        "name": kiosk.name,
        "node": place.node,
        "level_id": place.level_id,
        "x_m": place.x_m,
        "y_m": place.y_m,
    }


def _units(level: Level, units: list[Unit]) -> list[dict[str, Any]]:
    centres = RoutingNode.objects.filter(level=level, kind="centre").order_by("-node")
    node_of = dict(centres.values_list("unit_id", "node"))
    return [
        {
            "id": unit.rid,
            "name": unit.name,
            "category": unit.category,
            "polygon": unit.polygon,
            "label": [unit.label_x_m, unit.label_y_m],
            "node": node_of.get(unit.rid),
        }
        for unit in units
    ]


def _machines(level: Level) -> list[dict[str, Any]]:
    software = Prefetch("software", SoftwareInstall.objects.order_by("software"))
    found = Machine.objects.filter(unit__level=level).prefetch_related(software).order_by("pk")
    return [
        {
            "mid": machine.mid,
            "host": machine.host,
            "rid": machine.unit_id,
            "node": machine.node_id,
            "x_m": machine.x_m,
            "y_m": machine.y_m,
            "simulated": machine.simulated,
            "software": [install.software for install in machine.software.all()],
        }
        for machine in found
    ]


def _sensors(level: Level) -> list[dict[str, Any]]:
    fields = ("sid", "kind", "unit_id", "machine_id", "x_m", "y_m", "simulated")
    names = ("sid", "kind", "rid", "mid", "x_m", "y_m", "simulated")
    found = Sensor.objects.filter(level=level).order_by("pk").values_list(*fields)
    return [dict(zip(names, values, strict=True)) for values in found]
