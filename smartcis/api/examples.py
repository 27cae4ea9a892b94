"""Examples: queries to begin with."""

from __future__ import annotations

from dataclasses import asdict

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from smartcis.api.bodies import body_type
from smartcis.api.schema import answers
from smartcis.examples import EXAMPLES, Example


class QueryExamples(APIView):
    """Queries that run as they stand."""

    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="listQueryExamples",
        responses=answers(body_type(Example)(many=True), 406),
    )
    def get(self, _request: Request) -> Response:
        """Lists examples; what visitors run of them counts as nobody's."""
        return Response([asdict(one) | {"title": _(one.title)} for one in EXAMPLES])
