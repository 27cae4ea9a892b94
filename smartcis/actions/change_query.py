"""Change a query: what it is called, and whether its page names its author."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from smartcis.access.owner import Owner
from smartcis.access.queries import query_of
from smartcis.actions.register_query import NAME_LENGTH
from smartcis.models import MaintainedQuery


def change_query(query_id: str, changes: Mapping[str, Any], owner: Owner) -> MaintainedQuery:
    """Changes how a query is presented; its view keeps its own name.

    Args:
        changes: of `name`, where an empty one takes it away, and `show_author`.

    Raises:
        NotFound: no query of that id.
        Refused: it is somebody else's.
    """
    with transaction.atomic():
        query = query_of(query_id)
        owner.require_own(query, "fork it: submit its text as a query of your own, and name that")
        query.name = changes.get("name", query.name).strip()[:NAME_LENGTH]
        query.show_author = changes.get("show_author", query.show_author)
        query.save(update_fields=["name", "show_author"])
    return query
