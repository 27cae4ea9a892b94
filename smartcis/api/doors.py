"""Doors: listing, one, and locking it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers, viewsets
from rest_framework.request import Request

from smartcis.access.owner import Owner
from smartcis.actions.set_door_state import set_door_state
from smartcis.api.fields import Wanted
from smartcis.api.filters import filters
from smartcis.api.schema import EDIT, endpoint, shown
from smartcis.models import Door


class DoorSerializer(serializers.ModelSerializer[Door]):
    """A door and its state."""

    level_id = serializers.CharField(read_only=True)
    id = serializers.CharField(source="door_id", read_only=True)

    class Meta:
        model = Door
        fields = ("id", "state", "x_m", "y_m", "level_id")
        read_only_fields = fields


class DoorChangeSerializer(serializers.Serializer[Any]):
    """What can be changed of a door."""

    state = serializers.ChoiceField(Door.STATES)


@shown(DoorSerializer)
class Doors(viewsets.ReadOnlyModelViewSet[Door]):
    """Doors."""

    queryset = Door.objects.order_by("pk")
    serializer_class = DoorSerializer
    filterset_class = filters(Door, "state", level_id="level_id")

    @endpoint(DoorSerializer, *EDIT, takes=DoorChangeSerializer)
    def partial_update(self, request: Request, wanted: Wanted, pk: str) -> Door:
        """Locks or opens a door."""
        return set_door_state(pk, wanted["state"], Owner.of(request))
