"""Sensors: listing, one, and adding, changing and removing it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers, viewsets
from rest_framework.request import Request

from smartcis.access.owner import Owner
from smartcis.actions.add_sensor import add_sensor
from smartcis.actions.change_sensor import change_sensor
from smartcis.actions.remove_sensor import remove_sensor
from smartcis.api.fields import Wanted
from smartcis.api.filters import filters
from smartcis.api.schema import EDIT, endpoint, shown
from smartcis.models import Sensor

KIND = "seat, light, temperature, … or one that staff added: SELECT kind FROM sensor_kind"


class SensorSerializer(serializers.ModelSerializer[Sensor]):
    """A sensor, and what it measures when it is simulated."""

    rid = serializers.CharField(source="unit_id", read_only=True)
    mid = serializers.CharField(source="machine_id", read_only=True, allow_null=True)
    node = serializers.IntegerField(source="node_id", read_only=True)
    level_id = serializers.CharField(read_only=True)
    parameters = serializers.DictField(help_text="of its waveform")
    fault = serializers.CharField(help_text="what it gets wrong on purpose; empty for nothing")

    class Meta:
        model = Sensor
        fields = (
            *("sid", "kind", "rid", "mid", "node", "level_id", "x_m", "y_m", "simulated"),
            *("enabled", "waveform", "parameters", "fault", "fault_amount", "period_s"),
        )
        read_only_fields = fields


class SensorChangeSerializer(serializers.Serializer[Any]):
    """What can be changed of a sensor."""

    kind = serializers.CharField(required=False, max_length=40, help_text=KIND)
    waveform = serializers.ChoiceField(Sensor.WAVEFORM_CHOICES, required=False)
    parameters = serializers.DictField(required=False)
    fault = serializers.ChoiceField(
        Sensor.FAULT_CHOICES,
        required=False,
        allow_blank=True,
        help_text="what a simulated sensor gets wrong; empty for nothing",
    )
    fault_amount = serializers.FloatField(
        required=False, allow_null=True, help_text="how much of it; null for the usual"
    )
    period_s = serializers.FloatField(required=False)
    enabled = serializers.BooleanField(required=False)
    simulated = serializers.BooleanField(
        required=False, help_text="false for a device that sends its own readings"
    )


class SensorMakeSerializer(SensorChangeSerializer):
    """A new sensor, simulated unless said: its kind, and the machine or the room it watches."""

    kind = serializers.CharField(max_length=40, help_text=KIND)
    rid = serializers.CharField(required=False, allow_blank=True, max_length=60)
    mid = serializers.CharField(required=False, allow_blank=True, max_length=70)


@shown(SensorSerializer)
class Sensors(viewsets.ReadOnlyModelViewSet[Sensor]):
    """Sensors."""

    queryset = Sensor.objects.order_by("pk")
    serializer_class = SensorSerializer
    filterset_class = filters(
        Sensor,
        *("kind", "simulated", "enabled", "fault"),
        rid="unit_id",
        mid="machine_id",
        level_id="level_id",
    )

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
