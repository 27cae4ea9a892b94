"""The socket's messages, described for programs."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from smartcis.api.schema import answers
from smartcis.live.asyncapi import asyncapi


class SocketDescription(APIView):
    """The protocol of `/ws/live/`."""

    permission_classes = (AllowAny,)

    @extend_schema(operation_id="getSocketDescription", responses=answers(OpenApiTypes.OBJECT, 406))
    def get(self, request: Request) -> Response:
        """Returns an AsyncAPI 3 document."""
        return Response(asyncapi(request.get_host(), secure=request.is_secure()))
