"""Sweep walks whose browser has gone."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from smartcis.models import RouteRequest


def sweep_routes() -> int:
    """Ends every walk not seen for `ROUTE_IDLE_S`; an open socket counts as being seen.

    Returns:
        How many were ended.
    """
    limit = timezone.now() - timedelta(seconds=settings.ROUTE_IDLE_S)
    ended, _ = RouteRequest.objects.filter(last_seen__lt=limit).delete()
    return ended
