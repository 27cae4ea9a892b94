"""Questions beside why: what is missing for a row, what would change, what a view hangs on."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from smartcis.access.grants import Grant, grant
from smartcis.access.owner import Owner
from smartcis.actions.ask_weak_points import ask_weak_points
from smartcis.actions.ask_what_if import ask_what_if
from smartcis.actions.ask_why_not import ask_why_not
from smartcis.api.fields import OpenCellField, body_of, row_by_column, texts
from smartcis.api.schema import SEND, answers
from smartcis.api.why import COLUMNS_AT_MOST, NAME_LENGTH
from smartcis.questions.hypothetical import LENGTH

PROBLEMS = (*SEND, 403, 404, 409, 429, 503)


class _Asked(serializers.Serializer[Any]):
    view = serializers.CharField(max_length=NAME_LENGTH, help_text="a view, or a query's id")
    row = row_by_column(
        "column → value of the rows in question; other columns may have any", required=False
    )


class WhyNotAskSerializer(_Asked):
    """A row that a view has not."""

    row = row_by_column("column → value of the missing row; other columns may have any")


class WhatIfAskSerializer(_Asked):
    """Hypothetical updates of base rows."""

    updates = serializers.CharField(
        max_length=LENGTH,
        help_text="INSERT INTO … VALUES, DELETE or UPDATE over base relations; nothing is changed",
    )


class WeakPointsAskSerializer(_Asked):
    """Rows whose single points of failure are wanted."""

    by = serializers.ListField(
        child=serializers.CharField(max_length=NAME_LENGTH),
        max_length=COLUMNS_AT_MOST,
        required=False,
        help_text="columns counted by: a row replaced by one equal there is not lost",
    )


class EditSerializer(serializers.Serializer[Any]):
    """A base row that would have to come, go or change."""

    action = serializers.ChoiceField(choices=["insert", "delete", "change"])
    relation = serializers.CharField()
    before = row_by_column("the row that goes or changes", allow_null=True)
    after = serializers.DictField(
        child=OpenCellField(allow_null=True),
        help_text="the row that comes; {'open': name} stands for any value",
        allow_null=True,
    )
    example = row_by_column("the same with values that would do", allow_null=True)
    hidden = serializers.BooleanField(help_text="the row is another visitor's")


class RepairSerializer(serializers.Serializer[Any]):
    """Edits that together make the row appear; none of them can be left out."""

    edits = EditSerializer(many=True)
    conditions = texts(help_text="on open values, by their names")


class MissingSerializer(serializers.Serializer[Any]):
    """What would have to be otherwise for the row to be there; smallest first."""

    view = serializers.CharField()
    repairs = RepairSerializer(many=True)
    complete = serializers.BooleanField(help_text="there is no other way")
    epoch = serializers.IntegerField()
    at_s = serializers.FloatField()


class DifferenceSerializer(serializers.Serializer[Any]):
    """How the view would change."""

    view = serializers.CharField()
    gone = serializers.ListField(child=row_by_column())
    come = serializers.ListField(child=row_by_column())
    epoch = serializers.IntegerField()
    at_s = serializers.FloatField()


class PointSerializer(serializers.Serializer[Any]):
    """A base row, and how many rows go with it."""

    relation = serializers.CharField()
    row = row_by_column()
    lost = serializers.IntegerField()
    hidden = serializers.BooleanField(help_text="the row is another visitor's")


class WeaknessSerializer(serializers.Serializer[Any]):
    """Single points of failure, most lost first."""

    view = serializers.CharField()
    points = PointSerializer(many=True)
    total = serializers.IntegerField(help_text="rows in question")
    complete = serializers.BooleanField(help_text="no other base row takes more than the last")
    epoch = serializers.IntegerField()
    at_s = serializers.FloatField()


class _Question(APIView):
    permission_classes = (AllowAny,)
    throttle_scope = "why"

    @staticmethod
    def asked(request: Request, fields: dict[str, Any]) -> Grant:
        """Returns the view in question, and whose rows the client may see of it."""
        owner = Owner.of(request)
        return grant(fields["view"], browser=owner.browser, user=request.user)


class QueryWhyNot(_Question):
    """Ask why a row is not in a view; whoever may follow such rows may ask."""

    @extend_schema(request=WhyNotAskSerializer, responses=answers(MissingSerializer, *PROBLEMS))
    def post(self, request: Request) -> Response:
        """Asks, and waits up to three seconds for the engine's answer."""
        fields = body_of(WhyNotAskSerializer, request)
        return Response(asdict(ask_why_not(self.asked(request, fields), fields["row"])))


class QueryWhatIf(_Question):
    """Ask how a view would change; whoever may follow it may ask. Nothing is changed."""

    @extend_schema(request=WhatIfAskSerializer, responses=answers(DifferenceSerializer, *PROBLEMS))
    def post(self, request: Request) -> Response:
        """Asks, and waits up to three seconds for the engine's answer."""
        fields = body_of(WhatIfAskSerializer, request)
        granted = self.asked(request, fields)
        return Response(asdict(ask_what_if(granted, fields["updates"], fields.get("row", {}))))


class QueryWeakPoints(_Question):
    """Ask which single base rows a view hangs on; whoever may follow it may ask."""

    @extend_schema(
        request=WeakPointsAskSerializer, responses=answers(WeaknessSerializer, *PROBLEMS)
    )
    def post(self, request: Request) -> Response:
        """Asks, and waits up to three seconds for the engine's answer."""
        fields = body_of(WeakPointsAskSerializer, request)
        granted = self.asked(request, fields)
        found = ask_weak_points(granted, fields.get("row", {}), fields.get("by", []))
        return Response(asdict(found))
