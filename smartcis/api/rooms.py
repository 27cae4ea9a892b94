"""Reservations of a room."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from smartcis.access.owner import Owner
from smartcis.actions.cancel_reservation import cancel_reservation
from smartcis.actions.reserve_room import TITLE_LENGTH, reserve_room
from smartcis.api.fields import body_of
from smartcis.api.schema import EDIT, READ, answers
from smartcis.errors import unknown
from smartcis.models import Reservation, Unit


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


class Reservations(generics.ListAPIView[Reservation]):
    """A room's reservations."""

    queryset = Reservation.objects.none()
    serializer_class = ReservationSerializer
    filter_backends = ()

    @extend_schema(responses=answers(ReservationSerializer(many=True), 400, *READ))
    def get(self, request: Request, rid: str) -> Response:
        """Lists a room's reservations, oldest first."""
        if not Unit.objects.filter(pk=rid).exists():
            raise unknown("room", rid, Unit.objects.values_list("pk", flat=True))
        self.queryset = Reservation.objects.filter(unit_id=rid).order_by("start", "pk")
        return super().get(request)

    @extend_schema(
        request=ReservationMakeSerializer,
        responses=answers(ReservationSerializer, *EDIT, status=201),
    )
    def post(self, request: Request, rid: str) -> Response:
        """Reserves the room."""
        wanted = body_of(ReservationMakeSerializer, request)
        made = reserve_room(rid, owner=Owner.of(request), **wanted)
        return Response(ReservationSerializer(made).data, 201)


class ReservationDetail(APIView):
    """One reservation."""

    @extend_schema(responses=answers(None, 401, 403, 404, status=204))
    def delete(self, request: Request, rid: str, reservation_id: int) -> Response:
        """Returns the reservation back."""
        cancel_reservation(rid, reservation_id, Owner.of(request))
        return Response(status=204)
