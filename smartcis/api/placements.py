"""Where a query runs, what that costs, and moving it."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from smartcis.access.owner import Owner
from smartcis.actions.move_query import SITES, move_query
from smartcis.api.explain import CostSerializer
from smartcis.api.fields import Wanted, texts
from smartcis.api.queries import ENGINE, NETWORK, runs_inside, visible
from smartcis.api.schema import EDIT, READ, answers, endpoint
from smartcis.models import MaintainedView, NetworkPiece, Placement
from smartcis.placements.silence import patience
from smartcis.sentences import translated


class NetworkPieceSerializer(serializers.Serializer[Any]):
    """A piece of a query that motes run."""

    name = serializers.CharField()
    method = serializers.CharField(help_text="how a join in it is computed")
    period_s = serializers.FloatField(help_text="between two answers")
    live = serializers.BooleanField(help_text="whether its answers reach the query")
    silent = serializers.BooleanField(help_text="it has not answered for some epochs: no data")
    rows = serializers.IntegerField(help_text="of the newest answer")
    motes = serializers.IntegerField(help_text="whose rows are in the newest answer")
    expected = serializers.IntegerField(help_text="motes that carry a sensor it asks")
    answered_at = serializers.DateTimeField(allow_null=True)
    energy_mj = serializers.FloatField(help_text="spent by all motes for it so far")
    sent_bytes = serializers.IntegerField(help_text="sent by all motes for it so far")
    mj_per_s = serializers.FloatField(help_text="spent lately")
    bytes_per_s = serializers.FloatField(help_text="sent lately")
    shares = serializers.DictField(
        child=serializers.FloatField(), help_text="measured share of rows passing each selection"
    )


class WeighedSerializer(CostSerializer):
    """A way to run a query, and what it was expected to cost."""

    where = serializers.CharField()
    pieces = texts()
    weighed = serializers.FloatField(help_text="all of them in one number")


class PlacementSerializer(serializers.Serializer[Any]):
    """Where a query runs."""

    where = serializers.ChoiceField((ENGINE, NETWORK))
    moving = serializers.BooleanField(help_text="it is on its way to the other site")
    since = serializers.DateTimeField()
    why = serializers.CharField(allow_blank=True)
    forced = serializers.BooleanField(help_text="somebody chose; the optimizer leaves it alone")
    trouble = serializers.CharField(
        allow_blank=True, help_text="why the last move was given up, if it was"
    )
    weighed = WeighedSerializer(many=True)
    estimates = serializers.DictField(child=serializers.FloatField())
    pieces = NetworkPieceSerializer(many=True)


class MoveSerializer(serializers.Serializer[Any]):
    """Where a query shall run."""

    where = serializers.ChoiceField(SITES)


def placement_body(view: MaintainedView) -> dict[str, Any]:
    """Returns where a view runs, as the API shows it."""
    placement = Placement.objects.select_related("view").filter(view=view).first()
    if placement is None or not placement.holds:
        placement = Placement(view=view, plan_hash=view.plan_hash, since=view.created_at)
    names = {*placement.running, *placement.wanted}
    return {
        "where": NETWORK if runs_inside(view) else ENGINE,
        "moving": placement.moving,
        "since": placement.since.isoformat(),
        "why": translated(placement.why),
        "forced": placement.forced,
        "trouble": translated(placement.trouble),
        "weighed": placement.costs.get("weighed", []),
        "estimates": placement.basis,
        "pieces": [_piece_body(one) for one in NetworkPiece.objects.filter(name__in=names)],
    }


def _piece_body(piece: NetworkPiece) -> dict[str, Any]:
    answered = piece.answered_at
    silent = answered is not None and timezone.now() - answered > patience(piece.period_s)
    told = (
        *("name", "method", "period_s", "live", "motes", "expected"),
        *("energy_mj", "sent_bytes", "mj_per_s", "bytes_per_s"),
    )
    return {
        **{name: getattr(piece, name) for name in told},
        "silent": silent,
        "rows": sum(weight for weight, *_ in piece.answer),
        "answered_at": None if answered is None else answered.isoformat(),
        "shares": piece.measured,
    }


class QueryPlacement(APIView):
    """Where one query runs."""

    permission_classes = (AllowAny,)

    @extend_schema(responses=answers(PlacementSerializer, *READ))
    def get(self, request: Request, query_id: str) -> Response:
        """Returns where a query runs, since when, why, and what it costs there."""
        query = visible(query_id, Owner.of(request))
        return Response(placement_body(query.view))

    @endpoint(PlacementSerializer, *EDIT, takes=MoveSerializer)
    def patch(self, request: Request, wanted: Wanted, query_id: str) -> Response:
        """Moves a query, or leaves it to the optimizer again (`auto`); for staff."""
        placement = move_query(query_id, wanted["where"], Owner.of(request))
        return Response(placement_body(placement.view))
