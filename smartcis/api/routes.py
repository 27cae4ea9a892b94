"""Routes: ask the way, move, and stop asking."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.viewsets import ViewSet

from smartcis.access.owner import Owner
from smartcis.access.welcome import welcome
from smartcis.actions.end_route import end_route
from smartcis.actions.move_route import move_route
from smartcis.actions.request_route import request_route
from smartcis.actions.support.routes import owned_route
from smartcis.api.fields import NODE_HIGHEST, Wanted
from smartcis.api.schema import READ, SEND, endpoint
from smartcis.models import RouteRequest

GOAL = "free-machine:<software>, machine:<mid>, room:<rid>, or the slug of /api/v1/destinations/"


class RouteMakeSerializer(serializers.Serializer[Any]):
    """Where from, and what for."""

    node = serializers.IntegerField(min_value=0, max_value=NODE_HIGHEST)
    goal = serializers.CharField(max_length=140, help_text=GOAL)
    step_free = serializers.BooleanField(default=False)


class RouteChangeSerializer(serializers.Serializer[Any]):
    """What has changed."""

    node = serializers.IntegerField(min_value=0, max_value=NODE_HIGHEST, required=False)
    goal = serializers.CharField(max_length=140, required=False, help_text=GOAL)
    step_free = serializers.BooleanField(required=False)


class RouteSerializer(serializers.ModelSerializer[RouteRequest]):
    """A standing request; nearest_destination and route_step answer it, or no_route."""

    class Meta:
        model = RouteRequest
        fields = ("session", "node", "goal", "step_free")
        read_only_fields = fields


class Routes(ViewSet):
    """The walks of this browser."""

    permission_classes = (AllowAny,)
    throttle_scope = "routes"
    pagination_class = None
    lookup_field = "session"

    @endpoint(RouteSerializer(many=True), 406)
    def list(self, request: Request) -> QuerySet[RouteRequest]:
        """Lists this browser's walks."""
        owner = Owner.of(request)
        found = RouteRequest.objects.filter(browser=owner.browser).exclude(browser="")
        return found.order_by("created_at")

    @endpoint(RouteSerializer, *SEND, 404, 409, takes=RouteMakeSerializer, status=201)
    def create(self, request: Request, wanted: Wanted) -> RouteRequest:
        """Asks the way; the answer keeps itself up to date on the socket."""
        welcome(request)
        return request_route(**wanted, owner=Owner.of(request))

    @endpoint(RouteSerializer, *READ)
    def retrieve(self, request: Request, session: str) -> RouteRequest:
        """Returns the walk."""
        return owned_route(session, Owner.of(request))

    @endpoint(RouteSerializer, *SEND, 404, takes=RouteMakeSerializer)
    def update(self, request: Request, wanted: Wanted, session: str) -> RouteRequest:
        """Replaces the walk's question."""
        return move_route(session, Owner.of(request), **wanted)

    @endpoint(RouteSerializer, *SEND, 404, takes=RouteChangeSerializer)
    def partial_update(self, request: Request, wanted: Wanted, session: str) -> RouteRequest:
        """Changes the walk: the visitor moved, or wants something else."""
        return move_route(session, Owner.of(request), **wanted)

    @endpoint(None, 404, status=204)
    def destroy(self, request: Request, session: str) -> None:
        """Ends the walk."""
        end_route(session, Owner.of(request))
