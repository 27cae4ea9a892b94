"""Routes: ask the way, move, and stop asking."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from smartcis.access.owner import Owner
from smartcis.actions.end_route import end_route
from smartcis.actions.move_route import move_route
from smartcis.actions.request_route import request_route
from smartcis.actions.support.routes import owned_route
from smartcis.api.fields import body_of
from smartcis.api.schema import READ, SEND, answers
from smartcis.browser import ensure_browser
from smartcis.models import RouteRequest

NODE_HIGHEST = 2**53 - 1


class RouteMakeSerializer(serializers.Serializer[Any]):
    """Where from, and what for."""

    node = serializers.IntegerField(min_value=0, max_value=NODE_HIGHEST)
    software = serializers.CharField(max_length=120)
    step_free = serializers.BooleanField(default=False)


class RouteChangeSerializer(serializers.Serializer[Any]):
    """What has changed."""

    node = serializers.IntegerField(min_value=0, max_value=NODE_HIGHEST, required=False)
    software = serializers.CharField(max_length=120, required=False)
    step_free = serializers.BooleanField(required=False)


class RouteSerializer(serializers.ModelSerializer[RouteRequest]):
    """A standing request; its answers are the rows of nearest_machine and route_step."""

    class Meta:
        model = RouteRequest
        fields = ("session", "node", "software", "step_free")
        read_only_fields = fields


class Routes(ViewSet):
    """The walks of this browser."""

    permission_classes = (AllowAny,)
    throttle_scope = "routes"
    pagination_class = None
    lookup_field = "session"

    @extend_schema(responses=answers(RouteSerializer(many=True), 406))
    def list(self, request: Request) -> Response:
        """Lists this browser's walks."""
        owner = Owner.of(request)
        found = RouteRequest.objects.filter(browser=owner.browser).exclude(browser="")
        return Response(RouteSerializer(found.order_by("created_at"), many=True).data)

    @extend_schema(
        request=RouteMakeSerializer,
        responses=answers(RouteSerializer, *SEND, 404, 409, 429, status=201),
    )
    def create(self, request: Request) -> Response:
        """Asks the way; the answer keeps itself up to date on the socket."""
        fields = body_of(RouteMakeSerializer, request)
        ensure_browser(request)
        made = request_route(
            fields["node"],
            fields["software"],
            step_free=fields["step_free"],
            owner=Owner.of(request),
        )
        return Response(RouteSerializer(made).data, 201)

    @extend_schema(responses=answers(RouteSerializer, 429, *READ))
    def retrieve(self, request: Request, session: str) -> Response:
        """Returns the walk."""
        return Response(RouteSerializer(owned_route(session, Owner.of(request))).data)

    @extend_schema(request=RouteMakeSerializer, responses=answers(RouteSerializer, *SEND, 404, 429))
    def update(self, request: Request, session: str) -> Response:
        """Replaces the walk's question."""
        wanted = body_of(RouteMakeSerializer, request)
        route = move_route(session, Owner.of(request), **wanted)
        return Response(RouteSerializer(route).data)

    @extend_schema(
        request=RouteChangeSerializer, responses=answers(RouteSerializer, *SEND, 404, 429)
    )
    def partial_update(self, request: Request, session: str) -> Response:
        """Changes the walk: the visitor moved, or wants something else."""
        wanted = body_of(RouteChangeSerializer, request)
        route = move_route(session, Owner.of(request), **wanted)
        return Response(RouteSerializer(route).data)

    @extend_schema(responses=answers(None, 404, 429, status=204))
    def destroy(self, request: Request, session: str) -> Response:
        """Ends the walk."""
        end_route(session, Owner.of(request))
        return Response(status=204)
