"""Alarms that stand and that stood: listing, one, and what staff do about it."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from smartcis.access.grants import is_staff
from smartcis.access.owner import Owner
from smartcis.actions.change_alarm import change_alarm
from smartcis.actions.end_alarm import end_alarm
from smartcis.api.fields import Wanted, row_by_column
from smartcis.api.filters import Filters
from smartcis.api.schema import EDIT, READ, answers, endpoint
from smartcis.models import Alarm, AlarmEvent
from smartcis.models.lookup import found

LONGEST_MUTE_S = 30 * 86_400
_TIMES = {
    "raised_s": "when it began, seconds since 1970",
    "changed_s": "when its row last changed",
    "cleared_s": "when it ended; null while it stands",
    "acknowledged_s": "when somebody of the staff took note",
    "muted_until_s": "until when nobody is told of it",
}


class AccountField(serializers.CharField):
    """Somebody's account, empty for whoever is no staff."""

    def to_representation(self, value: Any) -> str:
        """Returns the account, where the reader may know it."""
        request = self.context.get("request")
        return str(value) if request is not None and is_staff(request.user) else ""


class AlarmSerializer(serializers.ModelSerializer[Alarm]):
    """An alarm, under one id from when it was raised."""

    query = serializers.CharField(help_text="id of the query that raises it")
    title = serializers.CharField(help_text="what people call it")
    key = row_by_column("what it is about: the key's columns and their values")
    message = serializers.CharField(help_text="the row in words")
    acknowledged_by = AccountField(help_text="account; for staff alone")
    assigned_to = AccountField(
        source="assigned_to.username", default=None, allow_null=True, help_text="as above"
    )

    class Meta:
        model = Alarm
        fields = (
            *("id", "query", "name", "target", "title", "kind", "severity", "key", "message"),
            *("value", "unit", "rid", "mid", "door_id", *_TIMES),
            *("acknowledged_by", "assigned_to"),
        )
        read_only_fields = fields
        extra_kwargs = {name: {"help_text": said} for name, said in _TIMES.items()}  # noqa: RUF012  # the framework's


class AlarmEventSerializer(serializers.ModelSerializer[AlarmEvent]):
    """What happened to an alarm, or what somebody did about it."""

    account = AccountField(help_text="who did it, empty for nobody; for staff alone")
    whom = AccountField(help_text="to whom it was assigned; for staff alone")

    class Meta:
        model = AlarmEvent
        fields = ("at_s", "what", "account", "whom")
        read_only_fields = fields


class AlarmDetailSerializer(AlarmSerializer):
    """An alarm with its history."""

    events = AlarmEventSerializer(many=True)

    class Meta(AlarmSerializer.Meta):
        fields = (*AlarmSerializer.Meta.fields, "events")
        read_only_fields = fields


class AlarmChangeSerializer(serializers.Serializer[Any]):
    """What staff do about an alarm."""

    acknowledged = serializers.BooleanField(required=False, help_text="somebody has taken note")
    muted_for_s = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=LONGEST_MUTE_S,
        help_text="tell nobody of it so long from now; 0: tell again",
    )
    assigned_to = serializers.CharField(
        required=False, allow_null=True, max_length=150, help_text="account of staff; null: nobody"
    )


class AlarmFilter(Filters):
    """By state, place, severity, query, its name, and the alarm it names."""

    state = django_filters.ChoiceFilter(
        method="in_state",
        choices=[("standing", "standing"), ("cleared", "cleared"), ("any", "any")],
        label="standing (what is listed without it), cleared or any",
    )

    class Meta:
        model = Alarm
        fields = ("state", "query", "name", "target", "kind", "severity", "rid", "mid", "door_id")

    def filter_queryset(self, queryset: QuerySet[Alarm]) -> QuerySet[Alarm]:
        """Returns the alarms that stand where no state is asked for."""
        found_ones: QuerySet[Alarm] = super().filter_queryset(queryset)
        asked = self.form.cleaned_data.get("state")
        return found_ones if asked else found_ones.filter(cleared_s=None)

    def in_state(self, queryset: QuerySet[Alarm], _name: str, state: str) -> QuerySet[Alarm]:
        """Returns the alarms in a state."""
        return (
            queryset if state == "any" else queryset.filter(cleared_s__isnull=state == "standing")
        )


class Alarms(generics.ListAPIView[Alarm]):
    """Alarms."""

    queryset = Alarm.objects.select_related("assigned_to")
    serializer_class = AlarmSerializer
    filterset_class = AlarmFilter

    @extend_schema(responses=answers(AlarmSerializer(many=True), *READ))
    def get(self, request: Request) -> Response:
        """Lists alarms, the newest first; a query with OUTPUT TO ALARM raises them."""
        return super().get(request)


class AlarmDetail(generics.GenericAPIView[Alarm]):
    """One alarm."""

    queryset = Alarm.objects.all()
    serializer_class = AlarmDetailSerializer
    filter_backends = ()

    @endpoint(AlarmDetailSerializer, *READ)
    def get(self, request: Request, alarm_id: int) -> Response:
        """Returns an alarm with its history."""
        return _told(request, found(Alarm, alarm_id, "alarm"))

    @endpoint(AlarmDetailSerializer, *EDIT, 409, takes=AlarmChangeSerializer)
    def patch(self, request: Request, wanted: Wanted, alarm_id: int) -> Response:
        """Acknowledges an alarm, mutes it for a time, or gives it to somebody."""
        return _told(request, change_alarm(alarm_id, wanted, Owner.of(request)))

    @endpoint(None, 401, 403, 404, 409, status=204)
    def delete(self, request: Request, alarm_id: int) -> None:
        """Ends an alarm about no data, because what it was about is gone for good."""
        end_alarm(alarm_id, Owner.of(request))


def _told(request: Request, alarm: Alarm) -> Response:
    return Response(AlarmDetailSerializer(alarm, context={"request": request}).data)
