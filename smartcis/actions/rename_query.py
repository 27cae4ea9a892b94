"""Rename a query: what it is called in lists and links; its view keeps its own name."""

from __future__ import annotations

from django.db import transaction

from smartcis.access.owner import Owner
from smartcis.access.queries import query_of
from smartcis.actions.register_query import NAME_LENGTH
from smartcis.models import MaintainedQuery


def rename_query(query_id: str, name: str, owner: Owner) -> MaintainedQuery:
    """Returns a query another name; an empty one takes it away.

    Raises:
        NotFound: no query of that id.
        Refused: it is somebody else's.
    """
    with transaction.atomic():
        query = query_of(query_id)
        owner.require_own(query, "fork it: submit its text as a query of your own, and name that")
        query.name = name.strip()[:NAME_LENGTH]
        query.save(update_fields=["name"])
    return query
