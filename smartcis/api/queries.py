"""Queries: submit StreamSQL, name it, end it; check without submitting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiParameter,
    PolymorphicProxySerializer,
    extend_schema,
    extend_schema_field,
)
from rest_framework import generics, serializers
from rest_framework.permissions import AllowAny
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aspen.errors import AspenError
from aspen.results.protocol import EpochSnapshot
from aspen.views.operators.support.strategies import AUTO, STRATEGIES
from smartcis import composition
from smartcis.access.owner import Owner
from smartcis.access.queries import no_query, own_queries, query_of
from smartcis.access.welcome import welcome
from smartcis.actions.change_query import change_query
from smartcis.actions.check_statement import check_statement
from smartcis.actions.register_query import NAME_LENGTH
from smartcis.actions.submit_statement import submit_statement
from smartcis.actions.unregister_query import unregister_query
from smartcis.actions.ways_to_run import Ways, ways_to_run
from smartcis.api.bodies import body_type
from smartcis.api.fields import Wanted, body_of, columns_body, texts
from smartcis.api.locate_rows import LOCATORS, located_by
from smartcis.api.problems import ErrorSerializer
from smartcis.api.query_export import CsvRenderer, Exporting, ExportTable, GeoJsonRenderer, exported
from smartcis.api.query_fields import (
    ANSWERED,
    CallsSerializer,
    ColumnSerializer,
    OrderSerializer,
    WarningSerializer,
    answered_body,
    calls_body,
    order_body,
    outputs_body,
    text_body,
    width_of,
)
from smartcis.api.schema import READ, SEND, answers, endpoint
from smartcis.compiling.query_title import title_of
from smartcis.compiling.reasons import sharing_of, strategy_reasons
from smartcis.compiling.statement import SQL_LENGTH, submitted
from smartcis.models import MaintainedQuery, MaintainedView
from smartcis.questions.once import OnceAnswer
from smartcis.sentences import in_words, translated

ENGINE, NETWORK = "engine", "network"
STATES = ("suspended", "running", "failed")


@extend_schema_field({"type": "string", "format": "streamsql", "maxLength": SQL_LENGTH})
class StreamSqlField(serializers.CharField):
    """A text of StreamSQL."""


class SqlSerializer(serializers.Serializer[Any]):
    """A query's text."""

    sql = StreamSqlField(max_length=SQL_LENGTH, trim_whitespace=False)


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
    title = serializers.CharField(help_text="its name, else what people call it: what it asks")
    author = serializers.CharField(
        allow_blank=True, help_text="the account that asks it, where it lets that be said"
    )
    show_author = serializers.BooleanField()
    example = serializers.BooleanField(help_text="all visitors share it, and it counts as nobody's")
    sql = serializers.CharField(help_text="to others than staff without its OUTPUT TO")
    view = serializers.CharField(help_text="the shared view that answers it")
    state = serializers.ChoiceField(STATES)
    strategy = serializers.CharField(help_text="how its recursion is maintained")
    strategy_reason = serializers.CharField(help_text="why, as a clause behind `because`")
    sharing = serializers.CharField(
        allow_blank=True, help_text="own, trunk or tenant: what its dataflow has in common"
    )
    sharing_reason = serializers.CharField(help_text="why, as a clause behind `because`")
    columns = ColumnSerializer(many=True)
    located_by = serializers.ChoiceField(
        LOCATORS,
        allow_null=True,
        help_text="what says where its rows are: `point` for level_id, x_m and y_m, or a column",
    )
    order = OrderSerializer(allow_null=True, help_text="of its rows, where the text gives one")
    outputs = texts(help_text="where else its changes go")
    where = serializers.ChoiceField(
        (ENGINE, NETWORK), help_text="where most of it runs: see its placement/"
    )
    calls = CallsSerializer(allow_null=True, help_text="of its webhooks")
    mine = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    error = ErrorSerializer(allow_null=True)


