"""Throttles: DRF asks here before a view acts; a refusal is a problem like any other."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from smartcis.access.limits import spend
from smartcis.access.owner import Owner


class Rates(BaseThrottle):
    """Counts each request under its view's `throttle_scope`."""

    def allow_request(self, request: Request, view: object) -> bool:
        """Counts a request.

        Raises:
            LimitReached: that is one too many.
        """
        spend(getattr(view, "throttle_scope", "requests"), Owner.of(request))
        return True
