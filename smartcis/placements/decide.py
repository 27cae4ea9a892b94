"""Decide: where a maintained query should run, by what was measured, without flapping.

    first look at a query           the cheapest variant, if it costs clearly less than the engine's
    an estimate moved by FACTOR     decided anew: move if the best costs at most GAIN of staying
    just moved                      nothing for REST

Law: deciding twice on the same estimates changes nothing the second time; while estimates stay
within a band of FACTOR, or costs within one of GAIN, a query stays where it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import reduce
from typing import Any

from django.conf import settings
from django.utils import timezone

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import Plan
from aspen.algebra.read import read_plan
from aspen.motes.kinds import sample_mj
from federation.cost import Cost, Weights, in_network
from federation.covers import covers
from federation.estimate import estimate
from federation.placement import FederatedPlan, assign_sites, options
from federation.sites import SOFT
from federation.split import split
from federation.statistics import Statistics
from smartcis.catalog import CATALOG
from smartcis.compiling.live_catalog import live_catalog
from smartcis.models import MaintainedView, NetworkPiece, Placement
from smartcis.placements.device_streams import streams_of, whole_stream
from smartcis.placements.optimizer import house_network, house_weights
from smartcis.placements.probes import selections
from smartcis.placements.store import Reason, Variant, want
from smartcis.placements.translate import fragment_of

FACTOR = 1.5  # own choice: shares of a few dozen sensors waver by less
LEAST = 0.02  # shares and rates below this are one
GAIN = 0.8  # own choice: estimates are within a factor two; less would chase noise
REST = timedelta(seconds=60)  # own choice: a move costs a flood and some epochs


@dataclass(frozen=True, slots=True)
class Weighed:
    """A way to run a view, and what it is expected to cost.

    Args:
        total: the cost as one number, by the weights.
    """

    variant: Variant
    cost: Cost
    total: float

    def as_dict(self) -> dict[str, Any]:
        """Returns it with units, as a placement keeps it."""
        return {
            "where": self.where,
            "pieces": self.variant.names,
            **self.cost.figures,
            "weighed": round(self.total, 4),
        }

    @property
    def methods(self) -> list[str]:
        """How its pieces join; `base` also for those that do not."""
        return sorted({one.method for one in self.variant.fragments})

    @property
    def where(self) -> str:
        """Name the site, in a word or two."""
        return f"network ({', '.join(self.methods)})" if self.variant.names else "engine"


def decide(
    view: MaintainedView,
    known: Statistics,
    weights: Weights | None = None,
    rest: timedelta = REST,
) -> bool:
    """Decides where a view should run, and lets it move there.

    Returns:
        Whether it shall move.
    """
    weighing = weights or house_weights()
    plan = read_plan(view.plan_text)
    basis = estimates(plan, known)
    placement = Placement.objects.filter(view=view, plan_hash=view.plan_hash).first()
    if placement is not None and not _due(placement, basis, rest):
        return False
    staying = running_variant(view, placement, known, weighing)
    best = best_variant(view, plan, known, weighing)
    engine = weigh(view, Variant(), known, weighing)
    best = min((best, engine), key=lambda one: one.total)
    costs = {"weighed": [one.as_dict() for one in (best, staying, engine)]}
    if best.variant.names == staying.variant.names:
        if placement is None or placement.basis != basis:
            why = f"{staying.where} costs least"
            want(view, staying.variant, Reason(why, costs, basis))
        return False
    if best.total > GAIN * staying.total:
        if placement is None:
            why = f"{best.where} would cost no clear part less than {staying.where}"
            want(view, staying.variant, Reason(why, costs, basis))
        return False
    why = (
        f"{best.where} costs {best.cost}, {staying.where} {staying.cost}"
        f"{_what_moved(placement.basis, basis) if placement else ''}"
    )
    want(view, best.variant, Reason(why, costs, basis))
    return True


def _due(placement: Placement, basis: Mapping[str, float], rest: timedelta) -> bool:
    if placement.forced or placement.moving:
        return False
    has_moved = placement.since > placement.view.created_at
    if has_moved and timezone.now() - placement.since < rest:
        return False
    return bool(moved(placement.basis, basis))


def estimates(plan: Plan, known: Statistics) -> dict[str, float]:
    """Returns the estimates a decision rests on: shares by selection, rates by stream."""
    found = {}
    for one in selections(plan):
        alias = one.scan.alias
        found[one.text] = round(known.kept(one.predicate, {alias: one.scan.relation}).value, 4)
    for stream in sorted(streams_of(plan_text(plan))):
        found[stream] = round(known.rate_hz(stream), 4)
    return found


def moved(before: Mapping[str, float], now: Mapping[str, float]) -> list[str]:
    """Returns the estimates that moved by the factor, or are new."""
    return [
        name
        for name, value in now.items()
        if name not in before
        or max(value, LEAST) >= FACTOR * max(before[name], LEAST)
        or max(before[name], LEAST) >= FACTOR * max(value, LEAST)
    ]


def best_variant(view: MaintainedView, plan: Plan, known: Statistics, weights: Weights) -> Weighed:
    """Returns what the optimizer would do."""
    federated = assign_sites(plan, live_catalog(), known, weights, house_network(), _free(view))
    return weigh(view, _variant(federated), known, weights)


def inside_variants(
    view: MaintainedView, known: Statistics, weights: Weights | None = None
) -> list[Weighed]:
    """Every way with a piece in the network, the cheapest first, whatever the engine costs."""
    weighing = weights or house_weights()
    plan = read_plan(view.plan_text)
    ways = options(plan, live_catalog(), known, weighing, awake=_free(view))
    found: dict[str, Weighed] = {}
    for region in ways.regions:
        for cover in covers(region):
            if cover.runs:
                variant = _variant(ways.assigned({region.path: cover.names}))
                found.setdefault(variant.text, weigh(view, variant, known, weighing))
    return sorted(found.values(), key=lambda one: one.total)


def _variant(federated: FederatedPlan) -> Variant:
    fragments = split(federated)
    if not fragments.network:
        return Variant()
    return Variant(fragments.network, plan_text(fragments.engine.plan))


def running_variant(
    view: MaintainedView, placement: Placement | None, known: Statistics, weights: Weights
) -> Weighed:
    """Returns how a view runs now, and what that costs by today's estimates."""
    if placement is None or not placement.running:
        return weigh(view, Variant(), known, weights)
    pieces = NetworkPiece.objects.filter(name__in=placement.running)
    variant = Variant(tuple(map(fragment_of, pieces)), placement.running_text)
    return weigh(view, variant, known, weights)


