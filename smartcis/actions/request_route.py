"""Ask the way: a demand row that the standing queries answer, until it is withdrawn."""

from __future__ import annotations

import redis
import structlog
from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import transaction

from smartcis.access.owner import Owner
from smartcis.actions.support.routes import check_node, check_software
from smartcis.browser import group_of
from smartcis.errors import QuotaReached, Refused
from smartcis.models import RouteRequest
from smartcis.models.turns import take_turn

logger = structlog.get_logger(__name__)


def request_route(node: int, software: str, *, step_free: bool, owner: Owner) -> RouteRequest:
    """Asks the way from a walking point to the nearest free machine with some software.

    Raises:
        Refused: there is no browser to tie the walk to.
        NotFound: no such walking point or software.
        QuotaReached: the browser has as many walks as one may have.
    """
    if not owner.browser:
        raise Refused("a route belongs to a browser session", attempt="keep the session cookie")
    check_node(node)
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
    _announce(owner.browser)
    return made


def _announce(browser: str) -> None:
    """Notifies the browser's open sockets that they may see another walk's rows."""
    layer = get_channel_layer()
    if layer is None:
        return
    try:
        async_to_sync(layer.group_send)(group_of(browser), {"type": "routes.changed"})
    except (redis.RedisError, OSError) as error:
        # A page that asked also subscribes anew; this only saves it the round trip.
        logger.warning("routes not announced", reason=str(error))
