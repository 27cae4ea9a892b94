"""Own queries: those of one person, which a quota counts."""

from __future__ import annotations

from django.conf import settings
from django.db.models import QuerySet

from smartcis.access.owner import Owner
from smartcis.models import MaintainedQuery


def own_queries(owner: Owner) -> QuerySet[MaintainedQuery]:
    """Returns the queries of a user, or of a visitor's browser; nobody's are none."""
    if owner.user_id is not None:
        return MaintainedQuery.objects.filter(user_id=owner.user_id)
    if not owner.browser:
        return MaintainedQuery.objects.none()
    return MaintainedQuery.objects.filter(user=None, browser=owner.browser)


def quota_of(owner: Owner) -> int | None:
    """Returns how many queries one may have, None for any number."""
    return None if owner.staff else settings.QUERY_QUOTA