def weigh(
    view: MaintainedView, variant: Variant, known: Statistics, weights: Weights | None = None
) -> Weighed:
    """What running a view in one way costs: its pieces, and the streams it asks for whole."""
    whole = sorted(streams_of(variant.text or view.plan_text))
    free = _free(view)
    costs = [
        *(estimate(one.plan, one.period_s, one.method, known).cost for one in variant.fragments),
        *(_sending(stream, known, free) for stream in whole),
    ]
    cost = reduce(Cost.beside, costs, Cost())
    return Weighed(variant, cost, (weights or house_weights()).total(cost))


def _sending(stream: str, known: Statistics, free: frozenset[str]) -> Cost:
    relation = CATALOG.get(stream)
    if relation.device in SOFT:
        return Cost()
    cost = in_network(whole_stream(relation), stream, known)
    if stream in free:
        return cost.awaited
    sampling_mj_per_s = known.rate_hz(stream) * sample_mj(relation.device)
    return replace(cost, energy_mj_per_s=cost.energy_mj_per_s + sampling_mj_per_s)


def _what_moved(before: Mapping[str, float], now: Mapping[str, float]) -> str:
    changes = [
        f"{name} from {before[name]:g} to {now[name]:g}"
        for name in moved(before, now)
        if name in before
    ]
    return f", since {'; '.join(changes)}" if changes else ""


def _free(view: MaintainedView) -> frozenset[str]:
    """Returns the streams that cost nothing more, because others ask for them anyway."""
    if settings.PLACEMENT != "together":
        return frozenset()
    others = MaintainedView.objects.filter(error__isnull=True).exclude(pk=view.pk)
    found: frozenset[str] = frozenset()
    return found.union(
        *(streams_of(one.running_text) for one in others.select_related("placement"))
    )
