"""Explained: borders 5 and 6 of one query as data: what was decided, among what, and who runs what.

Law: text and JSON of an explanation are made from this alone, so they say the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NamedTuple

from aspen.algebra.explain import node_text, plan_text
from aspen.algebra.plan import Plan
from aspen.model.catalog import Catalog
from federation.cost import Cost, Weights
from federation.covers import covers
from federation.deploy import deploy
from federation.estimate import Estimate
from federation.placement import Decision, FederatedPlan, sites
from federation.search.graph import SearchGraph, graph_of
from federation.search.joins import JoinSpace
from federation.split import Fragments, NetworkFragment
from federation.sql_text import NoText, sql_text


class PlanNode(NamedTuple):
    """An operator of the plan, and where it runs."""

    depth: int
    node: str
    site: str


class Refusal(NamedTuple):
    """What was no alternative, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Told:
    """An alternative.

    Args:
        parts: what it consists of.
        weighed: its cost as one number.
        verdict: `chosen`, or `lost: …` with why.
    """

    parts: tuple[str, ...]
    cost: Cost
    weighed: float
    chosen: bool
    verdict: str


@dataclass(frozen=True, slots=True)
class Question:
    """A choice the optimizer had.

    Args:
        about: what it is about.
        alternatives: the cheapest first.
        graph: how the search came to it; None where there was nothing to search.
    """

    about: str
    alternatives: tuple[Told, ...]
    refused: tuple[Refusal, ...] = ()
    graph: SearchGraph | None = None


@dataclass(frozen=True, slots=True)
class ExplainedPiece:
    """A fragment of the query.

    Args:
        title: site, name and manner.
        sql: as StreamSQL; as plan text where StreamSQL has no words for it.
        plan: what is shipped, as plan text.
        estimate: of what runs in the network.
        measured: what it takes while it runs, where somebody measured.
    """

    site: str
    title: str
    sql: str
    plan: str
    estimate: Estimate | None = None
    measured: Cost | None = None


@dataclass(frozen=True)
class Explained:
    """Borders 5 and 6 of one query; its fields are those of the JSON.

    Args:
        cost: None where no device is asked.
        orders: what the devices are told.
        remarks: what else is to be told of the query, by heading.
    """

    plan: tuple[PlanNode, ...]
    questions: tuple[Question, ...]
    refused: tuple[Refusal, ...]
    cost: Cost | None
    weights: Weights
    pieces: tuple[ExplainedPiece, ...]
    orders: tuple[str, ...]
    remarks: Mapping[str, str]


def explained(
    federated: FederatedPlan,
    fragments: Fragments,
    catalog: Catalog,
    measured: Mapping[str, Cost],
    remarks: Mapping[str, str],
) -> Explained:
    """Explain a federated plan.

    Args:
        measured: what running fragments take, by name.
    """
    asked = federated.choices or federated.pieces
    orders = deploy([fragments], catalog).values()
    return Explained(
        tuple(
            PlanNode(depth, node_text(node), site) for depth, node, site in sites(federated.plan)
        ),
        (*map(_region, federated.decisions), *_streams(federated)),
        _refusals(federated.refused),
        federated.cost if asked else None,
        federated.weights,
        tuple(_pieces(federated, fragments, measured)),
        tuple(order.text for order in orders if order.needed or order.sampled),
        remarks,
    )


def _refusals(refused: Iterable[tuple[str, str]]) -> tuple[Refusal, ...]:
    return tuple(Refusal(what, why) for what, why in refused)


def _region(decision: Decision) -> Question:
    region = decision.region
    least = decision.weighed
    tie = "costs the same and comes later"
    told = tuple(
        _told(one.names, one.cost, one.weighed, least, "" if one.names == decision.names else tie)
        for one in covers(region)
    )
    streams = [
        one.name.removesuffix(" as measured")
        for one in region.fetches.values()
        if one.piece is None
    ]
    listed = f"{', '.join(streams[:-1])} and {streams[-1]}" if len(streams) > 1 else streams[0]
    about = f"how {listed} {'reach' if len(streams) > 1 else 'reaches'} the engine"
    return Question(about, told, _refusals(region.refused), graph_of(JoinSpace(region.problem)))


