"""Explained: borders 5 and 6 of one query as data: what was decided, among what, and who runs what.

Law: text and JSON of an explanation are made from this alone, so they say the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from aspen.algebra.explain import node_text, plan_text
from aspen.algebra.plan import Plan
from aspen.model.catalog import Catalog
from federation.cost import Cost, Weights
from federation.covers import Cover, covers
from federation.deploy import deploy
from federation.estimate import Estimate
from federation.placement import Decision, FederatedPlan, sites
from federation.search.graph import SearchGraph, graph_of
from federation.search.joins import MICRO, JoinSpace
from federation.split import Fragments, NetworkFragment
from federation.sql_text import NoText, sql_text


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
    verdict: str

    @property
    def chosen(self) -> bool:
        """Whether it won."""
        return self.verdict == "chosen"


@dataclass(frozen=True, slots=True)
class Question:
    """A choice the optimizer had.

    Args:
        about: what it is about.
        alternatives: the cheapest first.
        refused: what was no alternative, and why.
        graph: how the search came to it; None where there was nothing to search.
    """

    about: str
    alternatives: tuple[Told, ...]
    refused: tuple[tuple[str, str], ...] = ()
    graph: SearchGraph | None = None


@dataclass(frozen=True, slots=True)
class ExplainedPiece:
    """A fragment of the query.

    Args:
        title: site, name and manner.
        text: as StreamSQL; as plan text where StreamSQL has no words for it.
        plan: what is shipped, as plan text.
        estimate: of what runs in the network.
        measured: what it takes while it runs, where somebody measured.
    """

    site: str
    title: str
    text: str
    plan: str
    estimate: Estimate | None = None
    measured: Cost | None = None


@dataclass(frozen=True)
class Explained:
    """Borders 5 and 6 of one query."""

    tree: tuple[tuple[int, str, str], ...]
    questions: tuple[Question, ...]
    refused: tuple[tuple[str, str], ...]
    cost: Cost | None
    weights: Weights
    pieces: tuple[ExplainedPiece, ...]
    orders: tuple[str, ...]
    remarks: Mapping[str, str] = field(default_factory=dict)


def explained(
    federated: FederatedPlan,
    fragments: Fragments,
    catalog: Catalog,
    measured: Mapping[str, Cost] | None = None,
    remarks: Mapping[str, str] | None = None,
) -> Explained:
    """Explain a federated plan.

    Args:
        measured: what running fragments take, by name.
        remarks: what else is to be told of the query, by heading.
    """
    asked = federated.choices or federated.pieces
    orders = deploy([fragments], catalog).orders
    return Explained(
        tuple((depth, node_text(node), site) for depth, node, site in sites(federated.plan)),
        (*map(_region, federated.decisions), *_streams(federated)),
        federated.refused,
        federated.cost if asked else None,
        federated.weights,
        _pieces(federated, fragments, measured or {}),
        tuple(order.text for order in orders if order.needed or order.sampled),
        remarks or {},
    )


def _region(decision: Decision) -> Question:
    region = decision.region
    chosen = {one.name for one in decision.fetches}
    every = covers(region)
    least = decision.found.cost / MICRO
    told = tuple(
        Told(one.names, one.cost, one.weighed, "chosen")
        if {*one.names} == chosen
        else _lost(one, least)
        for one in every
    )
    graph = graph_of(JoinSpace(region.problem))
    return Question(f"how {_listed(_streams_of(decision))} the engine", told, region.refused, graph)


def _streams_of(decision: Decision) -> list[str]:
    found = decision.region.fetches.values()
    return [one.name.removesuffix(" as measured") for one in found if one.piece is None]


def _listed(names: list[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} reaches"
    return f"{', '.join(names[:-1])} and {names[-1]} reach"


def _lost(cover: Cover, least: float) -> Told:
    verdict = "lost: costs the same and comes later"
    if cover.weighed > least:
        verdict = f"lost: {cover.weighed / least:.2f} times the weighed cost"
    return Told(cover.names, cover.cost, cover.weighed, verdict)


def _streams(federated: FederatedPlan) -> list[Question]:
    found = []
    for choice in federated.choices:
        least = federated.weights.total(choice.chosen.cost)
        told = []
        for one in choice.alternatives:
            total = federated.weights.total(one.cost)
            if one is choice.chosen:
                verdict = "chosen"
            elif total == least:
                verdict = "lost: no cheaper than a shorter piece"
            else:
                verdict = f"lost: {total / least:.2f} times the weighed cost"
            told.append(Told((f"up to {_head(node_text(one.motes))}",), one.cost, total, verdict))
        node, reason = choice.refused
        refused = ((_head(node), reason),) if reason else ()
        about = f"what the motes do before they send {choice.stream} as {choice.alias}"
        found.append(Question(about, tuple(told), refused))
    return found


def _head(text: str) -> str:
    return text.split(" (", maxsplit=1)[0]


def _pieces(
    federated: FederatedPlan, fragments: Fragments, measured: Mapping[str, Cost]
) -> tuple[ExplainedPiece, ...]:
    estimates = {
        one.piece.fragment.name: one.piece.estimate
        for one in federated.pieces
        if one.piece is not None
    }
    network = [
        ExplainedPiece(
            "sensors",
            f"{one.name} every {one.period_s:g} s, {_manner(one)}",
            readable(one.replaces),
            plan_text(one.plan),
            estimates[one.name],
            measured.get(one.name),
        )
        for one in fragments.network
    ]
    streams = [
        ExplainedPiece(
            one.site, f"{one.stream} as {one.alias}", readable(one.plan), plan_text(one.plan)
        )
        for one in fragments.sensors
    ]
    engine = fragments.engine
    receives, reads = ", ".join(engine.receives) or "nothing", ", ".join(engine.reads) or "nothing"
    title = f"receives {receives}; reads {reads}"
    whole = ExplainedPiece(engine.site, title, readable(engine.plan), plan_text(engine.plan))
    return (*network, *streams, whole)


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


def as_dict(one: Explained) -> dict[str, Any]:
    """Returns an explanation as plain values, for JSON."""
    return {
        "plan": [{"depth": d, "node": node, "site": site} for d, node, site in one.tree],
        "questions": [_question(each) for each in one.questions],
        "refused": [{"what": what, "why": why} for what, why in one.refused],
        "cost": None if one.cost is None else one.cost.figures,
        "weights": asdict(one.weights),
        "pieces": [_piece(each) for each in one.pieces],
        "orders": list(one.orders),
        "remarks": dict(one.remarks),
    }


def _question(one: Question) -> dict[str, Any]:
    graph = one.graph
    return {
        "about": one.about,
        "alternatives": [
            {
                "parts": list(told.parts),
                "cost": told.cost.figures,
                "weighed": round(told.weighed, 6),
                "chosen": told.chosen,
                "verdict": told.verdict,
            }
            for told in one.alternatives
        ],
        "refused": [{"what": what, "why": why} for what, why in one.refused],
        "graph": None
        if graph is None
        else {
            "cost": graph.cost,
            "and_nodes": graph.and_nodes,
            "or_nodes": graph.or_nodes,
            "nodes": [
                {
                    "expr": node.expr,
                    "prop": node.prop,
                    "cost": node.cost,
                    "ways": [
                        {"text": way.text, "cost": way.cost, "verdict": way.verdict}
                        for way in node.ways
                    ],
                }
                for node in graph.nodes
            ],
        },
    }


def _piece(one: ExplainedPiece) -> dict[str, Any]:
    guess = one.estimate
    return {
        "site": one.site,
        "title": one.title,
        "sql": one.text,
        "plan": one.plan,
        "estimate": None
        if guess is None
        else {
            "cost": guess.cost.figures,
            "network": "measured" if guess.measured else "guessed",
            "keeps": [
                {"share": round(share.value, 6), "origin": share.origin.value}
                for share in guess.shares
            ],
            "operators": [
                {
                    "name": part.name,
                    "rows": round(part.rows, 3),
                    "bytes": round(part.size_bytes, 1),
                    "energy_mj": round(part.energy_mj, 4),
                }
                for part in guess.operators
            ],
        },
        "measured": None if one.measured is None else one.measured.figures,
    }
