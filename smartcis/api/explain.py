"""Explain a query: its way through the house, and every alternative the optimizer had."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from federation.cost import TERMS, Weights
from smartcis.access.owner import Owner
from smartcis.actions.explain_query import ExplainOptions, explain_query
from smartcis.api.fields import body_of, texts
from smartcis.api.queries import SqlSerializer
from smartcis.api.schema import SEND, answers
from smartcis.compiling.statement import submitted

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


class CostSerializer(serializers.Serializer[Any]):
    """What something costs while it runs."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Returns a number for each term of a cost."""
        own = {term.field: serializers.FloatField(help_text=term.unit) for term in TERMS}
        return {**own, **super().get_fields()}


class WeightsSerializer(serializers.Serializer[Any]):
    """What a unit of each cost weighs."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Returns a number for each weight."""
        return {word: serializers.FloatField() for word in Weights.words()}


class PlanNodeSerializer(serializers.Serializer[Any]):
    """An operator of the plan, and where it runs."""

    depth = serializers.IntegerField()
    node = serializers.CharField()
    site = serializers.CharField()


class AlternativeSerializer(serializers.Serializer[Any]):
    """One way to run a part of the query."""

    parts = texts()
    cost = CostSerializer()
    weighed = serializers.FloatField(help_text="the cost as one number")
    chosen = serializers.BooleanField()
    verdict = serializers.CharField(help_text="chosen, or why it lost")


class RefusalSerializer(serializers.Serializer[Any]):
    """What was no alternative."""

    what = serializers.CharField()
    why = serializers.CharField()


class SearchWaySerializer(serializers.Serializer[Any]):
    """An AND node of the search."""

    text = serializers.CharField()
    cost = serializers.FloatField(allow_null=True, help_text="null: nothing comes from below")
    verdict = serializers.CharField()


class SearchNodeSerializer(serializers.Serializer[Any]):
    """An OR node of the search, and every way to it, the cheapest first."""

    expr = serializers.CharField()
    prop = serializers.CharField(allow_blank=True)
    cost = serializers.FloatField()
    ways = SearchWaySerializer(many=True)


class SearchGraphSerializer(serializers.Serializer[Any]):
    """What a search looked at."""

    cost = serializers.FloatField()
    and_nodes = serializers.IntegerField()
    or_nodes = serializers.IntegerField()
    nodes = SearchNodeSerializer(many=True)


class OptimizerQuestionSerializer(serializers.Serializer[Any]):
    """A choice the optimizer had."""

    about = serializers.CharField()
    alternatives = AlternativeSerializer(many=True, help_text="the cheapest first")
    refused = RefusalSerializer(many=True)
    graph = SearchGraphSerializer(allow_null=True)


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


class FragmentSerializer(serializers.Serializer[Any]):
    """A piece of the query that one site runs."""

    site = serializers.CharField()
    title = serializers.CharField()
    sql = serializers.CharField(help_text="as StreamSQL, or as plan text where it has no words")
    plan = serializers.CharField()
    estimate = EstimateSerializer(allow_null=True)
    measured = CostSerializer(allow_null=True)


class ExplainedSerializer(serializers.Serializer[Any]):
    """Borders 1 to 6 as data."""

    plan = PlanNodeSerializer(many=True)
    questions = OptimizerQuestionSerializer(many=True)
    refused = RefusalSerializer(many=True)
    cost = CostSerializer(allow_null=True)
    weights = WeightsSerializer()
    pieces = FragmentSerializer(many=True)
    orders = texts(help_text="what the motes are sent")
    remarks = serializers.DictField(child=serializers.CharField())


class ExplanationSerializer(serializers.Serializer[Any]):
    """A query's way through the house."""

    text = serializers.CharField(help_text="all ten borders, to be read")
    explained = ExplainedSerializer()


class QueryExplain(APIView):
    """Explain a text: parse, plan, placement, cost, and where its view will live."""

    permission_classes = (AllowAny,)
    throttle_scope = "check"

    @extend_schema(
        request=ExplainSerializer, responses=answers(ExplanationSerializer, *SEND, 403, 429)
    )
    def post(self, request: Request) -> Response:
        """Explains a query."""
        given = body_of(ExplainSerializer, request)
        options = ExplainOptions(given["weights"], given["joins"])
        explanation = explain_query(submitted(given["sql"]), Owner.of(request), options)
        return Response({"text": explanation.text, "explained": explanation.data})
