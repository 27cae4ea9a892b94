"""Deploy the standing queries: make the maintained views equal to the `.streamsql` files.

    unchanged plan              → left alone, and so is everything that reads only such views
    changed, new or gone        → it and all that read it end (readers first) and begin anew

Law: deploying twice changes nothing the second time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import networkx as nx
from django.db import transaction

from aspen.algebra.explain import plan_text
from aspen.errors import AspenError
from aspen.model.catalog import Catalog
from aspen.streamsql import Compiled, compile_query, compile_views
from aspen.streamsql.compile import refuse_undelivered
from aspen.views.choose import choose_or_take
from aspen.views.operators.support.strategies import AUTO
from smartcis.access.owner import SYSTEM
from smartcis.access.restrict import EVERYBODY, restrict
from smartcis.actions.support.destinations import destination_texts
from smartcis.catalog import CATALOG
from smartcis.compiling.begin_view import next_order
from smartcis.compiling.drafts import asked_for, plan_hash
from smartcis.compiling.live_catalog import columns_json, live_catalog
from smartcis.compiling.row_order import whole
from smartcis.compiling.statistics import house_statistics
from smartcis.models import MaintainedView, RouteRule
from smartcis.models.closed import is_closed
from smartcis.models.outbox import enqueue
from smartcis.queries import comment_of, standing_queries


@dataclass(frozen=True, slots=True)
class DeployedViews:
    """What a deployment did, by view name."""

    kept: tuple[str, ...]
    begun: tuple[str, ...]
    ended: tuple[str, ...]
    failed: tuple[str, ...]


def deploy_standing_queries(
    texts: Mapping[str, str] | None = None, *, strategy: str | None = None
) -> DeployedViews:
    """Deploys the standing queries, by default the project's own and those of destinations.

    Args:
        strategy: how all of them are maintained, `auto` for what costs least now. None leaves
            those alone that need nothing else, and chooses for the others.

    Raises:
        AspenError: a text does not compile, or there is no such strategy; nothing was changed.
    """
    spelt = AUTO if strategy in (None, AUTO) else asked_for(strategy)
    if texts is None:
        RouteRule.objects.get_or_create(pk=RouteRule.ONLY)
        texts = standing_queries()
        texts = {**texts, **destination_texts(texts)}
    compiled = {str(view.name): view for view in compile_views(texts, CATALOG)}
    for one in compiled.values():
        refuse_undelivered(one, ())  # nobody submitted it, so it has no outlet
    plans = {name: plan_text(view.plan) for name, view in compiled.items()}
    comments = {name: comment_of(texts.get(f"{name}.streamsql", "")) for name in compiled}
    with transaction.atomic():
        known = house_statistics()
        strategies = {
            name: choose_or_take(view.plan, known, spelt).strategy
            for name, view in compiled.items()
        }
        existing = {view.name: view for view in MaintainedView.objects.order_by("order")}
        standing = {name for name, view in existing.items() if view.standing}
        changed = {
            name
            for name, text in plans.items()
            if name not in standing
            or existing[name].plan_text != text
            or (strategy is not None and existing[name].strategy != strategies[name])
        } | (standing - set(plans))
        touched = _with_readers(changed, existing, compiled)
        ended = [view for view in reversed(existing.values()) if view.name in touched]
        for view in ended:
            if view.error is None:
                enqueue({"unregister": view.name})
        begun = []
        for name, one in compiled.items():
            if name in touched:
                sql = texts.get(f"{name}.streamsql", "")
                view = existing.get(name) or MaintainedView(name=name)
                view.sql, view.comment = sql, comments[name]
                view.strategy, view.standing = strategies[name], True
                _begin(view, one)
                begun.append(name)
            elif existing[name].comment != comments[name]:
                MaintainedView.objects.filter(name=name).update(comment=comments[name])
        MaintainedView.objects.filter(name__in=standing - set(plans)).delete()
        failed = _begin_submitted([view for view in reversed(ended) if not view.standing])
        _close()
    return DeployedViews(
        kept=tuple(name for name in compiled if name not in touched),
        begun=tuple(begun),
        ended=tuple(view.name for view in ended),
        failed=tuple(failed),
    )


def _with_readers(
    changed: Collection[str],
    existing: Mapping[str, MaintainedView],
    compiled: Mapping[str, Compiled],
) -> set[str]:
    """Adds everything that reads a changed view, directly or not, before or after."""
    before = [(source, name) for name, view in existing.items() for source in view.sources]
    after = [(source, name) for name, view in compiled.items() for source in view.sources]
    read_by = nx.DiGraph([*before, *after])
    return set(changed).union(*(nx.descendants(read_by, one) for one in changed if one in read_by))


def _begin(view: MaintainedView, compiled: Compiled) -> None:
    view.plan_text = plan_text(compiled.plan)
    view.plan_hash = plan_hash(view.plan_text)
    view.columns, view.sources = columns_json(compiled.relation), sorted(compiled.sources)
    view.private, view.error, view.order = is_closed(view.name, view.sources), None, next_order()
    view.save()
    enqueue(view.registration())


def _begin_submitted(views: list[MaintainedView]) -> list[str]:
    """Compiles people's queries anew over the new standing views.

    Returns:
        The views that no longer compile; their queries stay and say why.
    """
    catalog: Catalog = live_catalog()
    failed = []
    for view in views:
        try:
            reader = SYSTEM if view.private else EVERYBODY
            compiled = restrict(compile_query(view.sql, catalog), reader, catalog)
        except AspenError as error:
            MaintainedView.objects.filter(pk=view.pk).update(error=error.as_dict())
            failed.append(view.name)
            continue
        if view.named:
            # Those behind it may read it with the columns it has now.
            catalog = catalog.with_relation(replace(compiled.relation, name=view.name))
        else:
            compiled = whole(compiled)
        _begin(view, compiled)
    return failed


def _close() -> None:
    """Closes the views that were begun when what they read was open still, and opens others."""
    for view in MaintainedView.objects.order_by("order"):
        private = is_closed(view.name, view.sources)
        if view.private != private:
            MaintainedView.objects.filter(pk=view.pk).update(private=private)
