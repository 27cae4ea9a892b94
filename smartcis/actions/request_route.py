"""Ask the way: a demand row that the standing queries answer, until it is withdrawn."""

from __future__ import annotations

import redis
import structlog
from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from smartcis.access.owner import Owner
from smartcis.browser import group_of
from smartcis.errors import NotFound, QuotaReached, Refused, unknown
from smartcis.models import RouteRequest, RoutingNode, SoftwareInstall
from smartcis.models.turns import take_turn

logger = structlog.get_logger(__name__)


def request_route(node: int, software: str, *, step_free: bool, owner: Owner) -> RouteRequest:
    """Ask the way from a walking point to the nearest free machine with some software.

    Raises:
        Refused: there is no browser to tie the walk to.
        NotFound: no such walking point or software.
        QuotaReached: the browser has as many walks as one may have.
    """
    if not owner.browser:
        raise Refused("a route belongs to a browser session", attempt="keep the session cookie")
    check_place(node)
    check_software(software)
    with transaction.atomic():
        take_turn(f"routes of {owner.browser}")
        held = RouteRequest.objects.filter(browser=owner.browser).count()
        if held >= settings.ROUTE_QUOTA:
            raise QuotaReached(
                f"this browser has {held} walks",
                found=str(held),
                exists=[f"up to {settings.ROUTE_QUOTA}"],
                attempt="end one of them",
            )
        made = RouteRequest.objects.create(
            browser=owner.browser, node=node, software=software, step_free=step_free
        )
    announce(owner.browser)
    return made


def move_route(
    session: str,
    owner: Owner,
    *,
    node: int | None = None,
    software: str | None = None,
    step_free: bool | None = None,
) -> RouteRequest:
    """Change a walk in place: the visitor moved, or wants something else.

    Raises:
        NotFound: no such walk of this browser, walking point or software.
    """
    route = owned_route(session, owner)
    if node is not None:
        check_place(node)
        route.node = node
    if software is not None:
        check_software(software)
        route.software = software
    if step_free is not None:
        route.step_free = step_free
    route.last_seen = timezone.now()
    route.save()
    return route


def end_route(session: str, owner: Owner) -> None:
    """End a walk.

    Raises:
        NotFound: no such walk of this browser.
    """
    owned_route(session, owner).delete()


def owned_route(session: str, owner: Owner) -> RouteRequest:
    """Returns a walk of the owner's browser.

    Raises:
        NotFound: no such walk; other browsers' walks do not exist for this one.
    """
    route = RouteRequest.objects.filter(pk=session, browser=owner.browser).first()
    if route is None or not owner.browser:
        raise NotFound("there is no such route", found=session[:40], attempt="ask for a new one")
    return route


def check_place(node: int) -> None:
    """Refuse a walking point that does not exist."""
    if not RoutingNode.objects.filter(pk=node).exists():
        near = RoutingNode.objects.filter(pk__gte=node).order_by("pk")[:3]
        far = RoutingNode.objects.filter(pk__lt=node).order_by("-pk")[:3]
        raise NotFound(
            f"there is no walking point {node}",
            found=str(node),
            exists=sorted((str(one.pk) for one in (*near, *far)), key=int),
            attempt="take a unit's node from /api/v1/levels/{id}/plan/",
        )


def check_software(software: str) -> None:
    """Refuse software that no machine has."""
    if not SoftwareInstall.objects.filter(software=software).exists():
        names = SoftwareInstall.objects.order_by().values_list("software", flat=True).distinct()
        raise unknown("software", software, names)


def announce(browser: str) -> None:
    """Tell the browser's open sockets that they may see another walk's rows."""
    layer = get_channel_layer()
    if layer is None:
        return
    try:
        async_to_sync(layer.group_send)(group_of(browser), {"type": "routes.changed"})
    except (redis.RedisError, OSError) as error:
        # A page that asked also subscribes anew; this only saves it the round trip.
        logger.warning("routes not announced", reason=str(error))