class QueryChangeSerializer(serializers.Serializer[Any]):
    """What may be changed of a query."""

    name = serializers.CharField(max_length=NAME_LENGTH, allow_blank=True, required=False)
    show_author = serializers.BooleanField(
        required=False, help_text="whether others read which account it is of"
    )


class ValidSerializer(serializers.Serializer[Any]):
    """A text that can be submitted."""

    ok = serializers.ChoiceField((True,))
    kind = serializers.CharField(help_text="query, once, or the statement: INSERT, DROP, …")
    columns = ColumnSerializer(many=True)
    ways = body_type(Ways)()
    warnings = WarningSerializer(many=True, help_text="what speaks against running it as it stands")


class InvalidSerializer(ErrorSerializer):
    """What is wrong with a text."""

    ok = serializers.ChoiceField((False,))


CHECKED = PolymorphicProxySerializer("Checked", [ValidSerializer, InvalidSerializer], None)


def query_body(
    query: MaintainedQuery,
    owner: Owner,
    snapshots: Mapping[str, EpochSnapshot],
    reasons: Mapping[str, str],
) -> dict[str, Any]:
    """Returns a query as the API shows it."""
    view = query.view
    snapshot = snapshots.get(view.name)
    error = view.error or (snapshot.error if snapshot is not None else None)
    state = "failed" if error else "suspended" if snapshot is None else "running"
    sharing, sharing_reason = sharing_of(view)
    columns = columns_body(view.columns[: width_of(query)])
    return {
        "id": query.id,
        "name": query.name or None,
        "title": title_of(query),
        "author": query.author,
        "show_author": query.show_author,
        "example": bool(query.example),
        "sql": text_body(query, owner),
        "view": view.name,
        "state": state,
        "strategy": view.strategy,
        "strategy_reason": translated(reasons[view.name]),
        "sharing": sharing,
        "sharing_reason": translated(sharing_reason),
        "columns": columns,
        "located_by": located_by([column["name"] for column in columns]),
        "order": order_body(query.order),
        "outputs": outputs_body(query, owner),
        "calls": calls_body(query),
        "where": NETWORK if runs_inside(view) else ENGINE,
        "mine": owner.owns(query.browser, query.user_id),
        "created_at": query.created_at.isoformat(),
        "error": None if error is None else in_words(error),
    }


def runs_inside(view: MaintainedView) -> bool:
    """Returns whether a piece of a view runs in the sensor network."""
    placement = getattr(view, "placement", None)
    return placement is not None and bool(placement.running) and placement.holds


def visible(query_id: str, owner: Owner) -> MaintainedQuery:
    """Returns a query that its reader may see.

    Raises:
        NotFound: there is none, or it is hidden.
    """
    query = query_of(query_id)
    if query.view.private and not owner.staff:
        raise no_query(query_id)
    return query


