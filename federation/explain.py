"""EXPLAIN: a query's way through borders 1 to 6, as text and as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import Plan, Scan, nodes
from aspen.algebra.rewrite import flat, rewrite_steps
from aspen.model.catalog import Catalog
from aspen.runtime.sharing import SharingMode, choose_sharing
from aspen.streamsql.bind import bind
from aspen.streamsql.show import statement_text
from aspen.streamsql.statement import Statement
from aspen.views.choose import KnownCounts, choose
from aspen.views.choose_joins import choose_joins
from aspen.views.compile_joins import DELTA, WORST_CASE_OPTIMAL
from aspen.views.operators.support.absorption import FALLBACK
from aspen.views.operators.support.strategies import NODES
from aspen.views.operators.support.strategies import named as strategy_named
from federation.cost import Cost, Weights
from federation.explained import Explained, ExplainedPiece, Question, explained, plain
from federation.placement import FederatedPlan, assign_sites
from federation.sites import SensorSite
from federation.split import split
from federation.statistics import Statistics

MOST_LINES = 12  # alternatives printed of one question


@dataclass(frozen=True)
class Assumed:
    """What an explanation assumes; each None for the optimizer's own default.

    Args:
        statistics: rates of the streams; those the catalog declares, if None.
        measured: what running fragments take, by name.
    """

    statistics: Statistics | None = None
    weights: Weights | None = None
    sensors: SensorSite | None = None
    measured: Mapping[str, Cost] = field(default_factory=dict)


class Journey:
    """One statement on its way."""

    def __init__(self, statement: Statement, catalog: Catalog, assumed: Assumed) -> None:
        bound = bind(statement, catalog)
        plan = flat(bound.plan)
        steps = rewrite_steps(plan)
        better = steps[-1].plan if steps else plan
        known = assumed.statistics or Statistics.of(catalog)
        federated = assign_sites(better, catalog, known, assumed.weights, assumed.sensors)
        counted = Counter(step.rule.name for step in steps)
        rules = ", ".join(f"{name} ({count})" for name, count in counted.items())
        self._early = {
            "1 parse": statement_text(statement),
            "2 bind": bound.text,
            "3 build": plan_text(plan),
            "4 rewrite": f"rules: {rules or 'no rule applies'}\n{plan_text(better)}",
        }
        remarks = {
            "maintained": maintenance_text(better, known),
            "joined": joins_text(better, known, catalog),
            "shared": sharing_text(federated),
        }
        remarks = {heading: text for heading, text in remarks.items() if text}
        self._found = explained(federated, split(federated), catalog, assumed.measured, remarks)

    @property
    def text(self) -> str:
        """All six borders."""
        found = self._found
        graphs = [f"search: {one.about}\n{one.graph.text}" for one in found.questions if one.graph]
        five = found_text(found) + "".join(found.remarks.values()) + "".join(graphs)
        sections = {**self._early, "5 optimize": five, "6 split, deploy": pieces_text(found)}
        return "\n".join(f"── {name} ──\n{body}" for name, body in sections.items())

    @property
    def data(self) -> dict[str, Any]:
        """The same as plain values; borders 1 to 4 as text."""
        return {"borders": self._early, **plain(self._found)}


def found_text(found: Explained) -> str:
    """Print the tree with its sites, then every choice with its losers."""
    lines = [f"{'  ' * depth}{node}  @{site}" for depth, node, site in found.plan]
    for question in found.questions:
        lines += _question(question)
    lines += [f"{what} never at epochs: {why}" for what, why in found.refused]
    lines.append("cost: no device is asked" if found.cost is None else f"cost: {found.cost}")
    return "\n".join(lines) + "\n"


def pieces_text(found: Explained) -> str:
    """Print what each site runs, as StreamSQL, and what the devices are told."""
    texts = [_piece(one) for one in found.pieces]
    return "\n".join([*texts, "".join(f"{order}\n" for order in found.orders)]).rstrip("\n") + "\n"


def maintenance_text(plan: Plan, known: KnownCounts) -> str:
    """Print in one line how a view of the plan is maintained, and why."""
    chosen = choose(plan, known)
    strategy, _ = strategy_named(chosen.strategy)
    beyond = f"; beyond {NODES:,} annotation nodes by {FALLBACK}" if strategy.annotates else ""
    return f"maintained by {chosen.strategy}{beyond}, because {chosen.reason}\n"


def joins_text(plan: Plan, known: KnownCounts, catalog: Catalog) -> str:
    """Print how each nest of joins in a plan is made, and why; two inputs leave no choice."""
    lines: list[str] = []
    for join, chosen in choose_joins(plan, known, catalog.relations).items():
        scans = (node for node in nodes(join) if isinstance(node, Scan))
        names = ", ".join(dict.fromkeys(scan.alias for scan in scans))
        lines.append(f"{names} joined {_JOINED[chosen.how]}, because {chosen.reason}\n")
    return "".join(lines)


_JOINED = {
    None: "in pairs",
    DELTA: "row by row, all at once",
    WORST_CASE_OPTIMAL: "value by value, all at once",
}


def sharing_text(federated: FederatedPlan) -> str:
    """Print how a submitted query's dataflow is shared with others, and why."""
    chosen = choose_sharing(SharingMode.AUTO.value, federated.plan)
    return f"shared as: {chosen.mode.value}, because {chosen.reason}\n"


def _question(question: Question) -> list[str]:
    lines = [question.about]
    for one in question.alternatives[:MOST_LINES]:
        parts = " + ".join(one.parts)
        lines.append(f"  {parts}: {one.weighed:.4f} weighed, {one.cost}; {one.verdict}")
    more = len(question.alternatives) - MOST_LINES
    if more > 0:
        lines.append(f"  and {more} dearer")
    return [*lines, *(f"  not {what}: {why}" for what, why in question.refused)]


def _piece(one: ExplainedPiece) -> str:
    lines = [f"{one.site}: {one.title}", *(f"  {line}" for line in one.sql.splitlines())]
    if one.estimate is not None:
        lines += [f"  expected: {line.strip()}" for line in str(one.estimate).splitlines()]
    if one.measured is not None:
        lines.append(f"  measured: {one.measured}")
    return "\n".join(lines) + "\n"
