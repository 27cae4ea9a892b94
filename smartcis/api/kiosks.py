"""Kiosks: listing, one, and adding, changing and removing it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers, viewsets
from rest_framework.request import Request

from smartcis.access.owner import Owner
from smartcis.actions.add_kiosk import add_kiosk
from smartcis.actions.change_kiosk import change_kiosk
from smartcis.actions.remove_kiosk import remove_kiosk
from smartcis.api.fields import NODE_HIGHEST, Wanted
from smartcis.api.filters import filters
from smartcis.api.schema import EDIT, endpoint, shown
from smartcis.models import Kiosk


class KioskSerializer(serializers.ModelSerializer[Kiosk]):
    """A screen on a wall."""

    id = serializers.CharField(source="kiosk_id")
    node = serializers.IntegerField(source="node_id")
    level_id = serializers.CharField(source="node.level_id")
    x_m = serializers.FloatField(source="node.x_m")
    y_m = serializers.FloatField(source="node.y_m")
    query = serializers.CharField(
        source="query_id", allow_null=True, help_text="the id of the query it shows, null: the plan"
    )

    class Meta:
        model = Kiosk
        fields = (
            *("id", "name", "node", "level_id", "x_m", "y_m", "bearing_deg", "query", "simulated"),
        )
        read_only_fields = fields


class KioskChangeSerializer(serializers.Serializer[Any]):
    """What can be changed of a kiosk."""

    name = serializers.CharField(required=False, max_length=100)
    node = serializers.IntegerField(
        required=False, min_value=0, max_value=NODE_HIGHEST, help_text="walking point before it"
    )
    level_id = serializers.CharField(
        required=False, max_length=16, help_text="with x_m and y_m: the nearest walking point"
    )
    x_m = serializers.FloatField(required=False)
    y_m = serializers.FloatField(required=False)
    bearing_deg = serializers.FloatField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=360,
        help_text="where people look who stand before it, degrees clockwise from the plan's north; "
        "its plan is turned so that this is up; null leaves the plan as drawn",
    )
    query = serializers.CharField(
        required=False,
        allow_null=True,
        max_length=16,
        help_text="the id of a query it shows instead of the plan, which visitors may read",
    )
    simulated = serializers.BooleanField(required=False)


class KioskMakeSerializer(KioskChangeSerializer):
    """A new kiosk; its page is `/kiosk/{id}/`."""

    id = serializers.SlugField(max_length=60)
    name = serializers.CharField(max_length=100)


@shown(KioskSerializer)
class Kiosks(viewsets.ReadOnlyModelViewSet[Kiosk]):
    """Kiosks."""

    queryset = Kiosk.objects.select_related("node").order_by("pk")
    serializer_class = KioskSerializer
    filterset_class = filters(
        Kiosk, "name", "simulated", level_id="node__level_id", rid="node__unit_id"
    )

    @endpoint(KioskSerializer, *EDIT, 409, takes=KioskMakeSerializer, status=201)
    def create(self, request: Request, wanted: Wanted) -> Kiosk:
        """Adds a kiosk."""
        return add_kiosk(wanted.pop("id"), owner=Owner.of(request), **wanted)

    @endpoint(KioskSerializer, *EDIT, takes=KioskChangeSerializer)
    def partial_update(self, request: Request, wanted: Wanted, pk: str) -> Kiosk:
        """Renames a kiosk, or hangs it elsewhere."""
        return change_kiosk(pk, wanted, Owner.of(request))

    @endpoint(None, 401, 403, 404, status=204)
    def destroy(self, request: Request, pk: str) -> None:
        """Removes a kiosk."""
        remove_kiosk(pk, Owner.of(request))
