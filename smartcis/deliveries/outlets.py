"""Outlets: where the changes of a query go, for those who may know."""

from __future__ import annotations

from smartcis.access.owner import Owner
from smartcis.errors import NotFound, Refused
from smartcis.models import Outlet


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
