"""A query's rows: as JSON, or as a file of CSV or GeoJSON."""

from __future__ import annotations

from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from smartcis.access.grants import grant
from smartcis.access.owner import Owner
from smartcis.actions.look_at_rows import look_at_rows
from smartcis.api.query_export import (
    EXPORTS,
    CsvRenderer,
    Exporting,
    ExportTable,
    GeoJsonRenderer,
    exported,
)
from smartcis.api.query_fields import RowsSerializer, rows_body, width_of
from smartcis.api.schema import READ, answers
from smartcis.compiling.row_order import in_order
from smartcis.live.views import restricted
from smartcis.models import MaintainedQuery
from smartcis.policies import OWNER_COLUMN

ROWS = 1_000
ROWS_AT_MOST = 10_000


@extend_schema(
    parameters=[
        OpenApiParameter(
            "limit",
            {"type": "integer", "minimum": 0, "maximum": ROWS_AT_MOST},
            description=f"rows given; JSON gives {ROWS} without it, a file all",
        ),
    ]
)
class QueryRows(Exporting):
    """A query's rows; also a standing view's, by its name."""

    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="getQueryRows",
        responses={
            **answers(RowsSerializer, 400, 403, *READ),
            (200, "application/json"): RowsSerializer,
            (200, CsvRenderer.media_type): OpenApiTypes.STR,
            (200, GeoJsonRenderer.media_type): OpenApiTypes.OBJECT,
        },
    )
    def get(self, request: Request, query_id: str) -> HttpResponseBase:
        """Returns the newest snapshot."""
        asked_for = request.query_params.get("limit")
        limit = None
        if asked_for is not None:
            allowed = serializers.IntegerField(min_value=0, max_value=ROWS_AT_MOST)
            limit = allowed.run_validation(asked_for)
        owner = Owner.of(request)
        granted = grant(query_id, browser=owner.browser, user=request.user)
        snapshot = look_at_rows(granted, query_id)
        names = [name for name, _, _ in snapshot.columns]
        owner_index = names.index(OWNER_COLUMN) if OWNER_COLUMN in names else None
        asked = MaintainedQuery.objects.filter(pk=query_id).first()
        seen = restricted(dict(snapshot.rows), owner_index, granted.allowed)
        rows = in_order(seen, snapshot.columns, None if asked is None else asked.order)
        columns = snapshot.columns[: width_of(asked)]
        name = query_id if asked is None else asked.name or asked.id
        plain = not isinstance(request.accepted_renderer, EXPORTS)
        given = ROWS if limit is None and plain else limit
        table = ExportTable(name, columns, rows[:given], snapshot.epoch, snapshot.at_s)
        return exported(table, request) or Response(
            rows_body(snapshot, columns, rows, len(table.rows))
        )
