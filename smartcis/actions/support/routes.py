"""Routes: whose one is, and what one may ask for."""

from __future__ import annotations

from smartcis.access.owner import Owner
from smartcis.errors import NotFound
from smartcis.models import RouteRequest, RoutingNode


def owned_route(session: str, owner: Owner) -> RouteRequest:
    """Returns a walk of the owner's browser.

    Raises:
        NotFound: no such walk; other browsers' walks do not exist for this one.
    """
    route = RouteRequest.objects.filter(pk=session, browser=owner.browser).first()
    if route is None or not owner.browser:
        raise NotFound("there is no such route", found=session[:40], attempt="ask for a new one")
    return route


def check_node(node: int) -> None:
    """Refuses a walking point that does not exist."""
    if not RoutingNode.objects.filter(pk=node).exists():
        near = RoutingNode.objects.filter(pk__gte=node).order_by("pk")[:3]
        far = RoutingNode.objects.filter(pk__lt=node).order_by("-pk")[:3]
        raise NotFound(
            f"there is no walking point {node}",
            found=str(node),
            exists=sorted((str(one.pk) for one in (*near, *far)), key=int),
            attempt="take the node of a unit that has one from /api/v1/levels/{id}/plan/",
        )
