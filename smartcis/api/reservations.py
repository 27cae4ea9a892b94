"""Reservations: of all rooms, of one, and making and cancelling them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import django_filters
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from smartcis.access.owner import Owner
from smartcis.actions.cancel_reservation import cancel_reservation
from smartcis.actions.reserve_room import TITLE_LENGTH, reserve_room
from smartcis.api.fields import Wanted
from smartcis.api.filters import filters
from smartcis.api.schema import EDIT, READ, answers, endpoint
from smartcis.models import Reservation, Unit
from smartcis.models.lookup import found


class ReservationSerializer(serializers.ModelSerializer[Reservation]):
    """A booking; times are UTC."""

    rid = serializers.CharField(source="unit_id", read_only=True)

    class Meta:
        model = Reservation
        fields = ("id", "rid", "start", "end", "title", "simulated")
        read_only_fields = fields


class ReservationMakeSerializer(serializers.Serializer[Any]):
    """A booking to make; times are ISO 8601, UTC unless they say otherwise."""

    start = serializers.DateTimeField()
    end = serializers.DateTimeField()
    title = serializers.CharField(max_length=TITLE_LENGTH)


class InstantFilter(django_filters.IsoDateTimeFilter):  # type: ignore[misc]  # untyped
    """A point in time; databases take UTC alone, whatever the offset it was written with."""

    def filter(self, qs: QuerySet[Reservation], value: datetime | None) -> QuerySet[Reservation]:
        """Returns the rows on one side of it."""
        found: QuerySet[Reservation] = super().filter(qs, value and _in_utc(value))
        return found


def _in_utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC)
    except OverflowError:  # before the first or behind the last year there is
        first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
        return first if value.year == 1 else last


ENDS_AFTER = InstantFilter(
    field_name="end", lookup_expr="gt", label="those that end after it: ISO 8601"
)
BEGINS_BEFORE = InstantFilter(
    field_name="start", lookup_expr="lt", label="those that begin before it: ISO 8601"
)


class AllReservations(generics.ListAPIView[Reservation]):
    """The reservations of all rooms."""

    queryset = Reservation.objects.order_by("start", "pk")
    serializer_class = ReservationSerializer
    filterset_class = filters(
        Reservation,
        "simulated",
        rid="unit_id",
        level_id="unit__level_id",
        **{"from": ENDS_AFTER, "to": BEGINS_BEFORE},
    )

    @extend_schema(responses=answers(ReservationSerializer(many=True), *READ))
    def get(self, request: Request) -> Response:
        """Lists reservations, oldest first."""
        return super().get(request)


class Reservations(generics.ListAPIView[Reservation]):
    """A room's reservations."""

    queryset = Reservation.objects.none()
    serializer_class = ReservationSerializer
    filter_backends = ()

    @extend_schema(
        operation_id="listRoomReservations",
        responses=answers(ReservationSerializer(many=True), *READ),
    )
    def get(self, request: Request, rid: str) -> Response:
        """Lists a room's reservations, oldest first."""
        self.queryset = found(Unit, rid, "room").reservations.order_by("start", "pk")
        return super().get(request)

    @endpoint(
        ReservationSerializer,
        *EDIT,
        takes=ReservationMakeSerializer,
        status=201,
        operation_id="reserveRoom",
    )
    def post(self, request: Request, wanted: Wanted, rid: str) -> Reservation:
        """Reserves the room."""
        return reserve_room(rid, owner=Owner.of(request), **wanted)


class ReservationDetail(APIView):
    """One reservation."""

    @endpoint(None, 401, 403, 404, status=204, operation_id="cancelReservation")
    def delete(self, request: Request, rid: str, reservation_id: int) -> None:
        """Cancels the reservation."""
        cancel_reservation(rid, reservation_id, Owner.of(request))
