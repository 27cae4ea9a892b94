"""Queries: whose they are, who may change them, and how many one may have."""

from __future__ import annotations

from django.conf import settings
from django.db.models import QuerySet

from smartcis.access.limits import bounds
from smartcis.access.owner import Owner
from smartcis.errors import NotFound, Refused
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
    return next((one.at_most for one in bounds(settings.QUOTAS["queries"], owner, held=True)), None)


def may_query(owner: Owner) -> bool:
    """Returns whether somebody may query at all: visitors only where the house lets them."""
    return owner.user_id is not None or owner.staff or settings.OPEN_QUERIES


def require_may_query(owner: Owner) -> None:
    """Closes every door of querying to visitors where the house does not let them.

    Raises:
        Refused: it does not.
    """
    if not may_query(owner):
        raise Refused("visitors may not query here", attempt="log in")


def query_of(query_id: str) -> MaintainedQuery:
    """Returns a query, with its view, where that runs and where its changes go.

    Raises:
        NotFound: there is none of that id.
    """
    whole = MaintainedQuery.objects.select_related("view__placement", "outlet", "user")
    query = whole.filter(pk=query_id).first()
    if query is None:
        raise no_query(query_id)
    return query


def no_query(query_id: str) -> NotFound:
    """Returns the error of a query that does not exist, or is hidden."""
    return NotFound(f"there is no query {query_id[:40]!r}", found=query_id[:40])
