"""Feeds: the sources outside, how they are, and the rows and readings that gateways push.

A call that is repeated under its idempotency key appends nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aspen.errors import AspenError
from smartcis.access.owner import Owner
from smartcis.actions.look_at_refused import look_at_refused
from smartcis.actions.push_readings import push_readings
from smartcis.actions.push_rows import push_rows
from smartcis.api.fields import body_of, texts
from smartcis.api.house import FedBySerializer
from smartcis.api.permissions import StaffOrToken
from smartcis.api.schema import EDIT, answers, endpoint
from smartcis.models import AccessToken, RefusedMessage
from smartcis.readings.errors import BadReading
from smartcis.sources.health import SourceHealth, source_health
from smartcis.wrappers.errors import BadRow
from smartcis.wrappers.protocol import Capability
from smartcis.wrappers.push import ROWS

KEY_LENGTH = 100

KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="repeat a call under the same key and nothing is appended twice",
)
CAPABILITIES = tuple(one.value for one in Capability)


def key_of(request: Request, refusal: type[AspenError]) -> str:
    """Returns the key of a call, empty if it has none.

    Args:
        refusal: how this call says no to what was handed in.

    Raises:
        refusal: the key is too long, or not ASCII.
    """
    key = request.headers.get("Idempotency-Key", "")
    if len(key) > KEY_LENGTH or not key.isascii():
        raise refusal(
            "the idempotency key is too long or not ASCII",
            found=f"{len(key)} characters",
            exists=[f"up to {KEY_LENGTH}"],
        )
    return key


class FeedSerializer(FedBySerializer):
    """A source outside."""

    rid = serializers.SerializerMethodField(help_text="the room it speaks for")
    mid = serializers.CharField(
        source="source.machine_id", allow_null=True, help_text="the machine it speaks for"
    )
    period_s = serializers.FloatField(
        source="source.period_s", help_text="expected seconds between two words of it"
    )
    relations = texts(help_text="what it feeds")
    capabilities = serializers.ListField(
        child=serializers.ChoiceField(CAPABILITIES), help_text="what it can do for a query"
    )

    refused = serializers.IntegerField(help_text="messages of it that could not be used")

    def get_rid(self, health: SourceHealth) -> str | None:
        """Returns the room, of its own or of its machine."""
        return health.source.rid or None


class PushedRowsSerializer(serializers.Serializer[Any]):
    """Rows of one stream."""

    relation = serializers.ChoiceField(ROWS)
    rows = serializers.ListField(
        child=serializers.DictField(), help_text="objects from column to value"
    )


class TakenSerializer(serializers.Serializer[Any]):
    """How many rows were taken."""

    accepted = serializers.IntegerField()


class Feeds(APIView):
    """The sources outside."""

    pagination_class = None

    @endpoint(FeedSerializer(many=True), 406)
    def get(self, _request: Request) -> Iterable[SourceHealth]:
        """Lists sources with their health."""
        return source_health()


class RefusedMessageSerializer(serializers.ModelSerializer[RefusedMessage]):
    """A message that could not be used."""

    class Meta:
        model = RefusedMessage
        fields = ("at", "topic", "code", "reason", "size_bytes", "beginning")


class FeedRefused(APIView):
    """What a source sent that could not be used; for staff."""

    pagination_class = None

    @endpoint(RefusedMessageSerializer(many=True), 403, 404, 406)
    def get(self, request: Request, source: str) -> Iterable[RefusedMessage]:
        """Lists the newest 50, newest first, the beginning of each."""
        return look_at_refused(source, Owner.of(request))


class FeedRows(APIView):
    """Hand in rows: all are taken, or none with the index of the first bad one."""

    permission_classes = (StaffOrToken,)
    token_scopes = (AccessToken.Scope.PUSH,)

    @extend_schema(
        request=PushedRowsSerializer,
        parameters=[KEY],
        responses=answers(TakenSerializer, *EDIT, 503, status=201),
    )
    def post(self, request: Request, source: str) -> Response:
        """Appends rows to the building's log."""
        key = key_of(request, BadRow)
        wanted = body_of(PushedRowsSerializer, request)
        taken = push_rows(
            source,
            wanted["relation"],
            wanted["rows"],
            Owner.of(request),
            key=key,
        )
        return Response({"accepted": taken}, 201)


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

    permission_classes = (StaffOrToken,)
    token_scopes = (AccessToken.Scope.PUSH,)

    @extend_schema(
        request=ReadingSerializer(many=True),
        parameters=[KEY],
        responses=answers(AppendedSerializer, *EDIT, 503, status=201),
    )
    def post(self, request: Request) -> Response:
        """Appends readings to the building's log."""
        key = key_of(request, BadReading)
        position = push_readings(cast("list[Any]", request.data), Owner.of(request), key=key)
        return Response({"position": position, "accepted": len(request.data)}, 201)
