"""Feeds: the sources outside, how they are, and rows that gateways push."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from smartcis.access.owner import Owner
from smartcis.actions.push_rows import push_rows
from smartcis.api.fields import body_of, texts
from smartcis.api.house import FedBySerializer
from smartcis.api.idempotency import KEY, key_of
from smartcis.api.schema import EDIT, answers
from smartcis.sources.health import SourceHealth, source_health
from smartcis.wrappers.errors import BadRow
from smartcis.wrappers.protocol import Capability
from smartcis.wrappers.push import ROWS

CAPABILITIES = tuple(one.value for one in Capability)


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

    @extend_schema(responses=answers(FeedSerializer(many=True), 406))
    def get(self, _request: Request) -> Response:
        """Lists sources with their health."""
        return Response(FeedSerializer(source_health(), many=True).data)


class FeedRows(APIView):
    """Hand in rows: all are taken, or none with the index of the first bad one."""

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
