"""Devices of brokers: how messages are read, which devices were heard, and placing one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from smartcis.access.owner import Owner
from smartcis.actions.look_at_devices import look_at_devices
from smartcis.actions.place_device import place_device
from smartcis.actions.set_mappings import set_mappings
from smartcis.api.fields import Wanted
from smartcis.api.schema import EDIT, endpoint
from smartcis.api.sensors import SensorSerializer
from smartcis.errors import unknown
from smartcis.models import SeenDevice, Sensor, Source, SourceMapping
from smartcis.models.lookup import found
from smartcis.wrappers.payloads.families import CHOICES

MOST_MAPPINGS = 500


class MappingSerializer(serializers.ModelSerializer[SourceMapping]):
    """How messages of some topics are read."""

    family = serializers.ChoiceField(CHOICES, required=False, help_text="whose payloads they are")
    kind = serializers.CharField(
        required=False, allow_blank=True, max_length=40, help_text="of the sensor"
    )

    class Meta:
        model = SourceMapping
        fields = (
            *("topic", "family", "path", "kind", "unit", "scale", "offset", "identity"),
            *("time_path", "time_form", "enabled"),
        )


class MappingsSerializer(serializers.Serializer[Any]):
    """All mappings of a source."""

    mappings = MappingSerializer(many=True)


class SeenQuantitySerializer(serializers.Serializer[Any]):
    """What a device measured when it was noted last."""

    sid = serializers.CharField(help_text="the sensor that it is, or would be")
    value = serializers.FloatField()
    unit = serializers.CharField(allow_blank=True, help_text="of the payload")
    at_s = serializers.FloatField(help_text="seconds since 1970")


class SeenDeviceSerializer(serializers.ModelSerializer[SeenDevice]):
    """A device that a source heard; placed, it is read and no longer noted."""

    rid = serializers.CharField(source="unit_id", allow_null=True)
    mid = serializers.CharField(source="machine_id", allow_null=True)
    quantities = serializers.DictField(child=SeenQuantitySerializer())

    class Meta:
        model = SeenDevice
        fields = ("id", "device", "name", "quantities", "heard_s", "rid", "mid")


class PlaceSerializer(serializers.Serializer[Any]):
    """Where a device is: in a room, or at a machine."""

    rid = serializers.CharField(required=False, allow_blank=True, max_length=60)
    mid = serializers.CharField(required=False, allow_blank=True, max_length=70)


class FeedMappings(APIView):
    """The mappings of a broker; for staff."""

    pagination_class = None

    @endpoint(MappingsSerializer, 403, 404, 406, operation_id="getFeedMappings")
    def get(self, request: Request, source: str) -> dict[str, QuerySet[SourceMapping]]:
        """Returns them."""
        Owner.of(request).require_staff("see how sources are set up")
        return {"mappings": found(Source, source, "source").mappings.all()}

    @endpoint(
        MappingsSerializer,
        *EDIT,
        takes=MappingsSerializer,
        operation_id="replaceFeedMappings",
    )
    def put(self, request: Request, wanted: Wanted, source: str) -> dict[str, list[SourceMapping]]:
        """Replaces them; the source is read by them within seconds."""
        given = wanted["mappings"][:MOST_MAPPINGS]
        return {"mappings": set_mappings(source, given, Owner.of(request))}


class FeedDevices(APIView):
    """The devices that a broker heard; for staff."""

    pagination_class = None

    @endpoint(SeenDeviceSerializer(many=True), 403, 404, 406)
    def get(self, request: Request, source: str) -> Iterable[SeenDevice]:
        """Lists them, those heard last first: at most 1,000."""
        return look_at_devices(source, Owner.of(request))


class FeedDevice(APIView):
    """One device that a broker heard."""

    @endpoint(SensorSerializer(many=True), *EDIT, takes=PlaceSerializer, operation_id="placeDevice")
    def put(self, request: Request, wanted: Wanted, source: str, device_id: int) -> list[Sensor]:
        """Places it: its sensors are added, or moved, and its readings taken from then on."""
        owner = Owner.of(request)
        owner.require_staff("place devices")
        seen = SeenDevice.objects.filter(source_id=source, pk=device_id).first()
        if seen is None:
            raise unknown("device", device_id, ())
        place_device(seen, owner, rid=wanted.get("rid", ""), mid=wanted.get("mid", ""))
        return list(Sensor.objects.filter(sid__in=seen.sids().values()))
