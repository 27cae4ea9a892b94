"""Forget the points of a source: nothing is proposed to its devices any more."""

from __future__ import annotations

import structlog

from smartcis.access.owner import Owner
from smartcis.models import DescribedPoint, Source
from smartcis.models.lookup import found

logger = structlog.get_logger(__name__)


def forget_points(source_id: str, owner: Owner) -> int:
    """Removes what a description said; devices stay where they were placed.

    Args:
        owner: staff.

    Returns:
        How many points there were.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such source.
    """
    owner.require_staff("describe points")
    source = found(Source, source_id, "source")
    removed, _ = DescribedPoint.objects.filter(source=source).delete()
    logger.info("points_forgotten", source=source_id, points=removed, account=owner.account)
    return removed
