"""Register a query: compile it, keep it, and let the engine maintain its view."""

from __future__ import annotations

from collections.abc import Iterable

import structlog
from django.db import IntegrityError, transaction
from django.utils.translation import gettext_noop

from aspen.streamsql.statement import Statement
from aspen.views.operators.support.strategies import AUTO
from smartcis.access.owner import Owner
from smartcis.access.slots import take_slot
from smartcis.actions.support.compile_for import compile_for
from smartcis.catalog import CATALOG
from smartcis.compiling.begin_view import begin_view
from smartcis.compiling.drafts import ViewDraft
from smartcis.compiling.live_catalog import check_name, live_catalog
from smartcis.compiling.row_order import order_of, whole
from smartcis.errors import unknown
from smartcis.models import MaintainedQuery, MaintainedView, Outlet
from smartcis.models.accesses import note_access
from smartcis.models.turns import NAMES, take_turn

NAME_LENGTH = 80

logger = structlog.get_logger(__name__)


def register_query(
    statement: Statement,
    owner: Owner,
    *,
    name: str = "",
    strategy: str = AUTO,
    example: str = "",
) -> MaintainedQuery:
    """Registers a query; the same plan asked twice is maintained once.

    Args:
        strategy: how it is maintained; a query that leaves it to the cost shares a view of its
            plan under any strategy.
        example: which example it is, for `share_example`; it counts as nobody's.

    Raises:
        AspenError: what is wrong with the text, and where.
        Refused: visitors may not query here, or not this.
        QuotaReached, LimitReached: the owner, or all at the address, have as many as they may.
    """
    catalog = live_catalog()
    compiled = compile_for(statement, owner, catalog)
    outputs = [[one.kind, one.target, one.rule and one.rule.as_dict()] for one in compiled.outputs]
    # Who has an account names a view for everybody; others name their own query.
    named = compiled.name if compiled.name is not None and owner.user_id is not None else ""
    form = compiled if named else whole(compiled)
    draft = ViewDraft.of(form, statement.text, strategy, kept=bool(outputs), owner=owner.share)
    new = None if not named and draft.same().exists() else draft.view(named)
    with transaction.atomic():
        if not example:  # which all visitors share
            own = MaintainedQuery.objects.filter(example="")
            take_slot("queries", own, owner, "stop one, or ask this one once")
        _keep_sources(compiled.sources)
        if new is not None and named:
            check_name(named)
            view = begin_view(new)
        else:
            view = _shared(draft, new)
        query = MaintainedQuery.objects.create(
            name=(name or compiled.name or "")[:NAME_LENGTH],
            sql=statement.text,
            view=view,
            order=None if view.named else order_of(compiled),
            browser="" if owner.user_id is not None else owner.browser,
            address="" if owner.user_id is not None else owner.address,
            user_id=owner.user_id,
            example=example,
        )
        if outputs:
            Outlet.objects.create(query=query, outputs=outputs)
        if view.private:
            note_access(owner.user_id, owner.account, gettext_noop("registered"), statement.text)
        logger.info("query_registered", query=query.pk, view=view.name)
        return query


def _shared(draft: ViewDraft, new: MaintainedView | None) -> MaintainedView:
    """Returns the view that maintains a plan, begun if there is none; runs in a transaction.

    Args:
        new: what to begin; made here if the one that was there has ended meanwhile.
    """
    same = draft.same().select_for_update()  # nobody ends it before this query points at it
    found = same.first()
    if found is not None:
        return found
    try:
        with transaction.atomic():
            return begin_view(new or draft.view())
    except IntegrityError:  # somebody asked the same in this moment, and was first
        found = same.first()
        if found is None:
            raise
        return found


def _keep_sources(sources: Iterable[str]) -> None:
    """Refuses what was dropped since the query was compiled; no more is until the transaction ends.

    Raises:
        NotFound: a source was dropped.
    """
    droppable = [name for name in sources if name not in CATALOG]
    if not droppable:
        return
    take_turn(NAMES)
    names = [relation.name for relation in live_catalog()]
    for name in droppable:
        if name not in names:
            raise unknown("relation or view", name, names)
