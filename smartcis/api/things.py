"""Machines, doors, sensors: listings, single things, and their edits."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db.models import Prefetch, QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from smartcis.access.owner import Owner
from smartcis.actions.add_sensor import add_sensor
from smartcis.actions.change_sensor import change_sensor
from smartcis.actions.remove_sensor import remove_sensor
from smartcis.actions.set_door_state import set_door_state
from smartcis.api.fields import body_of
from smartcis.api.schema import EDIT, READ, answers
from smartcis.models import Door, Machine, Sensor, SoftwareInstall
from smartcis.models.sensors import sensor_kinds


class MachineSerializer(serializers.ModelSerializer[Machine]):
    """A machine and what is installed on it."""

    rid = serializers.CharField(source="unit_id")
    node = serializers.IntegerField(source="node_id")
    level_id = serializers.CharField(source="unit.level_id")
    software: serializers.SlugRelatedField[SoftwareInstall] = serializers.SlugRelatedField(
        "software", many=True, read_only=True
    )

    class Meta:
        model = Machine
        fields = (
            *("mid", "host", "rid", "node", "level_id", "x_m", "y_m"),
            *("cpu_type", "simulated", "software"),
        )
        read_only_fields = fields


class DoorSerializer(serializers.ModelSerializer[Door]):
    """A door and its state."""

    level_id = serializers.CharField(read_only=True)
    id = serializers.CharField(source="door_id", read_only=True)

    class Meta:
        model = Door
        fields = ("id", "state", "x_m", "y_m", "level_id")
        read_only_fields = fields


class DoorChangeSerializer(serializers.Serializer[Any]):
    """What can be changed of a door."""

    state = serializers.ChoiceField(Door.STATES)


class SensorSerializer(serializers.ModelSerializer[Sensor]):
    """A sensor, and what it measures when it is simulated."""

    rid = serializers.CharField(source="unit_id", read_only=True)
    mid = serializers.CharField(source="machine_id", read_only=True, allow_null=True)
    node = serializers.IntegerField(source="node_id", read_only=True)
    level_id = serializers.CharField(read_only=True)
    parameters = serializers.DictField(help_text="of its waveform")

    class Meta:
        model = Sensor
        fields = (
            *("sid", "kind", "rid", "mid", "node", "level_id", "x_m", "y_m", "simulated"),
            *("enabled", "waveform", "parameters", "period_s"),
        )
        read_only_fields = fields


class SensorChangeSerializer(serializers.Serializer[Any]):
    """What can be changed of a sensor."""

    kind = serializers.ChoiceField(sensor_kinds(), required=False)
    waveform = serializers.ChoiceField(Sensor.WAVEFORM_CHOICES, required=False)
    parameters = serializers.DictField(required=False)
    period_s = serializers.FloatField(required=False)
    enabled = serializers.BooleanField(required=False)


class SensorMakeSerializer(SensorChangeSerializer):
    """A new simulated sensor: its kind, and the machine or the room it watches."""

    kind = serializers.ChoiceField(sensor_kinds())
    rid = serializers.CharField(required=False, allow_blank=True, max_length=60)
    mid = serializers.CharField(required=False, allow_blank=True, max_length=70)


class MachineFilter(django_filters.FilterSet):  # type: ignore[misc]  # untyped
    """By room, floor and software."""

    rid = django_filters.CharFilter(field_name="unit_id")
    level_id = django_filters.CharFilter(field_name="unit__level_id")
    software = django_filters.CharFilter(field_name="software__software", distinct=True)

    class Meta:
        model = Machine
        fields = ("rid", "level_id", "software", "host")


class DoorFilter(django_filters.FilterSet):  # type: ignore[misc]  # untyped
    """By floor and state."""

    level_id = django_filters.CharFilter()

    class Meta:
        model = Door
        fields = ("level_id", "state")


class SensorFilter(django_filters.FilterSet):  # type: ignore[misc]  # untyped
    """By kind, room, machine and floor."""

    rid = django_filters.CharFilter(field_name="unit_id")
    mid = django_filters.CharFilter(field_name="machine_id")
    level_id = django_filters.CharFilter()

    class Meta:
        model = Sensor
        fields = ("kind", "rid", "mid", "level_id", "simulated", "enabled")


def machines() -> QuerySet[Machine]:
    """Returns all machines with their software."""
    software = Prefetch("software", SoftwareInstall.objects.order_by("software"))
    return Machine.objects.select_related("unit").prefetch_related(software).order_by("pk")


@extend_schema_view(get=extend_schema(responses=answers(MachineSerializer(many=True), 400, *READ)))
class MachineList(generics.ListAPIView[Machine]):
    """Machines."""

    queryset = machines()
    serializer_class = MachineSerializer
    filterset_class = MachineFilter


@extend_schema_view(get=extend_schema(responses=answers(MachineSerializer, *READ)))
class MachineDetail(generics.RetrieveAPIView[Machine]):
    """One machine."""

    queryset = machines()
    serializer_class = MachineSerializer


@extend_schema_view(get=extend_schema(responses=answers(DoorSerializer(many=True), 400, *READ)))
class DoorList(generics.ListAPIView[Door]):
    """Doors."""

    queryset = Door.objects.order_by("pk")
    serializer_class = DoorSerializer
    filterset_class = DoorFilter


@extend_schema_view(get=extend_schema(responses=answers(DoorSerializer, *READ)))
class DoorDetail(generics.RetrieveAPIView[Door]):
    """One door."""

    queryset = Door.objects.all()
    serializer_class = DoorSerializer

    @extend_schema(request=DoorChangeSerializer, responses=answers(DoorSerializer, *EDIT))
    def patch(self, request: Request, pk: str) -> Response:
        """Locks or opens a door."""
        wanted = body_of(DoorChangeSerializer, request)
        door = set_door_state(pk, wanted["state"], Owner.of(request))
        return Response(DoorSerializer(door).data)


@extend_schema_view(get=extend_schema(responses=answers(SensorSerializer(many=True), 400, *READ)))
class SensorList(generics.ListAPIView[Sensor]):
    """Sensors."""

    queryset = Sensor.objects.order_by("pk")
    serializer_class = SensorSerializer
    filterset_class = SensorFilter

    @extend_schema(
        request=SensorMakeSerializer, responses=answers(SensorSerializer, *EDIT, status=201)
    )
    def post(self, request: Request) -> Response:
        """Adds a simulated sensor."""
        wanted = body_of(SensorMakeSerializer, request)
        fields = dict(wanted)
        kind = fields.pop("kind")
        sensor = add_sensor(kind, Owner.of(request), **fields)
        return Response(SensorSerializer(sensor).data, 201)


@extend_schema_view(get=extend_schema(responses=answers(SensorSerializer, *READ)))
class SensorDetail(generics.RetrieveAPIView[Sensor]):
    """One sensor."""

    queryset = Sensor.objects.all()
    serializer_class = SensorSerializer

    @extend_schema(request=SensorChangeSerializer, responses=answers(SensorSerializer, *EDIT))
    def patch(self, request: Request, pk: str) -> Response:
        """Changes what a sensor measures."""
        wanted = body_of(SensorChangeSerializer, request)
        sensor = change_sensor(pk, wanted, Owner.of(request))
        return Response(SensorSerializer(sensor).data)

    @extend_schema(responses=answers(None, 401, 403, 404, status=204))
    def delete(self, request: Request, pk: str) -> Response:
        """Removes a sensor."""
        remove_sensor(pk, Owner.of(request))
        return Response(status=204)
