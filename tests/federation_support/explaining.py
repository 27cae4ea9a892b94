"""Explanations of texts: all borders, or border 5 of a federated plan."""

from __future__ import annotations

from aspen.algebra.explain import plan_text
from aspen.model.catalog import Catalog
from aspen.streamsql.statement import parse
from federation.explain import Assumed, Journey, found_text
from federation.explained import explained
from federation.placement import FederatedPlan
from federation.split import Fragments, split
from federation.statistics import Statistics


def explain(text: str, catalog: Catalog, statistics: Statistics | None = None) -> str:
    """Print what each border makes of one or more statements, each by itself over the catalog."""
    return "\n".join(one.text for one in journeys(text, catalog, Assumed(statistics)))


def journeys(text: str, catalog: Catalog, assumed: Assumed) -> list[Journey]:
    """Take each statement through borders 1 to 6."""
    return [Journey(one, catalog, assumed) for one in parse(text)]


def optimize_text(federated: FederatedPlan, catalog: Catalog) -> str:
    """Print a federated plan: the tree with its sites, then every choice with its losers."""
    return found_text(explained(federated, split(federated), catalog, {}, {}))


def fragments_text(fragments: Fragments) -> str:
    """Print every fragment as plan text under its site."""
    pieces = [
        f"sensors: {one.name} every {one.period_s:g} s, {one.method}\n{plan_text(one.plan)}"
        for one in fragments.network
    ]
    pieces += [
        f"{fragment.site}: {fragment.stream} as {fragment.alias}\n{plan_text(fragment.plan)}"
        for fragment in fragments.sensors
    ]
    engine = fragments.engine
    receives, reads = ", ".join(engine.receives) or "nothing", ", ".join(engine.reads) or "nothing"
    head = f"{engine.site}: receives {receives}; reads {reads}"
    return "\n".join([*pieces, f"{head}\n{plan_text(engine.plan)}"])
