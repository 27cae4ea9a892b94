"""Register a query: compile it, keep it, and let the engine maintain its view."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Max

from aspen.model.catalog import Catalog
from aspen.streamsql import Compiled, compile_query
from aspen.streamsql.compile import refuse_undelivered
from aspen.views.choose import choose_or_take, recursions
from aspen.views.operators.support.strategies import AUTO, canonical
from federation.statistics import Statistics
from smartcis.actions.catalog import check_name, columns_json, live_catalog, reads_private
from smartcis.actions.errors import Invalid, QuotaReached, Refused
from smartcis.actions.owner import Owner
from smartcis.actions.plan_query import Planned, plan_query
from smartcis.actions.row_order import order_of, whole
from smartcis.actions.statistics import house_statistics
from smartcis.catalog import CATALOG
from smartcis.deliveries.outputs import HANDED_OUT, KEPT, check_outputs
from smartcis.models import MaintainedQuery, MaintainedView, Outlet
from smartcis.models.outbox import tell

SQL_LENGTH = 20_000
NAME_LENGTH = 80
STRATEGY_LENGTH = 40
AUTO_NAME = "q_{:.16}"
"""Name of a submitted view whose strategy was chosen, by the plan's fingerprint."""


def compile_for(sql: str, owner: Owner, *, once: bool = False) -> Compiled:
    """Compile a query with the rights of `owner`.

    Args:
        once: whether it is to be answered once; if not, it is to be maintained.

    Raises:
        AspenError: what is wrong with the text, and where.
        Refused: it reads other visitors' routes.
    """
    if len(sql) > SQL_LENGTH:
        raise Invalid(
            "the query is too long",
            found=f"{len(sql)} characters",
            exists=[f"up to {SQL_LENGTH}"],
        )
    catalog = live_catalog()
    compiled = compile_query(sql, catalog, once=once)
    refuse_undelivered(compiled, HANDED_OUT)
    refuse_private(compiled.sources, catalog, owner)
    check_outputs(compiled, owner, catalog)
    return compiled


def refuse_private(sources: Iterable[str], catalog: Catalog, owner: Owner) -> None:
    """Refuse to let anybody but staff query what belongs to one visitor each.

    Raises:
        Refused: a source does.
    """
    private = reads_private(sources, catalog)
    if private and not owner.staff:
        raise Refused(
            f"{private[0]} holds other visitors' routes; only staff may query it",
            found=private[0],
            exists=sorted(r.name for r in catalog if not reads_private([r.name], catalog)),
            attempt="follow nearest_machine or route_step themselves: they show you your own rows",
        )


def register_query(
    sql: str, owner: Owner, *, name: str = "", strategy: str = AUTO
) -> MaintainedQuery:
    """Register a query; the same plan asked twice is maintained once.

    Args:
        strategy: how it is maintained; a query that leaves it to the cost shares a view of its
            plan under any strategy.

    Raises:
        AspenError: what is wrong with the text, and where.
        Refused: visitors may not submit queries here, or not this one.
        QuotaReached: the owner has as many as one may have.
    """
    if not owner.staff and not settings.OPEN_QUERIES:
        raise Refused("visitors may not submit queries here", attempt="log in as staff")
    compiled = compile_for(sql, owner)
    outputs = [[one.kind, one.target] for one in compiled.outputs if one.kind in KEPT]
    with transaction.atomic():
        _check_quota(owner)
        if compiled.name is not None and owner.user_id is not None:
            # Who has an account names a view for everybody; others name their own query.
            check_name(compiled.name)
            view = named_view(compiled, sql, live_catalog(), strategy, kept=bool(outputs))
        else:
            form, catalog = whole(compiled), live_catalog()
            view = shared_view(form, sql, catalog, strategy, kept=bool(outputs))
        query = MaintainedQuery.objects.create(
            name=(name or compiled.name or "")[:NAME_LENGTH],
            sql=sql,
            view=view,
            order=None if view.named else order_of(compiled),
            browser="" if owner.user_id is not None else owner.browser,
            user_id=owner.user_id,
        )
        if outputs:
            Outlet.objects.create(query=query, outputs=outputs)
        return query


