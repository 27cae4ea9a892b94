"""Unregister a query; the last one of a view ends the view."""

from __future__ import annotations

from django.db import transaction

from smartcis.access.owner import Owner
from smartcis.access.queries import query_of
from smartcis.actions.support.end_query import end_query


def unregister_query(query_id: str, owner: Owner) -> None:
    """Ends a query.

    Raises:
        NotFound: no query of that id.
        Refused: it is somebody else's, or others read its view.
    """
    with transaction.atomic():
        query = query_of(query_id)
        end_query(query, owner)