class QueryList(Exporting, generics.GenericAPIView[MaintainedQuery]):
    """Maintained queries; visitors may submit some where the house allows it."""

    queryset = MaintainedQuery.objects.none()
    serializer_class = QuerySerializer
    permission_classes = (AllowAny,)
    filter_backends = ()

    @property
    def throttle_scope(self) -> str:
        """What a request counts as."""
        return "queries" if self.request.method == "POST" else "requests"

    def get_renderers(self) -> list[BaseRenderer]:
        """Returns files of answers alone, not of the listing."""
        return super().get_renderers() if self.request.method == "POST" else [JSONRenderer()]

    @extend_schema(
        parameters=[OpenApiParameter("mine", bool, description="only one's own")],
        responses=answers(QuerySerializer(many=True), *READ),
    )
    def get(self, request: Request) -> Response:
        """Lists queries, newest first."""
        owner = Owner.of(request)
        mine = serializers.BooleanField().run_validation(request.query_params.get("mine", False))
        found = own_queries(owner) if mine else MaintainedQuery.objects.all()
        found = found.select_related("view__placement", "outlet", "user")
        if not owner.staff:
            found = found.filter(view__private=False)
        page = self.paginate_queryset(found) or []
        snapshots = composition.results().snapshots(sorted({q.view.name for q in page}))
        reasons = strategy_reasons({q.view.name: q.view for q in page}.values())
        return self.get_paginated_response([query_body(q, owner, snapshots, reasons) for q in page])

    @extend_schema(
        operation_id="submitStatement",
        request=QueryMakeSerializer,
        responses={
            **answers(QuerySerializer, *SEND, 403, 404, 409, 503, status=201),
            200: ANSWERED,
            (200, CsvRenderer.media_type): OpenApiTypes.STR,
            (200, GeoJsonRenderer.media_type): OpenApiTypes.OBJECT,
        },
    )
    def post(self, request: Request) -> HttpResponseBase:
        """Submits a statement.

        `SELECT …` and `CREATE VIEW …` are maintained until they are ended (201). `ONCE SELECT …` is
        answered over the rows of one log position. `CREATE TABLE | STREAM`, `DROP`, `INSERT`,
        `DELETE` and `UPDATE` change relations of the caller's own; they need an account.
        What is answered once may be a file: `Accept: text/csv`, `Accept: application/geo+json`.
        """
        fields = body_of(QueryMakeSerializer, request)
        welcome(request)
        owner = Owner.of(request)
        statement = submitted(fields["sql"])
        done = submit_statement(
            statement, owner, name=fields.get("name", ""), strategy=fields["strategy"]
        )
        if isinstance(done, OnceAnswer):
            table = ExportTable("answer", done.columns, done.rows, done.epoch, done.at_s)
            return exported(table, request) or Response(answered_body(done))
        self.plainly()
        if isinstance(done, MaintainedQuery):
            return Response(query_body(done, owner, {}, strategy_reasons([done.view])), 201)
        return Response(answered_body(done))


class QueryDetail(APIView):
    """One query."""

    permission_classes = (AllowAny,)

    @extend_schema(responses=answers(QuerySerializer, *READ, 405))  # an action's name is no id
    def get(self, request: Request, query_id: str) -> Response:
        """Returns a query."""
        owner = Owner.of(request)
        query = visible(query_id, owner)
        snapshots = composition.results().snapshots([query.view.name])
        return Response(query_body(query, owner, snapshots, strategy_reasons([query.view])))

    @endpoint(QuerySerializer, *SEND, 403, 404, takes=QueryChangeSerializer)
    def patch(self, request: Request, wanted: Wanted, query_id: str) -> Response:
        """Names a query of one's own, or its author."""
        change_query(query_id, wanted, Owner.of(request))
        return self.get(request, query_id)

    @endpoint(None, 403, 404, status=204)
    def delete(self, request: Request, query_id: str) -> None:
        """Ends a query."""
        unregister_query(query_id, Owner.of(request))


class QueryCheck(APIView):
    """Say what is wrong with a text, or which columns it gives, without submitting it."""

    permission_classes = (AllowAny,)
    throttle_scope = "check"

    @endpoint(CHECKED, *SEND, takes=SqlSerializer, operation_id="checkQuery")
    def post(self, request: Request, wanted: Wanted) -> Response:
        """Checks a query."""
        try:
            statement = submitted(wanted["sql"])
            kind, compiled, doubts = check_statement(statement, Owner.of(request))
        except AspenError as error:
            return Response({"ok": False, **in_words(error.as_dict())})
        ways = ways_to_run(statement)
        shown = () if compiled is None else compiled.relation.columns
        columns = columns_body((c.name, c.type.value, c.unit) for c in shown)
        warnings = [in_words(doubt.as_dict()) for doubt in doubts]
        found = {"kind": kind, "columns": columns, "ways": asdict(ways), "warnings": warnings}
        return Response({"ok": True, **found})
