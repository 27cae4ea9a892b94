"""Draft: the view that would maintain a submitted query, made before any transaction begins.

SQLite lets one transaction write at a time, so whatever takes thought is done here: the plan's text
and fingerprint, its strategy, the columns.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import QuerySet

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import Plan
from aspen.streamsql import Compiled
from aspen.views.choose import choose_or_take, recursions
from aspen.views.operators.support.strategies import AUTO, canonical
from federation.statistics import Statistics
from smartcis.catalog import CATALOG
from smartcis.compiling.live_catalog import columns_json
from smartcis.compiling.statistics import house_statistics
from smartcis.errors import Invalid
from smartcis.models import MaintainedView
from smartcis.models.closed import closed_among, rests_on_closed
from smartcis.policies import CLOSED_NAME, OPEN_NAME

STRATEGY_LENGTH = 40
FINGERPRINT = 16


@dataclass(frozen=True, slots=True)
class ViewDraft:
    """What a view would be.

    Args:
        text: of the plan it maintains, as the log carries it: all of the query, in the engine. What
            then runs inside the network is decided, and moved there, while it runs.
        strategy: as it was asked for; AUTO takes a view of its plan under any strategy.
        kept: whether the engine keeps it although nobody looks.
        owner: whose share of the engine it takes; empty for nobody's.
    """

    compiled: Compiled
    text: str
    sql: str
    strategy: str
    private: bool
    kept: bool
    owner: str = ""

    @classmethod
    def of(
        cls, compiled: Compiled, sql: str, strategy: str, *, kept: bool, owner: str = ""
    ) -> ViewDraft:
        """Drafts a view of a query.

        Raises:
            UnknownStrategy: there is none of that name, or with that option.
            Invalid: it is spelt longer than a view can keep.
        """
        spelt = strategy if strategy == AUTO else asked_for(strategy)
        private = bool(closed_among(compiled.sources))
        return cls(compiled, plan_text(compiled.plan), sql, spelt, private, kept, owner)

    def same(self) -> QuerySet[MaintainedView]:
        """Returns the views that maintain this already."""
        same = MaintainedView.objects.filter(
            plan_hash=plan_hash(self.text),
            standing=False,
            named=False,
            kept=self.kept,
            error__isnull=True,
        )
        return same if self.strategy == AUTO else same.filter(strategy=self.strategy)

    def view(self, name: str = "") -> MaintainedView:
        """Returns the view, not saved.

        Args:
            name: under which other queries may read it; without one it has the plan's.
        """
        return MaintainedView(
            name=name or view_name(self.text, self.compiled.sources, self.strategy, kept=self.kept),
            sql=self.sql,
            plan_text=self.text,
            plan_hash=plan_hash(self.text),
            strategy=strategy_for(self.compiled.plan, self.strategy),
            columns=columns_json(self.compiled.relation),
            sources=sorted(self.compiled.sources),
            private=self.private,
            named=bool(name),
            kept=self.kept,
            owner=self.owner,
        )


def strategy_for(plan: Plan, strategy: str) -> str:
    """Returns the strategy a view begins with."""
    # Counting the house takes longer than all the rest; only a recursion makes a difference.
    recursive = next(recursions(plan), None) is not None
    known = house_statistics() if recursive else Statistics.of(CATALOG)
    return choose_or_take(plan, known, strategy).strategy


def asked_for(strategy: str) -> str:
    """Returns a strategy that somebody named, in its one spelling.

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


def plan_hash(text: str) -> str:
    """Returns the fingerprint under which equal plans share a view."""
    return hashlib.sha256(text.encode()).hexdigest()


def view_name(
    text: str, sources: Iterable[str], strategy: str = AUTO, *, kept: bool = False
) -> str:
    """Returns the name of the view that maintains a submitted query's plan."""
    if strategy != AUTO or kept:
        text += f"\n{strategy}{' kept' if kept else ''}"
    begins = CLOSED_NAME if rests_on_closed(sources) else OPEN_NAME
    return begins + plan_hash(text)[:FINGERPRINT]


def strategy_chosen(view: MaintainedView) -> bool:
    """Returns whether a submitted view is named by its plan alone, its strategy being chosen."""
    return view.name[len(OPEN_NAME) :] == view.plan_hash[:FINGERPRINT]
