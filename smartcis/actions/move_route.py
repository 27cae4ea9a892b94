"""Change a walk in place: the visitor moved, or wants something else."""

from __future__ import annotations

from django.utils import timezone

from smartcis.access.owner import Owner
from smartcis.actions.support.routes import check_node, check_software, owned_route
from smartcis.models import RouteRequest


def move_route(
    session: str,
    owner: Owner,
    *,
    node: int | None = None,
    software: str | None = None,
    step_free: bool | None = None,
) -> RouteRequest:
    """Changes a walk in place: the visitor moved, or wants something else.

    Raises:
        NotFound: no such walk of this browser, walking point or software.
    """
    route = owned_route(session, owner)
    if node is not None:
        check_node(node)
        route.node = node
    if software is not None:
        check_software(software)
        route.software = software
    if step_free is not None:
        route.step_free = step_free
    route.last_seen = timezone.now()
    route.save()
    return route