def _told(parts: tuple[str, ...], cost: Cost, weighed: float, least: float, tie: str) -> Told:
    """Returns an alternative with its verdict.

    Args:
        least: the weighed cost of the chosen one.
        tie: why it lost to one of equal cost; empty for the chosen one.
    """
    verdict = f"lost: {tie}" if tie else "chosen"
    if tie and weighed > least:
        verdict = f"lost: {weighed / least:.2f} times the weighed cost"
    return Told(parts, cost, weighed, not tie, verdict)


def _streams(federated: FederatedPlan) -> Iterable[Question]:
    weighed = federated.weights.total
    for choice in federated.choices:
        told = tuple(
            _told(
                (f"as far as {_head(node_text(one.motes))}",),
                one.cost,
                weighed(one.cost),
                weighed(choice.chosen.cost),
                "" if one is choice.chosen else "no cheaper than a shorter piece",
            )
            for one in choice.alternatives
        )
        node, reason = choice.refused
        refused = (Refusal(_head(node), reason),) if reason else ()
        about = f"what the motes do before they send {choice.stream} as {choice.alias}"
        yield Question(about, told, refused)


def _head(text: str) -> str:
    return text.split(" (", maxsplit=1)[0]


def _pieces(
    federated: FederatedPlan, fragments: Fragments, measured: Mapping[str, Cost]
) -> Iterable[ExplainedPiece]:
    estimates = {
        one.piece.fragment.name: one.piece.estimate
        for one in federated.pieces
        if one.piece is not None
    }
    for one in fragments.network:
        title = f"{one.name} every {one.period_s:g} s, {_manner(one)}"
        text, plan = readable(one.replaces), plan_text(one.plan)
        known = measured.get(one.name)
        yield ExplainedPiece("sensors", title, text, plan, estimates[one.name], known)
    for sent in fragments.sensors:
        title = f"{sent.stream} as {sent.alias}"
        yield ExplainedPiece(sent.site, title, readable(sent.plan), plan_text(sent.plan))
    engine = fragments.engine
    receives, reads = ", ".join(engine.receives) or "nothing", ", ".join(engine.reads) or "nothing"
    title = f"receives {receives}; reads {reads}"
    yield ExplainedPiece(engine.site, title, readable(engine.plan), plan_text(engine.plan))


def _manner(fragment: NetworkFragment) -> str:
    if len(fragment.shares) > 1:
        return {"base": "joined at the base station"}.get(fragment.method, fragment.method)
    return "rows and records up the tree"


def readable(plan: Plan) -> str:
    """Returns a plan as StreamSQL, or as plan text where it has no words."""
    try:
        return sql_text(plan)
    except NoText:
        return plan_text(plan).rstrip("\n")


def plain(value: Any) -> Any:
    """Returns an explanation, or a part of it, as plain values for JSON."""
    match value:
        case Cost():
            return value.figures
        case Estimate():
            return _estimate(value)
        case float():
            return round(value, 6)
        case Mapping():
            return dict(value)
        case tuple() if not hasattr(value, "_asdict"):
            return [plain(one) for one in value]
        case tuple():
            return value._asdict()  # type: ignore[attr-defined]  # a NamedTuple of texts and numbers
        case _ if is_dataclass(value):
            return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
        case _:
            return value


def _estimate(guess: Estimate) -> dict[str, Any]:
    return {
        "cost": guess.cost.figures,
        "network": "measured" if guess.measured else "guessed",
        "keeps": [
            {"share": plain(share.value), "origin": share.origin.value} for share in guess.shares
        ],
        "operators": [
            {
                "name": part.name,
                "rows": plain(part.rows),
                "bytes": plain(part.size_bytes),
                "energy_mj": plain(part.energy_mj),
            }
            for part in guess.operators
        ],
    }
