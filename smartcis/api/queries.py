"""Queries: submit StreamSQL, read its rows, end it; check without submitting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aspen.errors import AspenError
from aspen.results.protocol import Snapshot
from aspen.views.operators.support.strategies import AUTO, STRATEGIES
from smartcis import composition
from smartcis.actions.errors import NotFound
from smartcis.actions.look_at_rows import look_at_rows
from smartcis.actions.owner import Owner
from smartcis.actions.register_query import (
    NAME_LENGTH,
    SQL_LENGTH,
)
from smartcis.actions.row_order import in_order
from smartcis.actions.strategy_reason import strategy_reasons
from smartcis.actions.submit_statement import check_statement, submit_statement
from smartcis.actions.unregister_query import unregister_query
from smartcis.api.problems import ProblemSerializer
from smartcis.api.query_fields import (
    AnsweredSerializer,
    CallsSerializer,
    ColumnSerializer,
    OrderSerializer,
    answered_body,
    calls_body,
    order_body,
    outputs_body,
    width_of,
)
from smartcis.api.schema import READ, SEND, answers
from smartcis.browser import ensure_browser
from smartcis.catalog import TENANT_COLUMN
from smartcis.live.access import grant
from smartcis.live.views import restricted
from smartcis.models import MaintainedQuery, MaintainedView

ROWS = 1_000
ROWS_AT_MOST = 10_000
ENGINE, NETWORK = "engine", "network"
STATES = ("resting", "running", "failed")


class SqlSerializer(serializers.Serializer[Any]):
    """A query's text."""

    sql = serializers.CharField(max_length=SQL_LENGTH, trim_whitespace=False)


class QueryMakeSerializer(SqlSerializer):
    """A query to maintain."""

    name = serializers.CharField(max_length=NAME_LENGTH, required=False, allow_blank=True)
    strategy = serializers.CharField(
        max_length=80,
        default=AUTO,
        help_text=f"how a recursion is maintained: {', '.join([AUTO, *STRATEGIES])}",
    )


class QuerySerializer(serializers.Serializer[Any]):
    """A maintained query."""

    id = serializers.CharField()
    name = serializers.CharField(allow_null=True)
    sql = serializers.CharField()
    view = serializers.CharField(help_text="the shared view that answers it")
    state = serializers.ChoiceField(STATES)
    strategy = serializers.CharField(help_text="how its recursion is maintained")
    strategy_reason = serializers.CharField(help_text="why, as a clause behind `because`")
    columns = ColumnSerializer(many=True)
    order = OrderSerializer(allow_null=True, help_text="of its rows, where the text gives one")
    outputs = serializers.ListField(
        child=serializers.CharField(), help_text="where else its changes go"
    )
    where = serializers.ChoiceField(
        (ENGINE, NETWORK), help_text="where most of it runs: see its placement/"
    )
    calls = CallsSerializer(allow_null=True, help_text="of its webhooks")
    mine = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    error = ProblemSerializer(allow_null=True, required=False)


class RowsSerializer(serializers.Serializer[Any]):
    """A view's rows as of an epoch."""

    columns = ColumnSerializer(many=True)
    epoch = serializers.IntegerField()
    position = serializers.IntegerField()
    at_s = serializers.FloatField()
    total = serializers.IntegerField()
    rows = serializers.ListField(child=serializers.ListField(child=serializers.JSONField()))


class CheckedSerializer(serializers.Serializer[Any]):
    """Either `ok` with columns and plan, or not with the fields of the error."""

    ok = serializers.BooleanField()
    columns = ColumnSerializer(many=True, required=False)
    kind = serializers.CharField(
        required=False, help_text="query, once, or the statement: INSERT, DROP and the like"
    )
    code = serializers.CharField(required=False)
    message = serializers.CharField(required=False)


def query_body(
    query: MaintainedQuery,
    owner: Owner,
    snapshots: Mapping[str, Snapshot],
    reasons: Mapping[str, str],
) -> dict[str, Any]:
    """Give a query as the API shows it.

    Args:
        reasons: of the views' strategies.
    """
    view = query.view
    snapshot = snapshots.get(view.name)
    error = view.error or (snapshot.error if snapshot is not None else None)
    state = "failed" if error else "resting" if snapshot is None else "running"
    return {
        "id": query.id,
        "name": query.name or None,
        "sql": query.sql,
        "view": view.name,
        "state": state,
        "strategy": view.strategy,
        "strategy_reason": reasons[view.name],
        "columns": columns_body(view)[: width_of(query)],
        "order": order_body(query.order),
        "outputs": outputs_body(query),
        "calls": calls_body(query),
        "where": NETWORK if runs_inside(view) else ENGINE,
        "mine": owner.owns(query.browser, query.user_id),
        "created_at": query.created_at.isoformat(),
        "error": error,
    }


def runs_inside(view: MaintainedView) -> bool:
    """Say whether a piece of a view runs in the sensor network."""
    placement = getattr(view, "placement", None)
    return placement is not None and bool(placement.running) and placement.holds


def columns_body(view: MaintainedView) -> list[dict[str, str]]:
    """Give a view's columns as the API shows them."""
    return [{"name": name, "type": kind, "unit": unit} for name, kind, unit, _ in view.columns]


