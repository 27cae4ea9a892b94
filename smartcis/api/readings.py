"""Readings from gateways."""

from __future__ import annotations

from typing import Any, cast

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from smartcis.access.owner import Owner
from smartcis.actions.push_readings import push_readings
from smartcis.api.idempotency import KEY, key_of
from smartcis.api.schema import EDIT, answers
from smartcis.readings.errors import BadReading


class ReadingSerializer(serializers.Serializer[Any]):
    """One reading."""

    sid = serializers.CharField(help_text="the sensor")
    value = serializers.FloatField(help_text="what it measured, in `unit`")
    unit = serializers.CharField(help_text="the unit of the sensor's kind: kg, lx, °C, %, dBm")
    at = serializers.CharField(
        required=False, help_text="when: ISO 8601 with a zone, or seconds since 1970"
    )
    at_s = serializers.FloatField(required=False, help_text="when: seconds since 1970")
    tag = serializers.CharField(required=False, help_text="the tag heard, for rfid only")


class AppendedSerializer(serializers.Serializer[Any]):
    """Where the readings went."""

    position = serializers.IntegerField(help_text="log position of the transaction")
    accepted = serializers.IntegerField()


class ReadingList(APIView):
    """Hand in readings: all are taken, or none with the index of the first bad one."""

    @extend_schema(
        request=ReadingSerializer(many=True),
        parameters=[KEY],
        responses=answers(AppendedSerializer, *EDIT, 429, 503, status=201),
    )
    def post(self, request: Request) -> Response:
        """Appends readings to the building's log."""
        key = key_of(request, BadReading)
        position = push_readings(cast("list[Any]", request.data), Owner.of(request), key=key)
        return Response({"position": position, "accepted": len(request.data)}, 201)
