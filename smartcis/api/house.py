"""The house itself: sources, status, who am I."""

from __future__ import annotations

import time
from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aspen.results.engine_status import read_status
from smartcis import composition
from smartcis.access.owner import Owner
from smartcis.access.queries import quota_of
from smartcis.api.fields import texts
from smartcis.api.query_fields import ColumnSerializer
from smartcis.api.schema import answers
from smartcis.compiling.live_catalog import live_catalog, reads_private
from smartcis.live.pulse import status_message
from smartcis.security import policy_text
from smartcis.sources.health import source_health

KINDS = ("table", "stream", "view")
HEALTHS = ("live", "late", "dead", "off", "unknown")


class SourceColumnSerializer(ColumnSerializer):
    """A column of a source."""

    type = serializers.CharField(source="type.value")
    nullable = serializers.BooleanField()


class FedBySerializer(serializers.Serializer[Any]):
    """What feeds a relation, and how it is."""

    id = serializers.CharField(source="source.source")
    name = serializers.CharField(source="source.name", allow_blank=True)
    kind = serializers.CharField(source="source.kind")
    state = serializers.ChoiceField(HEALTHS)
    since_s = serializers.FloatField(
        allow_null=True,
        help_text="live: heard since then; late and dead: heard last; seconds since 1970",
    )
    reason = serializers.CharField(allow_blank=True)


class SourceSerializer(serializers.Serializer[Any]):
    """A relation or view that a query may name."""

    name = serializers.CharField()
    kind = serializers.ChoiceField(KINDS)
    comment = serializers.CharField(allow_blank=True)
    key = texts()
    private = serializers.BooleanField(help_text="only staff may query it")
    columns = SourceColumnSerializer(many=True)
    fed_by = FedBySerializer(many=True, help_text="sources outside; none for what is kept here")


class StatusSerializer(serializers.Serializer[Any]):
    """How the engine is."""

    engine = serializers.ChoiceField(("live", "starting", "delayed", "offline"))
    epoch = serializers.IntegerField()
    position = serializers.IntegerField(help_text="log position the views stand at")
    head = serializers.IntegerField(help_text="newest log position")
    lag_s = serializers.FloatField(help_text="seconds since the views last had all of the log")
    error = serializers.CharField(allow_blank=True, help_text="what ended the engine's last run")


class MeSerializer(serializers.Serializer[Any]):
    """Who the client is, and what it may do."""

    username = serializers.CharField(allow_blank=True)
    staff = serializers.BooleanField()
    may_query = serializers.BooleanField()
    query_quota = serializers.IntegerField(allow_null=True)


class Docs(SpectacularSwaggerSplitView):
    """Swagger's page over the schema; it brings a style element of its own."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Shows the page under a policy that allows its styles."""
        response: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]  # untyped
        styles = {"style-src": ["'self'", "'unsafe-inline'"]}
        policy = policy_text(settings.CONTENT_SECURITY_POLICY | styles, nonce="")
        response.headers["Content-Security-Policy"] = policy
        return response


class Sources(APIView):
    """Everything a query may name."""

    pagination_class = None

    @extend_schema(responses=answers(SourceSerializer(many=True), 406))
    def get(self, _request: Request) -> Response:
        """Lists relations and views."""
        catalog = live_catalog()
        private = set(reads_private([relation.name for relation in catalog], catalog))
        healths = source_health()
        body = [
            {
                "name": relation.name,
                "kind": relation.kind.value.lower(),
                "comment": relation.comment,
                "key": relation.key,
                "private": relation.name in private,
                "columns": relation.columns,
                "fed_by": [one for one in healths if relation.name in one.relations],
            }
            for relation in sorted(catalog, key=lambda one: one.name)
        ]
        return Response(SourceSerializer(body, many=True).data)


class StatusView(APIView):
    """How the engine is."""

    @extend_schema(responses=answers(StatusSerializer, 406, 503))
    def get(self, _request: Request) -> Response:
        """Returns the status."""
        status = read_status(composition.server(), settings.RESULTS_NAME)
        said = status_message(status, time.time())
        epoch, position, _ = composition.results().head()
        return Response(
            {
                "engine": said.engine,
                "epoch": epoch,
                "position": position,
                "head": composition.log().head(),
                "lag_s": said.lag_s,
                "error": status.error,
            }
        )


class Me(APIView):
    """Who the client is."""

    @extend_schema(responses=answers(MeSerializer, 406))
    def get(self, request: Request) -> Response:
        """Returns who the client is."""
        owner = Owner.of(request)
        return Response(
            {
                "username": request.user.get_username(),
                "staff": owner.staff,
                "may_query": owner.staff or settings.OPEN_QUERIES,
                "query_quota": quota_of(owner),
            }
        )