def visible(query_id: str, owner: Owner) -> MaintainedQuery:
    """Give a query that its reader may see.

    Raises:
        NotFound: there is none, or it is hidden.
    """
    query = (
        MaintainedQuery.objects.select_related("view__placement", "outlet")
        .filter(pk=query_id)
        .first()
    )
    hidden = query is not None and query.view.private and not owner.staff
    if query is None or hidden:
        raise NotFound(f"there is no query {query_id[:40]!r}", found=query_id[:40])
    return query


class Queries(generics.GenericAPIView[MaintainedQuery]):
    """Maintained queries; visitors may submit some where the house allows it."""

    queryset = MaintainedQuery.objects.none()
    serializer_class = QuerySerializer
    permission_classes = (AllowAny,)
    filter_backends = ()
    throttle_scope = "queries"

    @extend_schema(
        operation_id="v1_queries_list", responses=answers(QuerySerializer(many=True), *READ)
    )
    def get(self, request: Request) -> Response:
        """List queries, newest first."""
        owner = Owner.of(request)
        found = MaintainedQuery.objects.select_related("view__placement", "outlet")
        if not owner.staff:
            found = found.filter(view__private=False)
        page = self.paginate_queryset(found) or []
        snapshots = composition.results().snapshots(sorted({q.view.name for q in page}))
        reasons = strategy_reasons({q.view.name: q.view for q in page}.values())
        return self.get_paginated_response([query_body(q, owner, snapshots, reasons) for q in page])

    @extend_schema(
        request=QueryMakeSerializer,
        responses={
            **answers(QuerySerializer, *SEND, 403, 404, 409, 429, 503, status=201),
            200: AnsweredSerializer,
        },
    )
    def post(self, request: Request) -> Response:
        """Submit a statement.

        `SELECT …` and `CREATE VIEW …` are maintained until they are ended (201). `ONCE SELECT …` is
        answered over the rows of one log position. `CREATE TABLE | STREAM`, `DROP`, `INSERT`,
        `DELETE` and `UPDATE` change relations of the caller's own; they need an account.
        """
        wanted = QueryMakeSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        ensure_browser(request)
        owner = Owner.of(request)
        fields = wanted.validated_data
        done = submit_statement(
            fields["sql"], owner, name=fields.get("name", ""), strategy=fields["strategy"]
        )
        if isinstance(done, MaintainedQuery):
            return Response(query_body(done, owner, {}, strategy_reasons([done.view])), 201)
        return Response(answered_body(done))


class QueryDetail(APIView):
    """One query."""

    permission_classes = (AllowAny,)

    @extend_schema(responses=answers(QuerySerializer, *READ))
    def get(self, request: Request, query_id: str) -> Response:
        """Give a query."""
        owner = Owner.of(request)
        query = visible(query_id, owner)
        snapshots = composition.results().snapshots([query.view.name])
        return Response(query_body(query, owner, snapshots, strategy_reasons([query.view])))

    @extend_schema(responses=answers(None, 403, 404, status=204))
    def delete(self, request: Request, query_id: str) -> Response:
        """End a query."""
        unregister_query(query_id, Owner.of(request))
        return Response(status=204)


@extend_schema(
    parameters=[
        OpenApiParameter("limit", int, description=f"rows given, up to {ROWS_AT_MOST}"),
    ]
)
class QueryRows(APIView):
    """A query's rows; also a standing view's, by its name."""

    permission_classes = (AllowAny,)

    @extend_schema(responses=answers(RowsSerializer, 400, 403, *READ))
    def get(self, request: Request, query_id: str) -> Response:
        """Give the newest snapshot."""
        limit = serializers.IntegerField(min_value=0, max_value=ROWS_AT_MOST).run_validation(
            request.query_params.get("limit", ROWS)
        )
        owner = Owner.of(request)
        granted = grant(query_id, browser=owner.browser, user=request.user)
        snapshot = look_at_rows(granted, query_id)
        names = [name for name, _, _ in snapshot.columns]
        place = names.index(TENANT_COLUMN) if TENANT_COLUMN in names else None
        asked = MaintainedQuery.objects.filter(pk=query_id).first()
        seen = restricted(dict(snapshot.rows), place, granted.allowed)
        order = None if asked is None else asked.order
        rows = [list(row) for row in in_order(seen, snapshot.columns, order)]
        return Response(
            {
                "columns": [
                    {"name": name, "type": kind, "unit": unit}
                    for name, kind, unit in snapshot.columns[: width_of(asked)]
                ],
                "epoch": snapshot.epoch,
                "position": snapshot.position,
                "at_s": snapshot.at_s,
                "total": len(rows),
                "rows": rows[:limit],
            }
        )


class QueryCheck(APIView):
    """Say what is wrong with a text, or which columns it gives, without submitting it."""

    permission_classes = (AllowAny,)
    throttle_scope = "check"

    @extend_schema(request=SqlSerializer, responses=answers(CheckedSerializer, *SEND, 429))
    def post(self, request: Request) -> Response:
        """Check a query."""
        wanted = SqlSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        sql = wanted.validated_data["sql"]
        try:
            kind, compiled = check_statement(sql, Owner.of(request))
        except AspenError as error:
            return Response({"ok": False, **error.as_dict()})
        columns = [
            {"name": c.name, "type": c.type.value, "unit": c.unit}
            for c in (() if compiled is None else compiled.relation.columns)
        ]
        return Response({"ok": True, "kind": kind, "columns": columns})
