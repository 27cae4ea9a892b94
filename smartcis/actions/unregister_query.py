"""Unregister a query; the last one of a view ends the view."""

from __future__ import annotations

from django.db import transaction

from smartcis.actions.errors import NotFound, Refused
from smartcis.actions.owner import Owner
from smartcis.models import MaintainedQuery
from smartcis.models.outbox import tell


def unregister_query(query_id: str, owner: Owner) -> None:
    """End a query.

    Raises:
        NotFound: no query of that id.
        Refused: it is somebody else's.
    """
    with transaction.atomic():
        query = MaintainedQuery.objects.select_related("view").filter(pk=query_id).first()
        if query is None:
            raise NotFound(f"there is no query {query_id[:40]!r}", found=query_id[:40])
        if not owner.staff and not owner.owns(query.browser, query.user_id):
            raise Refused(
                "this query is somebody else's", attempt="only its owner or staff may stop it"
            )
        view = query.view
        query.delete()
        if view.standing or view.queries.exists():
            return
        if view.error is None:
            tell({"unregister": view.name})
        view.delete()
