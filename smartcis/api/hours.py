"""Hours: what a sensor measured in the last hour, a reading of each minute."""

from __future__ import annotations

from dataclasses import asdict

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from smartcis.access.owner import Owner
from smartcis.actions.ask_hour import Hour, Sample, ask_hour
from smartcis.api.bodies import body_type
from smartcis.api.schema import READ, answers

body_type(Sample)


class SensorHour(APIView):
    """A sensor's last hour, as the engine keeps it."""

    throttle_scope = "why"

    @extend_schema(
        operation_id="getSensorHour", responses=answers(body_type(Hour), *READ, 409, 503)
    )
    def get(self, request: Request, sid: str) -> Response:
        """Asks, and waits up to five seconds for the engine's answer."""
        return Response(asdict(ask_hour(sid, Owner.of(request))))
