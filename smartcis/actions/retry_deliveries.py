"""Retry deliveries: calls that were given up are made once more."""

from __future__ import annotations

from django.utils import timezone

from smartcis.access.owner import Owner
from smartcis.errors import NotFound, Refused
from smartcis.models import Delivery, Outlet


def outlet_of(query_id: str, owner: Owner) -> Outlet:
    """Returns where a query's changes go.

    Raises:
        NotFound: there is no such query, or its changes go nowhere else.
        Refused: it is somebody else's: where calls go is nobody else's business.
    """
    found = Outlet.objects.select_related("query").filter(pk=query_id).first()
    if found is None:
        raise NotFound(
            f"there is no query {query_id[:40]!r} with an output",
            found=query_id[:40],
            attempt="OUTPUT TO WEBHOOK 'https://…'",
        )
    if not owner.staff and not owner.owns(found.query.browser, found.query.user_id):
        raise Refused("this query is somebody else's", found=query_id[:40])
    return found


def retry_deliveries(query_id: str, owner: Owner, key: str | None = None) -> int:
    """Let the calls of a query that were given up be made again.

    Args:
        key: of one call; None for all of them.

    Returns:
        How many there are.

    Raises:
        NotFound: there is no such query, or its changes go nowhere else.
        Refused: it is somebody else's.
    """
    lost = outlet_of(query_id, owner).deliveries.filter(state=Delivery.State.GIVEN_UP)
    if key is not None:
        lost = lost.filter(key=key)
    return lost.update(
        state=Delivery.State.PENDING, attempts=0, due_at=timezone.now(), settled_at=None
    )
