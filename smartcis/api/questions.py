"""Questions about rows of a view: why they are there or not, what if, what they hang on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from smartcis.access.grants import grant
from smartcis.access.owner import Owner
from smartcis.access.queries import require_may_query
from smartcis.actions.ask_weak_points import Weakness, ask_weak_points
from smartcis.actions.ask_what_if import Difference, ask_what_if
from smartcis.actions.ask_why import Reasons, ask_why
from smartcis.actions.ask_why_not import Missing, RowEdit, RowRepair, ask_why_not
from smartcis.api.bodies import Body, body_type
from smartcis.api.fields import body_of, row_by_column, row_in_order
from smartcis.api.schema import SEND, answers
from smartcis.questions.hypothetical import LENGTH

PROBLEMS = (*SEND, 403, 404, 409, 503)
NAME_LENGTH = 100
COLUMNS_AT_MOST = 100


class _Asked(serializers.Serializer[Any]):
    view = serializers.CharField(max_length=NAME_LENGTH, help_text="a view, or a query's id")


class _AskedOfSome(_Asked):
    row = row_by_column(
        "column → value of the rows in question; other columns may have any", required=False
    )


class WhyAskSerializer(_Asked):
    """A row of a view."""

    row = row_in_order(
        max_length=COLUMNS_AT_MOST,
        help_text="values in the order of the view's columns, as its rows have them",
    )


class WhyNotAskSerializer(_Asked):
    """A row that a view has not."""

    row = row_by_column("column → value of the missing row; other columns may have any")


class WhatIfAskSerializer(_AskedOfSome):
    """Hypothetical updates of base rows."""

    updates = serializers.CharField(
        max_length=LENGTH,
        help_text="INSERT INTO … VALUES, DELETE or UPDATE over base relations; nothing is changed",
    )


class WeakPointsAskSerializer(_AskedOfSome):
    """Rows whose single points of failure are wanted."""

    by = serializers.ListField(
        child=serializers.CharField(max_length=NAME_LENGTH),
        max_length=COLUMNS_AT_MOST,
        required=False,
        help_text="columns counted by: a row replaced by one equal there is not lost",
    )
    among = serializers.ListField(
        child=serializers.CharField(max_length=NAME_LENGTH),
        max_length=COLUMNS_AT_MOST,
        required=False,
        help_text="base relations whose rows may be such points; without it all",
    )


body_type(RowEdit, "Edit")
body_type(RowRepair, "Repair")


class _Question(APIView):
    permission_classes = (AllowAny,)
    throttle_scope = "why"

    @staticmethod
    def asked(request: Request, body: Body, ask: Callable[..., Any]) -> Response:
        """Asks about the view that a request names, whose rows the client may see."""
        fields = body_of(body, request)
        owner = Owner.of(request)
        require_may_query(owner)
        granted = grant(fields.pop("view"), browser=owner.browser, user=request.user)
        return Response(asdict(ask(replace(granted, asker=owner.share), **fields)))


class QueryWhy(_Question):
    """Ask why a row is in a view; whoever may follow the row may ask."""

    @extend_schema(
        operation_id="askWhy",
        request=WhyAskSerializer,
        responses=answers(body_type(Reasons), *PROBLEMS),
    )
    def post(self, request: Request) -> Response:
        """Asks, and waits up to three seconds for the engine's answer."""
        return self.asked(request, WhyAskSerializer, ask_why)


class QueryWhyNot(_Question):
    """Ask why a row is not in a view; whoever may follow such rows may ask."""

    @extend_schema(
        operation_id="askWhyNot",
        request=WhyNotAskSerializer,
        responses=answers(body_type(Missing), *PROBLEMS),
    )
    def post(self, request: Request) -> Response:
        """Asks, and waits up to three seconds for the engine's answer."""
        return self.asked(request, WhyNotAskSerializer, ask_why_not)


class QueryWhatIf(_Question):
    """Ask how a view would change; whoever may follow it may ask. Nothing is changed."""

    @extend_schema(
        operation_id="askWhatIf",
        request=WhatIfAskSerializer,
        responses=answers(body_type(Difference), *PROBLEMS),
    )
    def post(self, request: Request) -> Response:
        """Asks, and waits up to three seconds for the engine's answer."""
        return self.asked(request, WhatIfAskSerializer, ask_what_if)


class QueryWeakPoints(_Question):
    """Ask which single base rows a view hangs on; whoever may follow it may ask."""

    @extend_schema(
        operation_id="askWeakPoints",
        request=WeakPointsAskSerializer,
        responses=answers(body_type(Weakness), *PROBLEMS),
    )
    def post(self, request: Request) -> Response:
        """Asks, and waits up to three seconds for the engine's answer."""
        return self.asked(request, WeakPointsAskSerializer, ask_weak_points)
