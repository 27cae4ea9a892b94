"""Destinations: what visitors may look for, and adding, changing and removing it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers, viewsets
from rest_framework.request import Request

from smartcis.access.owner import Owner
from smartcis.actions.add_destination import add_destination
from smartcis.actions.change_destination import change_destination
from smartcis.actions.remove_destination import remove_destination
from smartcis.api.fields import Wanted
from smartcis.api.schema import EDIT, endpoint, shown
from smartcis.models import Destination

SQL = "a query with the columns rid and node, and mid where it leads to machines"


class DestinationSerializer(serializers.ModelSerializer[Destination]):
    """Something visitors look for; its slug is the goal of a walk."""

    view = serializers.CharField(help_text="the standing view that its query becomes")
    usable = serializers.SerializerMethodField(help_text="whether its query compiles")

    class Meta:
        model = Destination
        fields = (
            *("slug", "name", "name_de", "words", "sql", "step_free", "position"),
            *("view", "usable"),
        )
        read_only_fields = fields

    def get_usable(self, one: Destination) -> bool:
        """Returns whether its query compiled when it was deployed."""
        return one.error is None


class DestinationChangeSerializer(serializers.Serializer[Any]):
    """What can be changed of a destination."""

    name = serializers.CharField(required=False, max_length=80)
    name_de = serializers.CharField(required=False, max_length=80, allow_blank=True)
    words = serializers.CharField(
        required=False, max_length=300, allow_blank=True, help_text="other names, with commas"
    )
    sql = serializers.CharField(required=False, max_length=10_000, help_text=SQL)
    step_free = serializers.BooleanField(required=False)
    position = serializers.IntegerField(required=False, min_value=0, max_value=32_767)


class DestinationMakeSerializer(DestinationChangeSerializer):
    """A new destination."""

    slug = serializers.RegexField(r"^[a-z][a-z0-9]*(-[a-z0-9]+)*\Z", max_length=40)
    name = serializers.CharField(max_length=80)
    sql = serializers.CharField(
        max_length=10_000, help_text="a query with the columns rid and node"
    )


@shown(DestinationSerializer)
class Destinations(viewsets.ReadOnlyModelViewSet[Destination]):
    """Destinations."""

    queryset = Destination.objects.order_by("position", "pk")
    serializer_class = DestinationSerializer

    @endpoint(DestinationSerializer, *EDIT, 409, takes=DestinationMakeSerializer, status=201)
    def create(self, request: Request, wanted: Wanted) -> Destination:
        """Adds a destination."""
        return add_destination(wanted.pop("slug"), Owner.of(request), **wanted)

    @endpoint(DestinationSerializer, *EDIT, takes=DestinationChangeSerializer)
    def partial_update(self, request: Request, wanted: Wanted, pk: str) -> Destination:
        """Changes a destination."""
        return change_destination(pk, wanted, Owner.of(request))

    @endpoint(None, 401, 403, 404, status=204)
    def destroy(self, request: Request, pk: str) -> None:
        """Removes a destination."""
        remove_destination(pk, Owner.of(request))
