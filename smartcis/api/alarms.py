"""Alarms that stand. A query with `OUTPUT TO ALARM` raises them; each goes with its row."""

from __future__ import annotations

import django_filters
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from smartcis.api.filters import Filters
from smartcis.api.schema import READ, answers
from smartcis.models import Alarm


class AlarmSerializer(serializers.ModelSerializer[Alarm]):
    """An alarm that stands."""

    query = serializers.CharField(source="outlet_id", help_text="id of the query that raises it")
    raised_s = serializers.FloatField(help_text="when, seconds since 1970")

    class Meta:
        model = Alarm
        fields = ("id", "query", "name", "target", "message", "raised_s")
        read_only_fields = fields


class AlarmFilter(Filters):
    """By query, its name, and the alarm it names."""

    query = django_filters.CharFilter(field_name="outlet_id")

    class Meta:
        model = Alarm
        fields = ("query", "name", "target")


class Alarms(generics.ListAPIView[Alarm]):
    """The alarms that stand."""

    queryset = Alarm.objects.all()
    serializer_class = AlarmSerializer
    filterset_class = AlarmFilter

    @extend_schema(responses=answers(AlarmSerializer(many=True), *READ))
    def get(self, request: Request) -> Response:
        """Lists alarms, the newest first; a query with OUTPUT TO ALARM raises them."""
        return super().get(request)
