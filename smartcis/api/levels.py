"""Levels: listing, one, and what people call it; its geometry is the importer's."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, viewsets
from rest_framework.request import Request

from smartcis.access.owner import Owner
from smartcis.actions.rename_level import rename_level
from smartcis.api.fields import BOX, Wanted
from smartcis.api.filters import filters
from smartcis.api.schema import EDIT, endpoint, shown
from smartcis.models import Level

Ring = list[list[float]]


class LevelSerializer(serializers.ModelSerializer[Level]):
    """A floor."""

    id = serializers.CharField(source="level_id")
    bounds_m = serializers.SerializerMethodField(help_text="min x, min y, max x, max y in metres")

    class Meta:
        model = Level
        fields = ("id", "name", "short_name", "ordinal", "bounds_m")
        read_only_fields = fields

    @extend_schema_field(BOX)
    def get_bounds_m(self, level: Level) -> list[float]:
        """Returns the box around the outline."""
        points = [point for ring in rings(level.outline) for point in ring] or [[0.0, 0.0]]
        xs, ys = zip(*points, strict=True)
        return [min(xs), min(ys), max(xs), max(ys)]


class LevelChangeSerializer(serializers.Serializer[Any]):
    """What people call a floor; importing the building again brings the drawing's names back."""

    name = serializers.CharField(required=False, max_length=100)
    short_name = serializers.CharField(required=False, max_length=20)


@shown(LevelSerializer)
class Levels(viewsets.ReadOnlyModelViewSet[Level]):
    """Floors, the lowest first."""

    queryset = Level.objects.order_by("ordinal", "pk")
    serializer_class = LevelSerializer
    filterset_class = filters(Level, "name", "short_name", "ordinal")
    lookup_field = "level_id"

    @endpoint(LevelSerializer, *EDIT, takes=LevelChangeSerializer)
    def partial_update(self, request: Request, wanted: Wanted, level_id: str) -> Level:
        """Renames a floor."""
        return rename_level(level_id, wanted, Owner.of(request))


def rings(outline: list[list[Ring]]) -> list[Ring]:
    """Returns all rings of several polygons."""
    return [ring for polygon in outline for ring in polygon]
