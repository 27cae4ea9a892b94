"""Limits: how much one may ask of the queries' part, and how much of it is used."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aspen.runtime.one_time_queries import ROWS_AT_MOST as ONCE_ROWS_AT_MOST
from smartcis.access.limits import PER_S, bounds, left
from smartcis.access.owner import Owner
from smartcis.access.queries import may_query, own_queries, quota_of
from smartcis.api.query_rows import ROWS_AT_MOST
from smartcis.api.schema import answers
from smartcis.compiling.statement import SQL_LENGTH

SCOPES = ("queries", "check")


class RateSerializer(serializers.Serializer[Any]):
    """How often one may send something."""

    scope = serializers.ChoiceField(SCOPES)
    at_most = serializers.IntegerField()
    per_s = serializers.IntegerField(help_text="of this many seconds")
    left = serializers.IntegerField(help_text="now")


class LimitsSerializer(serializers.Serializer[Any]):
    """What holds for the one who asks."""

    may_query = serializers.BooleanField()
    has_account = serializers.BooleanField(help_text="its name can stand on the page of a query")
    queries = serializers.IntegerField(help_text="maintained for them now")
    queries_at_most = serializers.IntegerField(allow_null=True, help_text="null: any number")
    rows_at_most = serializers.IntegerField(help_text="in one JSON answer; files have no limit")
    once_rows_at_most = serializers.IntegerField(help_text="of an answer given once")
    text_at_most = serializers.IntegerField(help_text="characters of a query")
    once_wait_s = serializers.FloatField(help_text="the engine's time to answer ONCE")
    rates = RateSerializer(many=True, help_text="without those that have no limit")


class QueryLimits(APIView):
    """The limits of asking."""

    @extend_schema(operation_id="getQueryLimits", responses=answers(LimitsSerializer, 406))
    def get(self, request: Request) -> Response:
        """Returns the limits, and what is used of them."""
        owner = Owner.of(request)
        return Response(
            {
                "may_query": may_query(owner),
                "has_account": owner.user_id is not None,
                "queries": own_queries(owner).count(),
                "queries_at_most": quota_of(owner),
                "rows_at_most": ROWS_AT_MOST,
                "once_rows_at_most": ONCE_ROWS_AT_MOST,
                "text_at_most": SQL_LENGTH,
                "once_wait_s": settings.ANSWER_S,
                "rates": _rates(owner),
            }
        )


def _rates(owner: Owner) -> list[dict[str, Any]]:
    """Returns what somebody may do of each kind in a minute, and how much of that is left."""
    found = []
    for scope in SCOPES:
        limits = bounds(settings.RATES[scope], owner)
        if limits:
            at_most = min(bound.at_most for bound in limits)
            rest = left(scope, limits)
            found.append({"scope": scope, "at_most": at_most, "per_s": int(PER_S), "left": rest})
    return found
