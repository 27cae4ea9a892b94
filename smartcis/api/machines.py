"""Machines with their software: listing, one, and adding, changing and removing it."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db.models import Prefetch, QuerySet
from rest_framework import serializers, viewsets
from rest_framework.request import Request

from smartcis.access.owner import Owner
from smartcis.actions.add_machine import add_machine
from smartcis.actions.change_machine import change_machine
from smartcis.actions.remove_machine import remove_machine
from smartcis.api.fields import NODE_HIGHEST, Wanted
from smartcis.api.filters import filters
from smartcis.api.schema import EDIT, endpoint, shown
from smartcis.models import Machine, SoftwareInstall

PROGRAMS_AT_MOST = 500
NAMED = r"^[^/\s]+$"  # it stands in paths


class MachineSerializer(serializers.ModelSerializer[Machine]):
    """A machine and what is installed on it."""

    rid = serializers.CharField(source="unit_id")
    node = serializers.IntegerField(source="node_id")
    level_id = serializers.CharField(source="unit.level_id")
    software: serializers.SlugRelatedField[SoftwareInstall] = serializers.SlugRelatedField(
        "software", many=True, read_only=True
    )

    class Meta:
        model = Machine
        fields = (
            *("mid", "host", "rid", "node", "level_id", "x_m", "y_m"),
            *("cpu_type", "simulated", "software"),
        )
        read_only_fields = fields


class MachineChangeSerializer(serializers.Serializer[Any]):
    """What can be changed of a machine; it moves if its room, node or position does."""

    host = serializers.CharField(required=False, max_length=100)
    rid = serializers.CharField(required=False, max_length=60)
    node = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=NODE_HIGHEST,
        help_text="walking point of the room that it stands at",
    )
    x_m = serializers.FloatField(
        required=False, help_text="with y_m; without a node a desk is put there"
    )
    y_m = serializers.FloatField(required=False)
    cpu_type = serializers.CharField(required=False, allow_blank=True, max_length=100)
    simulated = serializers.BooleanField(required=False)
    software = serializers.ListField(
        child=serializers.CharField(max_length=120),
        required=False,
        max_length=PROGRAMS_AT_MOST,
        help_text="all that is installed",
    )


class MachineMakeSerializer(MachineChangeSerializer):
    """A new machine; without node and position it stands in the middle of its room."""

    mid = serializers.RegexField(NAMED, max_length=70)
    host = serializers.CharField(max_length=100)
    rid = serializers.CharField(max_length=60)


def machines() -> QuerySet[Machine]:
    """Returns all machines with their software."""
    software = Prefetch("software", SoftwareInstall.objects.order_by("software"))
    return Machine.objects.select_related("unit").prefetch_related(software).order_by("pk")


@shown(MachineSerializer)
class Machines(viewsets.ReadOnlyModelViewSet[Machine]):
    """Machines."""

    queryset = machines()
    serializer_class = MachineSerializer
    filterset_class = filters(
        Machine,
        *("host", "simulated"),
        rid="unit_id",
        level_id="unit__level_id",
        software=django_filters.CharFilter(field_name="software__software", distinct=True),
    )

    @endpoint(MachineSerializer, *EDIT, 409, takes=MachineMakeSerializer, status=201)
    def create(self, request: Request, wanted: Wanted) -> Machine:
        """Adds a machine, with a desk where it stands at no walking point."""
        made = add_machine(owner=Owner.of(request), **wanted)
        return machines().get(pk=made.pk)

    @endpoint(MachineSerializer, *EDIT, takes=MachineChangeSerializer)
    def partial_update(self, request: Request, wanted: Wanted, pk: str) -> Machine:
        """Changes a machine; its sensors move with it."""
        change_machine(pk, wanted, Owner.of(request))
        return machines().get(pk=pk)

    @endpoint(None, 401, 403, 404, status=204)
    def destroy(self, request: Request, pk: str) -> None:
        """Removes a machine with its software, its sensors, its sources and its own desk."""
        remove_machine(pk, Owner.of(request))
