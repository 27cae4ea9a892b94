"""Share an example: one query for all visitors who run the same text, and nobody's to stop."""

from __future__ import annotations

from django.db import IntegrityError

from aspen.streamsql.statement import Statement
from smartcis.access.owner import Owner
from smartcis.access.queries import require_may_query
from smartcis.access.restrict import EVERYBODY
from smartcis.actions.register_query import register_query
from smartcis.examples import Example, example_of
from smartcis.models import MaintainedQuery


def share_example(example: Example, statement: Statement, owner: Owner) -> MaintainedQuery:
    """Returns the query that answers an example, registered if nobody ran it yet.

    Raises:
        AspenError: as `register_query`, but for what one may have: it counts as nobody's.
    """
    require_may_query(owner)
    kept = MaintainedQuery.objects.filter(example=example.slug).select_related("view").first()
    if kept is not None and example_of(kept.sql) is not example:
        kept.delete()  # the text of an older version
        kept = None
    if kept is not None:
        return kept
    try:
        return register_query(statement, EVERYBODY, example=example.slug)
    except IntegrityError:  # somebody ran it in this moment, and was first
        return MaintainedQuery.objects.select_related("view").get(example=example.slug)
