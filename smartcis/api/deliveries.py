"""Deliveries: what became of a query's calls to other people's servers."""

from __future__ import annotations

from typing import Any

from django.db.models import Case, When
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from smartcis.access.owner import Owner
from smartcis.actions.retry_deliveries import retry_deliveries
from smartcis.api.fields import Wanted, row_in_order
from smartcis.api.schema import EDIT, READ, answers, endpoint
from smartcis.deliveries.outputs import EMAIL, WEBHOOK, outlet_of
from smartcis.models import Delivery

SETTLED_LAST = Case(When(state=Delivery.State.DELIVERED, then=1), default=0)


class DeliverySerializer(serializers.Serializer[Any]):
    """One call or e-mail: a row that came or went, or a step of an alarm."""

    key = serializers.CharField(help_text="idempotency key, the same at each attempt")
    kind = serializers.ChoiceField([WEBHOOK, EMAIL])
    target = serializers.CharField()
    step = serializers.CharField(
        source="alarm.step", default=None, allow_null=True, help_text="of an alarm; null for a row"
    )
    epoch = serializers.IntegerField()
    row = row_in_order()
    weight = serializers.IntegerField(help_text="above 0: it came so often; below: it went")
    state = serializers.ChoiceField(Delivery.State.values)
    attempts = serializers.IntegerField()
    due_at = serializers.DateTimeField(allow_null=True)
    settled_at = serializers.DateTimeField(allow_null=True)
    fault = serializers.CharField(allow_blank=True, help_text="of the last attempt")


class RetrySerializer(serializers.Serializer[Any]):
    """Which calls to make once more."""

    key = serializers.CharField(
        max_length=120, required=False, help_text="of one call; all that were given up without it"
    )


class RetriedSerializer(serializers.Serializer[Any]):
    """How many calls will be made again."""

    retried = serializers.IntegerField()


class Deliveries(generics.GenericAPIView[Delivery]):
    """The calls of one query, those not made yet or given up first."""

    queryset = Delivery.objects.none()
    serializer_class = DeliverySerializer
    permission_classes = (AllowAny,)
    filter_backends = ()

    @extend_schema(
        responses=answers(DeliverySerializer(many=True), 403, *READ),
    )
    def get(self, request: Request, query_id: str) -> Response:
        """Lists calls; only the query's owner and staff may see where they go."""
        outlet = outlet_of(query_id, Owner.of(request))
        found = outlet.deliveries.order_by(SETTLED_LAST, "-pk")
        page = self.paginate_queryset(found) or []
        return self.get_paginated_response(DeliverySerializer(page, many=True).data)

    @endpoint(RetriedSerializer, *EDIT, takes=RetrySerializer, operation_id="retryDeliveries")
    def post(self, request: Request, wanted: Wanted, query_id: str) -> dict[str, int]:
        """Makes the calls that were given up once more."""
        return {"retried": retry_deliveries(query_id, Owner.of(request), wanted.get("key"))}
