"""Feeds: the sources outside, how they are, and the rows and readings that gateways push.

A call that is repeated under its idempotency key appends nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aspen.errors import AspenError
from smartcis.access.owner import Owner
from smartcis.actions.add_source import add_source
from smartcis.actions.change_source import change_source
from smartcis.actions.look_at_refused import look_at_refused
from smartcis.actions.push_readings import push_readings
from smartcis.actions.push_rows import push_rows
from smartcis.actions.remove_source import remove_source
from smartcis.api.fields import Wanted, body_of, texts
from smartcis.api.filters import filters
from smartcis.api.house import FedBySerializer
from smartcis.api.permissions import StaffOrToken
from smartcis.api.schema import EDIT, READ, answers, endpoint
from smartcis.models import AccessToken, RefusedMessage, Source
from smartcis.models.lookup import found
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
    description="repeat a call under the same key and nothing is appended twice; another body "
    "under it is refused",
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

    enabled = serializers.BooleanField(
        source="source.enabled", help_text="switched off, it is not read"
    )

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


class FeedDetailSerializer(FeedSerializer):
    """A source outside, and for staff how it is read."""

    config = serializers.SerializerMethodField(help_text="what its kind needs; null but for staff")

    @extend_schema_field({"type": "object", "additionalProperties": {}, "nullable": True})
    def get_config(self, health: SourceHealth) -> dict[str, Any] | None:
        """Returns the settings, which may hold passwords, to staff alone."""
        owner: Owner = self.context["owner"]
        return health.source.config if owner.staff else None


class FeedChangeSerializer(serializers.Serializer[Any]):
    """What can be changed of a source."""

    name = serializers.CharField(required=False, max_length=100)
    config = serializers.DictField(
        required=False, help_text="all that its kind needs: it replaces what was said"
    )
    rid = serializers.CharField(
        required=False, allow_null=True, max_length=60, help_text="the room it speaks for"
    )
    mid = serializers.CharField(
        required=False, allow_null=True, max_length=70, help_text="the machine it speaks for"
    )
    period_s = serializers.FloatField(
        required=False, help_text="expected seconds between two words of it"
    )
    enabled = serializers.BooleanField(required=False)


class FeedMakeSerializer(FeedChangeSerializer):
    """A new source."""

    id = serializers.SlugField(max_length=60)
    kind = serializers.ChoiceField(Source.KINDS)


class Feeds(generics.GenericAPIView[Source]):
    """The sources outside."""

    queryset = Source.objects.order_by("pk")
    serializer_class = FeedSerializer
    filterset_class = filters(Source, "kind", "enabled", rid="unit_id", mid="machine_id")

    @extend_schema(responses=answers(FeedSerializer(many=True), *READ))
    def get(self, _request: Request) -> Response:
        """Lists sources with their health."""
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset())) or []
        chosen = Source.objects.filter(pk__in=[one.pk for one in page]).order_by("pk")
        found = FeedSerializer(source_health(chosen), many=True).data
        return self.get_paginated_response(found)

    @endpoint(FeedDetailSerializer, *EDIT, 409, takes=FeedMakeSerializer, status=201)
    def post(self, request: Request, wanted: Wanted) -> Response:
        """Adds a source; it is read within seconds."""
        made = add_source(wanted.pop("id"), wanted.pop("kind"), Owner.of(request), **wanted)
        return Response(_feed_body(made.pk, request), 201)


class Feed(APIView):
    """One source outside."""

    @endpoint(FeedDetailSerializer, *READ)
    def get(self, request: Request, source: str) -> Response:
        """Returns a source with its health."""
        return Response(_feed_body(source, request))

    @endpoint(FeedDetailSerializer, *EDIT, takes=FeedChangeSerializer)
    def patch(self, request: Request, wanted: Wanted, source: str) -> Response:
        """Changes how a source is read, or switches it on or off."""
        change_source(source, wanted, Owner.of(request))
        return Response(_feed_body(source, request))

    @endpoint(None, 401, 403, 404, status=204)
    def delete(self, request: Request, source: str) -> None:
        """Removes a source with the rows, bookings and software that it brought."""
        remove_source(source, Owner.of(request))


def _feed_body(source: str, request: Request) -> Any:
    one = found(Source, source, "source")
    (health,) = source_health(Source.objects.filter(pk=one.pk))
    return FeedDetailSerializer(health, context={"owner": Owner.of(request)}).data


class RefusedMessageSerializer(serializers.ModelSerializer[RefusedMessage]):
    """A message that could not be used."""

    class Meta:
        model = RefusedMessage
        fields = ("at", "topic", "code", "reason", "size_bytes", "beginning")


class FeedRefused(APIView):
    """What a source sent that could not be used; for staff."""

    pagination_class = None

    @endpoint(
        RefusedMessageSerializer(many=True), 403, 404, 406, operation_id="listRefusedMessages"
    )
    def get(self, request: Request, source: str) -> Iterable[RefusedMessage]:
        """Lists the newest 50, newest first, the beginning of each."""
        return look_at_refused(source, Owner.of(request))


class FeedRows(APIView):
    """Hand in rows: all are taken, or none with the index of the first bad one."""

    permission_classes = (StaffOrToken,)
    token_scopes = (AccessToken.Scope.PUSH,)

    @extend_schema(
        operation_id="pushRows",
        request=PushedRowsSerializer,
        parameters=[KEY],
        responses=answers(TakenSerializer, *EDIT, 422, 503, status=201),
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
        operation_id="pushReadings",
        request=ReadingSerializer(many=True),
        parameters=[KEY],
        responses=answers(AppendedSerializer, *EDIT, 422, 503, status=201),
    )
    def post(self, request: Request) -> Response:
        """Appends readings to the building's log."""
        key = key_of(request, BadReading)
        position = push_readings(cast("list[Any]", request.data), Owner.of(request), key=key)
        return Response({"position": position, "accepted": len(request.data)}, 201)
