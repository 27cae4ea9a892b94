"""Ask the way: a demand row that the standing queries answer, until it is withdrawn."""

from __future__ import annotations

import redis
import structlog
from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction

from smartcis.access.owner import Owner
from smartcis.access.slots import take_slot
from smartcis.actions.support.destinations import check_goal
from smartcis.actions.support.routes import check_node
from smartcis.browser import group_of
from smartcis.errors import Refused
from smartcis.models import RouteRequest

logger = structlog.get_logger(__name__)


def request_route(node: int, goal: str, *, step_free: bool, owner: Owner) -> RouteRequest:
    """Asks the way from a walking point to the nearest of what answers a goal.

    Args:
        goal: free-machine:LaTeX, room:<rid>, machine:<mid>, or the slug of a destination.

    Raises:
        Refused: there is no browser to tie the walk to.
        NotFound: no such walking point, or nothing that the goal names.
        QuotaReached, LimitReached: the browser, or all at the address, have as many as they may.
    """
    if not owner.browser:
        raise Refused("a route belongs to a browser session", attempt="keep the session cookie")
    visitor = Owner(browser=owner.browser, address=owner.address)  # walks belong to browsers
    check_node(node)
    check_goal(goal)
    with transaction.atomic():
        take_slot("walks", RouteRequest.objects, visitor, "end one of them")
        made = RouteRequest.objects.create(
            browser=owner.browser,
            address=owner.address,
            node=node,
            goal=goal,
            step_free=step_free,
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
