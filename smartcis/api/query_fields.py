"""Query fields: columns, orders and answers, as the API shows them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.db.models import Count
from drf_spectacular.utils import PolymorphicProxySerializer
from rest_framework import serializers

from aspen.model.schema import Row
from aspen.results.protocol import EpochSnapshot
from smartcis.access.owner import Owner
from smartcis.actions.submit_statement import StatementResult
from smartcis.api.bodies import body_type
from smartcis.api.fields import columns_body, row_in_order
from smartcis.api.problems import ErrorSerializer
from smartcis.deliveries.outputs import ALARM
from smartcis.models import Delivery, MaintainedQuery
from smartcis.questions.once import OnceAnswer

_OUTPUT = re.compile(r"\boutput(?:\s|/\*.*?\*/|--[^\n]*\n)+to\b", re.IGNORECASE | re.DOTALL)


class WarningSerializer(ErrorSerializer):
    """Why a text that can run is perhaps not meant as it stands."""

    rows = serializers.FloatField(help_text="that it would give, estimated")
    large = serializers.BooleanField(help_text="who runs it should be asked once more")


class ColumnSerializer(serializers.Serializer[Any]):
    """A column."""

    name = serializers.CharField()
    type = serializers.CharField()
    unit = serializers.CharField(allow_blank=True)


class OrderKeySerializer(serializers.Serializer[Any]):
    """One column of an order."""

    column = serializers.CharField()
    descending = serializers.BooleanField()
    nulls_last = serializers.BooleanField()


class OrderSerializer(serializers.Serializer[Any]):
    """How a query's rows are shown; the live view has no order, and perhaps further columns."""

    keys = OrderKeySerializer(many=True)
    width = serializers.IntegerField(help_text="columns from here on only serve the order")


class RowsSerializer(serializers.Serializer[Any]):
    """A view's rows as of an epoch."""

    columns = ColumnSerializer(many=True)
    epoch = serializers.IntegerField()
    position = serializers.IntegerField(help_text="in the log; the rows are those right before it")
    at_s = serializers.FloatField()
    complete_since_s = serializers.FloatField(
        allow_null=True,
        help_text="where windows reach back further than is remembered: since when nothing of "
        "what they should hold is missing; null where nothing is missing",
    )
    total = serializers.IntegerField()
    rows = serializers.ListField(child=row_in_order())


class AnswerSerializer(RowsSerializer):
    """What a query that is answered once found."""

    kind = serializers.ChoiceField(("answer",))


ANSWERED = PolymorphicProxySerializer(
    "Answered", {"answer": AnswerSerializer, "done": body_type(StatementResult, "Done")}, "kind"
)


class CallsSerializer(serializers.Serializer[Any]):
    """How many calls of a query's webhooks are in which state."""

    pending = serializers.IntegerField()
    delivered = serializers.IntegerField()
    given_up = serializers.IntegerField()


def order_body(order: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Returns a query's order as the API shows it."""
    if order is None:
        return None
    names = ("column", "descending", "nulls_last")
    keys = [dict(zip(names, key, strict=True)) for key in order["keys"]]
    return {"keys": keys, "width": order["width"]}


def width_of(query: MaintainedQuery | None) -> int | None:
    """Returns how many columns of its view a query shows, None for all."""
    return None if query is None or query.order is None else int(query.order["width"])


def outputs_body(query: MaintainedQuery, owner: Owner) -> list[str]:
    """Returns where a query's changes go besides; addresses to staff alone."""
    outlet = getattr(query, "outlet", None)
    if outlet is None:
        return []
    told = [
        (kind, target if owner.staff or kind == ALARM else "") for kind, target, _ in outlet.outputs
    ]
    return [" ".join(filter(None, one)) for one in told]


def text_body(query: MaintainedQuery, owner: Owner) -> str:
    """Returns a query's text; to others than staff without its outputs, which hold addresses."""
    if owner.staff or getattr(query, "outlet", None) is None:
        return query.sql
    return _OUTPUT.split(query.sql, maxsplit=1)[0].rstrip()


def calls_body(query: MaintainedQuery) -> dict[str, int] | None:
    """Returns what became of a query's calls; None where its changes go nowhere else."""
    outlet = getattr(query, "outlet", None)
    if outlet is None:
        return None
    found = outlet.deliveries.order_by().values("state").annotate(count=Count("pk"))
    return dict.fromkeys(Delivery.State.values, 0) | {one["state"]: one["count"] for one in found}


def answered_body(done: OnceAnswer | StatementResult) -> dict[str, Any]:
    """Returns what a statement did."""
    if isinstance(done, StatementResult):
        return asdict(done)
    return {"kind": "answer", **rows_body(done, done.columns, done.rows)}


def rows_body(
    found: OnceAnswer | EpochSnapshot,
    columns: Sequence[tuple[str, str, str]],
    rows: Sequence[Row],
    limit: int | None = None,
) -> dict[str, Any]:
    """Returns rows as the API shows them.

    Args:
        found: says as of when they are.
        limit: how many of them are given, None for all.
    """
    return {
        "columns": columns_body(columns),
        "epoch": found.epoch,
        "position": found.position,
        "at_s": found.at_s,
        "complete_since_s": found.complete_since_s,
        "total": len(rows),
        "rows": [list(row) for row in rows[:limit]],
    }
