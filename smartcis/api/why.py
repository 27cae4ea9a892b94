"""Why a row is there: the base rows it rests on."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from smartcis.access.grants import grant
from smartcis.access.owner import Owner
from smartcis.actions.ask_why import ask_why
from smartcis.api.fields import body_of, row_by_column, row_in_order
from smartcis.api.schema import SEND, answers

NAME_LENGTH = 100
COLUMNS_AT_MOST = 100


class WhyAskSerializer(serializers.Serializer[Any]):
    """A row of a view."""

    view = serializers.CharField(max_length=NAME_LENGTH, help_text="a view, or a query's id")
    row = row_in_order(
        max_length=COLUMNS_AT_MOST,
        help_text="values in the order of the view's columns, as its rows have them",
    )


class FactSerializer(serializers.Serializer[Any]):
    """A base row."""

    relation = serializers.CharField()
    row = row_by_column()
    necessary = serializers.BooleanField(help_text="without this row the answer is gone")
    hidden = serializers.BooleanField(
        help_text="the row is another visitor's; its values are left out"
    )


class ReasonsSerializer(serializers.Serializer[Any]):
    """The minimal sets of base rows a row rests on; each suffices."""

    view = serializers.CharField()
    row = row_in_order()
    sets = serializers.ListField(child=FactSerializer(many=True))
    complete = serializers.BooleanField(help_text="all sets are listed; otherwise one")
    epoch = serializers.IntegerField()
    at_s = serializers.FloatField()


class QueryWhy(APIView):
    """Ask why a row is in a view; whoever may follow the row may ask."""

    permission_classes = (AllowAny,)
    throttle_scope = "why"

    @extend_schema(
        request=WhyAskSerializer,
        responses=answers(ReasonsSerializer, *SEND, 403, 404, 409, 429, 503),
    )
    def post(self, request: Request) -> Response:
        """Asks, and waits up to three seconds for the engine's answer."""
        owner = Owner.of(request)
        fields = body_of(WhyAskSerializer, request)
        granted = grant(fields["view"], browser=owner.browser, user=request.user)
        return Response(asdict(ask_why(granted, fields["row"])))
