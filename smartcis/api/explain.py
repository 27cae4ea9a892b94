"""Explain a query: its way through the house, and every alternative the optimizer had."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from federation.cost import TERMS, Weights
from federation.explained import Explained, ExplainedPiece, Question, Told
from federation.search.graph import OrNode, Way
from smartcis.access.owner import Owner
from smartcis.actions.explain_query import explain_query
from smartcis.api.bodies import body_type
from smartcis.api.fields import Wanted
from smartcis.api.queries import SqlSerializer
from smartcis.api.query_fields import WarningSerializer
from smartcis.api.schema import SEND, endpoint
from smartcis.compiling.statement import submitted
from smartcis.sentences import in_words, translated

WEIGHTS_LENGTH = 200
SENTENCES = {"about", "orders", "parts", "remarks", "text", "title", "verdict", "what", "why"}
"""Fields of an explanation that are sentences; others are plans, names and figures."""


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


class CostSerializer(serializers.Serializer[Any]):
    """What something costs while it runs."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Returns a number for each term of a cost."""
        own = {term.field: serializers.FloatField(help_text=term.unit) for term in TERMS}
        return {**own, **super().get_fields()}


class KeptShareSerializer(serializers.Serializer[Any]):
    """Which share of an input's rows passes its conditions."""

    share = serializers.FloatField()
    origin = serializers.CharField(help_text="how this is known")


class OperatorEstimateSerializer(serializers.Serializer[Any]):
    """What one operator in the network does per epoch."""

    name = serializers.CharField()
    rows = serializers.FloatField()
    bytes = serializers.FloatField()
    energy_mj = serializers.FloatField()


class EstimateSerializer(serializers.Serializer[Any]):
    """What a piece is expected to cost in the network."""

    cost = CostSerializer()
    network = serializers.ChoiceField(("measured", "guessed"))
    keeps = KeptShareSerializer(many=True)
    operators = OperatorEstimateSerializer(many=True)


body_type(Weights)
body_type(Way, "SearchWay")
body_type(OrNode, "SearchNode")
body_type(Told, "Alternative", cost=CostSerializer)
body_type(Question, "OptimizerQuestion")
body_type(ExplainedPiece, "Fragment", estimate=EstimateSerializer, measured=CostSerializer)


class ExplanationSerializer(serializers.Serializer[Any]):
    """A query's way through the house."""

    text = serializers.CharField(help_text="all ten borders, to be read")
    warnings = WarningSerializer(many=True, help_text="what speaks against running it as it stands")
    explained = body_type(Explained, cost=CostSerializer)()


class QueryExplain(APIView):
    """Explain a text: parse, plan, placement, cost, and where its view will live."""

    permission_classes = (AllowAny,)
    throttle_scope = "check"

    @endpoint(
        ExplanationSerializer,
        *SEND,
        403,
        takes=ExplainSerializer,
        operation_id="explainQuery",
    )
    def post(self, request: Request, given: Wanted) -> Response:
        """Explains a query."""
        statement = submitted(given.pop("sql"))
        explanation = explain_query(statement, Owner.of(request), **given)
        warnings = [in_words(one) for one in explanation.warnings]
        found = {"text": explanation.text, "warnings": warnings}
        return Response({**found, "explained": _told(explanation.data)})


def _told(value: Any, key: str = "") -> Any:
    """Returns an explanation with what it says of its choices in the language that is active."""
    if isinstance(value, Mapping):
        return {name: _told(one, key if key in SENTENCES else name) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_told(one, key) for one in value]
    return translated(value.strip()) if key in SENTENCES and isinstance(value, str) else value
