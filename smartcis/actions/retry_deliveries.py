"""Retry deliveries: calls that were given up are made once more."""

from __future__ import annotations

from django.utils import timezone

from smartcis.access.owner import Owner
from smartcis.deliveries.outputs import outlet_of
from smartcis.models import Delivery


def retry_deliveries(query_id: str, owner: Owner, key: str | None = None) -> int:
    """Schedules again the calls of a query that were given up.

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
