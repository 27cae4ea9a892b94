"""The house itself: sources, status, who am I."""

from __future__ import annotations

import time
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from aspen.results.engine_status import read_status
from smartcis import composition
from smartcis.access.owner import Owner
from smartcis.access.queries import may_query, quota_of
from smartcis.api.fields import SentenceField, texts
from smartcis.api.query_fields import ColumnSerializer
from smartcis.api.schema import endpoint
from smartcis.compiling.live_catalog import live_catalog
from smartcis.live.pulse import status_message
from smartcis.models import Destination
from smartcis.models.closed import closed_among
from smartcis.services.processes import read_processes
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
    reason = SentenceField(read_only=True)


class SourceSerializer(serializers.Serializer[Any]):
    """A relation or view that a query may name."""

    name = serializers.CharField()
    kind = serializers.ChoiceField(KINDS)
    comment = serializers.CharField(allow_blank=True)
    key = texts()
    private = serializers.BooleanField(help_text="only staff may keep a query over it")
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
    down = texts(help_text="processes of the product that are not up")


class MeSerializer(serializers.Serializer[Any]):
    """Who the client is, and what it may do."""

    username = serializers.CharField(allow_blank=True)
    staff = serializers.BooleanField()
    may_query = serializers.BooleanField()
    query_quota = serializers.IntegerField(allow_null=True)


@extend_schema(exclude=True)
class Docs(SpectacularSwaggerSplitView):
    """Swagger's page over the schema, without the style element it brings."""

    template_name = "smartcis/docs.html"


class Sources(APIView):
    """Everything a query may name."""

    pagination_class = None

    @endpoint(SourceSerializer(many=True), 406)
    def get(self, _request: Request) -> list[dict[str, Any]]:
        """Lists relations and views."""
        catalog = live_catalog()
        private = set(closed_among(relation.name for relation in catalog))
        healths = source_health()
        goals = {one.view: one.called for one in Destination.objects.all()}
        return [
            {
                "name": relation.name,
                "kind": relation.kind.value.lower(),
                "comment": goals.get(relation.name) or (relation.comment and _(relation.comment)),
                "key": relation.key,
                "private": relation.name in private,
                "columns": relation.columns,
                "fed_by": [one for one in healths if relation.name in one.relations],
            }
            for relation in sorted(catalog, key=lambda one: one.name)
        ]


class StatusView(APIView):
    """How the engine is."""

    @endpoint(StatusSerializer, 406, 503)
    def get(self, _request: Request) -> dict[str, Any]:
        """Returns the status."""
        status = read_status(composition.server(), settings.RESULTS_NAME)
        said = status_message(status, time.time())
        processes = read_processes(composition.server(), settings.NAME)
        epoch, position, _ = composition.results().head()
        return {
            "engine": said.engine,
            "epoch": epoch,
            "position": position,
            "head": composition.log().head(),
            "lag_s": said.lag_s,
            "error": status.error,
            "down": [one.name for one in processes if not one.up],
        }


class Me(APIView):
    """Who the client is."""

    @endpoint(MeSerializer, 406)
    def get(self, request: Request) -> dict[str, Any]:
        """Returns who the client is."""
        owner = Owner.of(request)
        return {
            "username": request.user.get_username(),
            "staff": owner.staff,
            "may_query": may_query(owner),
            "query_quota": quota_of(owner),
        }
