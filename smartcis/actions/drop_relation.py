"""Drop a table, a stream or a view that somebody named."""

from __future__ import annotations

from django.db import transaction

from aspen.streamsql.statement import Statement
from smartcis.access.owner import Owner
from smartcis.actions.support.end_query import end_query, refuse_readers
from smartcis.actions.support.own_relations import check_owner, not_ones_own
from smartcis.models import MaintainedQuery, OwnRelation
from smartcis.models.turns import NAMES, take_turn


def drop_relation(statement: Statement, owner: Owner) -> int:
    """Drops a table, a stream or a view that somebody named.

    Returns:
        How many there were to drop: 0 with IF EXISTS and nothing of that name.

    Raises:
        NotFound: there is none of that name.
        Refused: it is somebody else's, or a view reads it.
    """
    with transaction.atomic():
        take_turn(NAMES)  # nobody begins a view over it meanwhile
        query = MaintainedQuery.objects.filter(view__named=True, view__name=statement.name).first()
        if query is not None:
            end_query(query, owner)
            return 1
        own = OwnRelation.objects.filter(pk=statement.name).first()
        if own is None:
            if statement.tree.args.get("exists"):
                return 0
            raise not_ones_own(statement.name)
        check_owner(own, owner)
        refuse_readers(own.name)
        own.delete()
    return 1
