"""The building as drawn: what the map needs before anything moves."""

from __future__ import annotations

from collections import Counter
from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from smartcis.api.destinations import DestinationSerializer
from smartcis.api.fields import PAIR, ring_lists, texts
from smartcis.api.kiosks import KioskSerializer
from smartcis.api.levels import LevelSerializer, rings
from smartcis.api.machines import MachineSerializer, machines
from smartcis.api.schema import READ, answers, endpoint
from smartcis.api.sensors import SensorSerializer
from smartcis.api.simulated import KINDS, simulated_counts, simulated_note
from smartcis.errors import NotFound
from smartcis.importers.words import CONNECTORS
from smartcis.models import (
    Destination,
    Door,
    Kiosk,
    Level,
    Machine,
    RoutingEdge,
    RoutingNode,
    Sensor,
    SoftwareInstall,
    Unit,
    Venue,
)
from smartcis.models.lookup import found


class SimulatedSerializer(serializers.Serializer[Any]):
    """How much of a kind is simulated."""

    kind = serializers.ChoiceField(choices=[kind for _, kind, *_ in KINDS])
    simulated = serializers.IntegerField()
    total = serializers.IntegerField()


class BuildingSerializer(serializers.Serializer[Any]):
    """What is shown as one."""

    slug = serializers.CharField()
    name = serializers.CharField()
    attribution = serializers.CharField(allow_blank=True)
    simulated_note = serializers.CharField()
    simulated = SimulatedSerializer(many=True)
    levels = LevelSerializer(many=True)
    default_level = serializers.CharField(allow_blank=True)
    kiosks = KioskSerializer(many=True)
    software = texts()
    destinations = DestinationSerializer(many=True)


class PlanUnitSerializer(serializers.Serializer[Unit]):
    """A room, corridor, staircase or lift."""

    id = serializers.CharField(source="rid")
    name = serializers.CharField(allow_blank=True)
    category = serializers.CharField()
    polygon = ring_lists("outer ring, then holes; metres")
    label = serializers.SerializerMethodField()  # type: ignore[assignment]  # DRF removes it from the class
    node = serializers.SerializerMethodField(
        help_text="its walking point; null where no way leads, and outdoors"
    )

    @extend_schema_field(PAIR)
    def get_label(self, unit: Unit) -> list[float]:
        """Returns where its name stands."""
        return [unit.label_x_m, unit.label_y_m]

    def get_node(self, unit: Unit) -> int | None:
        """Returns its centre's number."""
        centres: dict[str, int] = self.context["centres"]
        return centres.get(unit.rid)


class PlanDoorSerializer(serializers.ModelSerializer[Door]):
    """A door."""

    id = serializers.CharField(source="door_id")

    class Meta:
        model = Door
        fields = ("id", "x_m", "y_m")
        read_only_fields = fields


class PlanMachineSerializer(MachineSerializer):
    """A machine on its floor."""

    class Meta:
        model = Machine
        fields = (
            *("mid", "host", "rid", "node", "x_m", "y_m", "cpu_type", "simulated", "software"),
        )
        read_only_fields = fields


class PlanSensorSerializer(SensorSerializer):
    """A sensor on its floor."""

    class Meta:
        model = Sensor
        fields = ("sid", "kind", "rid", "mid", "x_m", "y_m", "simulated", "period_s")
        read_only_fields = fields


class ConnectorSerializer(serializers.Serializer[Unit]):
    """A way to another floor."""

    kind = serializers.SerializerMethodField()
    x_m = serializers.FloatField(source="label_x_m")
    y_m = serializers.FloatField(source="label_y_m")

    def get_kind(self, unit: Unit) -> str:
        """Returns what people call it."""
        return CONNECTORS[unit.category]


class PlanExitSerializer(serializers.ModelSerializer[RoutingNode]):
    """A walking point through which one leaves the building."""

    rid = serializers.CharField(source="unit_id")

    class Meta:
        model = RoutingNode
        fields = ("node", "rid", "name", "x_m", "y_m")
        read_only_fields = fields


class PlanRiserSerializer(serializers.ModelSerializer[RoutingEdge]):
    """A step to another floor: a flight of stairs or a lift, in one direction."""

    src = serializers.IntegerField(source="src_id")
    dst = serializers.IntegerField(source="dst_id")
    rid = serializers.CharField(source="src.unit_id", help_text="where it begins")
    to_level = serializers.CharField(source="dst.level_id")

    class Meta:
        model = RoutingEdge
        fields = ("src", "dst", "way", "rid", "to_level")
        read_only_fields = fields


class PlanSerializer(serializers.Serializer[Any]):
    """One floor's plan."""

    level_id = serializers.CharField()
    outline = ring_lists("rings; metres, x east, y north")
    units = PlanUnitSerializer(many=True)
    doors = PlanDoorSerializer(many=True)
    machines = PlanMachineSerializer(many=True)
    sensors = PlanSensorSerializer(many=True)
    connectors = ConnectorSerializer(many=True)
    exits = PlanExitSerializer(many=True)
    risers = PlanRiserSerializer(many=True)


IMPORT_ONE = "staff import one: /admin/, Building imports, or manage.py import_building PATH"


def default_level(levels: list[Level]) -> str:
    """Chooses the floor shown first: where most machines are, the lowest of equals."""
    machines = Counter(Machine.objects.values_list("unit__level_id", flat=True))
    return max(levels, key=lambda level: machines[level.level_id]).level_id if levels else ""


class BuildingView(APIView):
    """The building, its floors, kiosks and software."""

    @endpoint(BuildingSerializer, *READ)
    def get(self, _request: Request) -> dict[str, Any]:
        """Returns the building."""
        venue = Venue.objects.first()
        if venue is None:
            raise NotFound("no building has been imported", attempt=IMPORT_ONE)
        levels = list(Level.objects.filter(venue=venue).order_by("ordinal"))
        counts = simulated_counts()
        software = SoftwareInstall.objects.order_by("software").values_list("software", flat=True)
        return {
            "slug": venue.slug,
            "name": venue.name,
            "attribution": venue.attribution,
            "simulated_note": simulated_note(counts),
            "simulated": counts,
            "levels": levels,
            "default_level": default_level(levels),
            "kiosks": Kiosk.objects.select_related("node"),
            "software": list(software.distinct()),
            "destinations": Destination.objects.filter(error__isnull=True),
        }


class PlanView(APIView):
    """One floor's plan; unchanged plans answer 304 to If-None-Match."""

    @extend_schema(responses=answers(PlanSerializer, *READ))
    def get(self, _request: Request, level_id: str) -> Response:
        """Returns the plan of a floor."""
        level = found(Level, level_id, "level")
        units = list(Unit.objects.filter(level=level).order_by("rid"))
        centres = RoutingNode.objects.filter(level=level, kind="centre").order_by("-node")
        body = {
            "level_id": level.level_id,
            "outline": rings(level.outline),
            "units": units,
            "doors": Door.objects.filter(level=level).order_by("pk"),
            "machines": machines().filter(unit__level=level),
            "sensors": Sensor.objects.filter(level=level).order_by("pk"),
            "connectors": [unit for unit in units if unit.category in CONNECTORS],
            "exits": RoutingNode.objects.filter(level=level, kind="entrance").order_by("node"),
            "risers": RoutingEdge.objects.filter(
                src__level=level, way__in=(RoutingEdge.STAIRS, RoutingEdge.LIFT)
            )
            .select_related("src", "dst")
            .order_by("src", "dst"),
        }
        context = {"centres": dict(centres.values_list("unit_id", "node"))}
        return Response(PlanSerializer(body, context=context).data)
