"""Rooms: listing, one, and what people call and use it for; its geometry is the importer's."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers, viewsets
from rest_framework.request import Request

from smartcis.access.owner import Owner
from smartcis.actions.change_room import change_room
from smartcis.api.fields import Wanted
from smartcis.api.filters import filters
from smartcis.api.schema import EDIT, endpoint, shown
from smartcis.models import Unit


class RoomSerializer(serializers.ModelSerializer[Unit]):
    """A room, corridor, staircase or lift; its polygon is in its level's plan."""

    level_id = serializers.CharField()
    label_x_m = serializers.FloatField(help_text="where its name stands")

    class Meta:
        model = Unit
        fields = (
            *("rid", "level_id", "name", "category", "label_x_m", "label_y_m", "area_m2"),
            *("derived", "unreached"),
        )
        read_only_fields = fields


class RoomChangeSerializer(serializers.Serializer[Any]):
    """What people say of a room; importing the building again brings the drawing's words back."""

    name = serializers.CharField(required=False, allow_blank=True, max_length=200)
    category = serializers.CharField(
        required=False, max_length=40, help_text="a unit category of IMDF: office, classroom, …"
    )


@shown(RoomSerializer)
class Rooms(viewsets.ReadOnlyModelViewSet[Unit]):
    """Rooms."""

    queryset = Unit.objects.defer("polygon", "ground").order_by("pk")
    serializer_class = RoomSerializer
    filterset_class = filters(Unit, "category", "name", "derived", level_id="level_id")
    lookup_field = "rid"

    @endpoint(RoomSerializer, *EDIT, takes=RoomChangeSerializer)
    def partial_update(self, request: Request, wanted: Wanted, rid: str) -> Unit:
        """Renames a room, or says what it is used for."""
        return change_room(rid, wanted, Owner.of(request))
