"""Change a walk in place: the visitor moved, or wants something else."""

from __future__ import annotations

from django.utils import timezone

from smartcis.access.owner import Owner
from smartcis.actions.support.destinations import check_goal
from smartcis.actions.support.routes import check_node, owned_route
from smartcis.models import RouteRequest


def move_route(
    session: str,
    owner: Owner,
    *,
    node: int | None = None,
    goal: str | None = None,
    step_free: bool | None = None,
) -> RouteRequest:
    """Changes a walk in place: the visitor moved, or wants something else.

    Raises:
        NotFound: no such walk of this browser, walking point, or nothing that the goal names.
    """
    route = owned_route(session, owner)
    before = (route.node, route.goal, route.step_free)
    if node is not None:
        check_node(node)
        route.node = node
    if goal is not None:
        check_goal(goal)
        route.goal = goal
    if step_free is not None:
        route.step_free = step_free
    if before != (route.node, route.goal, route.step_free):
        route.forget_target()
    route.last_seen = timezone.now()
    route.save()
    return route
