"""Look at points: what a building's description says of the devices of a source."""

from __future__ import annotations

from django.db.models import QuerySet

from smartcis.access.owner import Owner
from smartcis.models import DescribedPoint, Source
from smartcis.models.lookup import found


def look_at_points(source_id: str, owner: Owner) -> QuerySet[DescribedPoint]:
    """Returns the points that are kept of a source, as the description had them.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such source.
    """
    owner.require_staff("see how sources are set up")
    source = found(Source, source_id, "source")
    return DescribedPoint.objects.filter(source=source).order_by("pk")
