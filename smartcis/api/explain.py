"""Explain a query: its way through the house, and every alternative the optimizer had."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from smartcis.actions.explain_query import Asked, explained_query
from smartcis.actions.owner import Owner
from smartcis.api.queries import SqlSerializer
from smartcis.api.schema import SEND, answers

WEIGHTS_LENGTH = 200


class ExplainSerializer(SqlSerializer):
    """A query, and how it is to be optimized where not as the house does it."""

    weights = serializers.CharField(
        max_length=WEIGHTS_LENGTH,
        default="",
        allow_blank=True,
        help_text="energy per mJ/s, bytes per B/s, latency per ms, cpu per ms/s: energy=1,bytes=0",
    )
    joins = serializers.IntegerField(
        min_value=0,
        allow_null=True,
        default=None,
        help_text="the most joins in one piece inside the network; 0 for no limit",
    )


class ExplainedSerializer(serializers.Serializer[Any]):
    """A query's way through the house."""

    text = serializers.CharField(help_text="all ten borders, to be read")
    explained = serializers.DictField(
        help_text="borders 1 to 6 as data: borders, plan, questions with alternatives and their "
        "costs, refused, cost, weights, pieces with StreamSQL and estimates, orders, remarks"
    )


class QueryExplain(APIView):
    """Explain a text: parse, plan, placement, cost, and where its view will live."""

    permission_classes = (AllowAny,)
    throttle_scope = "check"

    @extend_schema(
        request=ExplainSerializer, responses=answers(ExplainedSerializer, *SEND, 403, 429)
    )
    def post(self, request: Request) -> Response:
        """Explain a query."""
        wanted = ExplainSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        given = wanted.validated_data
        asked = Asked(given["weights"], given["joins"])
        told = explained_query(given["sql"], Owner.of(request), asked)
        return Response({"text": told.text, "explained": told.data})