def named_view(
    compiled: Compiled, sql: str, catalog: Catalog, strategy: str, *, kept: bool
) -> MaintainedView:
    """Give the new view of a CREATE VIEW that other queries may read; runs in a transaction."""
    planned = plan_query(compiled)
    view = MaintainedView.objects.create(
        name=str(compiled.name),
        sql=sql,
        plan_text=planned.text,
        plan_hash=plan_hash(planned),
        strategy=strategy_for(planned, strategy),
        columns=columns_json(compiled.relation),
        sources=sorted(compiled.sources),
        private=bool(reads_private(compiled.sources, catalog)),
        order=next_order(),
        named=True,
        kept=kept,
    )
    tell(view.registration())
    return view


def strategy_for(planned: Planned, strategy: str) -> str:
    """Give the strategy a view begins with."""
    spelt = strategy if strategy == AUTO else asked_for(strategy)
    # Counting the house takes longer than all the rest; only a recursion makes a difference.
    recursive = next(recursions(planned.plan), None) is not None
    known = house_statistics() if recursive else Statistics.of(CATALOG)
    return choose_or_take(planned.plan, known, spelt).strategy


def shared_view(
    compiled: Compiled, sql: str, catalog: Catalog, strategy: str = AUTO, *, kept: bool = False
) -> MaintainedView:
    """Give the view that maintains a plan, registered if it is new; runs in a transaction.

    Args:
        kept: whether it is kept although nobody looks.
    """
    planned = plan_query(compiled)
    digest = plan_hash(planned)
    same = MaintainedView.objects.filter(
        plan_hash=digest, standing=False, named=False, kept=kept, error__isnull=True
    )
    if strategy != AUTO:
        strategy = asked_for(strategy)
        same = same.filter(strategy=strategy)
    same = same.select_for_update()  # nobody ends it before this query points at it
    found = same.first()
    if found is not None:
        return found
    view = MaintainedView(
        name=view_name(planned, strategy, kept=kept),
        sql=sql,
        plan_text=planned.text,
        plan_hash=digest,
        strategy=strategy_for(planned, strategy),
        columns=columns_json(compiled.relation),
        sources=sorted(compiled.sources),
        private=bool(reads_private(compiled.sources, catalog)),
        order=next_order(),
        kept=kept,
    )
    try:
        with transaction.atomic():
            view.save(force_insert=True)
    except IntegrityError:  # somebody asked the same in this moment, and was first
        found = same.first()
        if found is None:
            raise
        return found
    tell(view.registration())
    return view


def asked_for(strategy: str) -> str:
    """Give a strategy that somebody named, in its one spelling.

    Raises:
        UnknownStrategy: there is none of that name, or with that option.
        Invalid: it is spelt longer than a view can keep.
    """
    spelt = canonical(strategy)
    if len(spelt) > STRATEGY_LENGTH:
        raise Invalid(
            "the strategy has too many options",
            found=spelt,
            exists=[f"up to {STRATEGY_LENGTH} characters"],
        )
    return spelt


def plan_hash(planned: Planned) -> str:
    """Give the fingerprint under which equal plans share a view."""
    return hashlib.sha256(planned.text.encode()).hexdigest()


def view_name(planned: Planned, strategy: str = AUTO, *, kept: bool = False) -> str:
    """Give the name of the view that maintains a submitted query's plan."""
    if strategy == AUTO and not kept:
        return AUTO_NAME.format(plan_hash(planned))
    both = f"{planned.text}\n{strategy}{' kept' if kept else ''}"
    return AUTO_NAME.format(hashlib.sha256(both.encode()).hexdigest())


def next_order() -> int:
    """Give the next place in the order of registrations."""
    highest = MaintainedView.objects.aggregate(highest=Max("order"))["highest"]
    return int(highest or 0) + 1


def _check_quota(owner: Owner) -> None:
    if owner.staff:
        return
    mine = MaintainedQuery.objects.filter(user=None, browser=owner.browser)
    if owner.user_id is not None:
        mine = MaintainedQuery.objects.filter(user_id=owner.user_id)
    held = mine.count()
    if held >= settings.QUERY_QUOTA:
        raise QuotaReached(
            f"you have {held} queries running",
            found=str(held),
            exists=[f"up to {settings.QUERY_QUOTA}"],
            attempt="stop one of them",
        )
