"""Metrics over HTTP: `/metrics`, for staff, for a token of that scope, or for a listed address."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from prometheus_client import CONTENT_TYPE_LATEST
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from smartcis.access.grants import is_staff
from smartcis.address import is_at
from smartcis.api.permissions import is_program
from smartcis.models import AccessToken
from smartcis.services.metrics import metrics_text


class MayMeasure(BasePermission):
    """Staff, a token, or whoever asks from an address of SMARTCIS_METRICS."""

    message = "metrics are for staff, for tokens of that scope, and for listed addresses"

    def has_permission(self, request: Request, view: Any) -> bool:  # noqa: ARG002  # DRF's signature
        """Returns whether the request may go on."""
        if is_program(request) or is_staff(request.user):
            return True
        return is_at(request, settings.METRICS)


@extend_schema(exclude=True)
class Metrics(APIView):
    """How the product works, in figures."""

    permission_classes = (MayMeasure,)
    token_scopes = (AccessToken.Scope.METRICS,)

    def get(self, _request: Request) -> HttpResponse:
        """Returns the metrics."""
        return HttpResponse(metrics_text(), content_type=CONTENT_TYPE_LATEST)
