"""Machines, doors, sensors, reservations: listings, single things, and their edits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import django_filters
from django.db.models import Prefetch, QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from smartcis.access.owner import Owner
from smartcis.actions.add_sensor import add_sensor
from smartcis.actions.cancel_reservation import cancel_reservation
from smartcis.actions.change_sensor import change_sensor
from smartcis.actions.remove_sensor import remove_sensor
from smartcis.actions.reserve_room import TITLE_LENGTH, reserve_room
from smartcis.actions.set_door_state import set_door_state
from smartcis.api.fields import Wanted
from smartcis.api.schema import EDIT, READ, answers, endpoint
from smartcis.models import Door, Machine, Reservation, Sensor, SoftwareInstall, Unit
from smartcis.models.lookup import found

T = TypeVar("T", bound=Callable[..., Any])
KIND = "seat, light, temperature, … or one that staff added: SELECT kind FROM sensor_kind"


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

    kind = serializers.CharField(required=False, max_length=40, help_text=KIND)
    waveform = serializers.ChoiceField(Sensor.WAVEFORM_CHOICES, required=False)
    parameters = serializers.DictField(required=False)
    period_s = serializers.FloatField(required=False)
    enabled = serializers.BooleanField(required=False)


class SensorMakeSerializer(SensorChangeSerializer):
    """A new sensor, simulated unless said: its kind, and the machine or the room it watches."""

    kind = serializers.CharField(max_length=40, help_text=KIND)
    rid = serializers.CharField(required=False, allow_blank=True, max_length=60)
    mid = serializers.CharField(required=False, allow_blank=True, max_length=70)
    simulated = serializers.BooleanField(
        required=False, help_text="false for a device that sends its own readings"
    )


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


def _shown(serializer: type[serializers.Serializer[Any]]) -> Callable[[T], T]:
    """Describes the answers of a listing and of one of its things."""
    return extend_schema_view(
        list=extend_schema(responses=answers(serializer(many=True), 400, *READ)),
        retrieve=extend_schema(responses=answers(serializer, *READ)),
    )


@_shown(MachineSerializer)
class Machines(viewsets.ReadOnlyModelViewSet[Machine]):
    """Machines."""

    queryset = machines()
    serializer_class = MachineSerializer
    filterset_class = MachineFilter


@_shown(DoorSerializer)
class Doors(viewsets.ReadOnlyModelViewSet[Door]):
    """Doors."""

    queryset = Door.objects.order_by("pk")
    serializer_class = DoorSerializer
    filterset_class = DoorFilter

    @endpoint(DoorSerializer, *EDIT, takes=DoorChangeSerializer)
    def partial_update(self, request: Request, wanted: Wanted, pk: str) -> Door:
        """Locks or opens a door."""
        return set_door_state(pk, wanted["state"], Owner.of(request))


@_shown(SensorSerializer)
class Sensors(viewsets.ReadOnlyModelViewSet[Sensor]):
    """Sensors."""

    queryset = Sensor.objects.order_by("pk")
    serializer_class = SensorSerializer
    filterset_class = SensorFilter

    @endpoint(SensorSerializer, *EDIT, takes=SensorMakeSerializer, status=201)
    def create(self, request: Request, wanted: Wanted) -> Sensor:
        """Adds a sensor."""
        return add_sensor(owner=Owner.of(request), **wanted)

    @endpoint(SensorSerializer, *EDIT, takes=SensorChangeSerializer)
    def partial_update(self, request: Request, wanted: Wanted, pk: str) -> Sensor:
        """Changes what a sensor measures."""
        return change_sensor(pk, wanted, Owner.of(request))

    @endpoint(None, 401, 403, 404, status=204)
    def destroy(self, request: Request, pk: str) -> None:
        """Removes a sensor."""
        remove_sensor(pk, Owner.of(request))


class ReservationSerializer(serializers.ModelSerializer[Reservation]):
    """A booking; times are UTC."""

    rid = serializers.CharField(source="unit_id", read_only=True)

    class Meta:
        model = Reservation
        fields = ("id", "rid", "start", "end", "title", "simulated")
        read_only_fields = fields


class ReservationMakeSerializer(serializers.Serializer[Any]):
    """A booking to make; times are ISO 8601, UTC unless they say otherwise."""

    start = serializers.DateTimeField()
    end = serializers.DateTimeField()
    title = serializers.CharField(max_length=TITLE_LENGTH)


class Reservations(generics.ListAPIView[Reservation]):
    """A room's reservations."""

    queryset = Reservation.objects.none()
    serializer_class = ReservationSerializer
    filter_backends = ()

    @extend_schema(responses=answers(ReservationSerializer(many=True), 400, *READ))
    def get(self, request: Request, rid: str) -> Response:
        """Lists a room's reservations, oldest first."""
        self.queryset = found(Unit, rid, "room").reservations.order_by("start", "pk")
        return super().get(request)

    @endpoint(ReservationSerializer, *EDIT, takes=ReservationMakeSerializer, status=201)
    def post(self, request: Request, wanted: Wanted, rid: str) -> Reservation:
        """Reserves the room."""
        return reserve_room(rid, owner=Owner.of(request), **wanted)


class ReservationDetail(APIView):
    """One reservation."""

    @endpoint(None, 401, 403, 404, status=204)
    def delete(self, request: Request, rid: str, reservation_id: int) -> None:
        """Cancels the reservation."""
        cancel_reservation(rid, reservation_id, Owner.of(request))
