"""EXPLAIN: a query's way through borders 1 to 6, as text."""

from __future__ import annotations

from collections import Counter

from aspen.algebra.explain import node_text, plan_text
from aspen.algebra.plan import Plan
from aspen.algebra.rewrite import rewrite_steps
from aspen.model.catalog import Catalog
from aspen.runtime.sharing import SharingMode, choose_sharing
from aspen.streamsql.ast import Statement
from aspen.streamsql.bind import bind
from aspen.streamsql.build import build
from aspen.streamsql.parse import parse
from aspen.streamsql.show import ast_text, bound_text
from aspen.views.choose import Known, choose_or_take
from aspen.views.operators.support.strategies import AUTO, FALLBACK, NODES
from aspen.views.operators.support.strategies import named as strategy_named
from federation.choices import Choice
from federation.deploy import deploy
from federation.place import FederatedPlan, place, sites
from federation.search import FederatedSpace, RuleSearch
from federation.search.graph_text import graph_text
from federation.split import split
from federation.statistics import Statistics


def explain(text: str, catalog: Catalog, statistics: Statistics | None = None) -> str:
    """Print what each border makes of a query.

    Args:
        text: one or more statements, each by itself over the catalog.
        statistics: rates of the streams; those the catalog declares, if None.

    Raises:
        AspenError: the query cannot be compiled; `render(text)` shows where.
    """
    pieces = [_explained(statement, catalog, statistics) for statement in parse(text)]
    return "\n".join(pieces)


def _explained(statement: Statement, catalog: Catalog, statistics: Statistics | None) -> str:
    bound = bind(statement, catalog)
    plan = build(bound.query)
    steps = rewrite_steps(plan)
    better = steps[-1].plan if steps else plan
    known = statistics or Statistics.of(catalog)
    federated = place(better, catalog, known)
    fragments = split(federated)
    orders = deploy([fragments], catalog)
    needed = "".join(f"{order.text}\n" for order in orders.orders if order.needed)
    counted = Counter(step.rule.name for step in steps)
    rules = ", ".join(f"{name} ({count})" for name, count in counted.items()) or "no rule applies"
    sections = [
        ("1 parse", ast_text(statement)),
        ("2 bind", bound_text(bound)),
        ("3 build", plan_text(plan)),
        ("4 rewrite", f"rules: {rules}\n{plan_text(better)}"),
        (
            "5 optimize",
            optimize_text(federated)
            + maintenance_text(better, known)
            + sharing_text(federated)
            + decisions_text(federated),
        ),
        ("6 split, deploy", f"{fragments.text}\n{needed}".rstrip("\n") + "\n"),
    ]
    return "\n".join(f"── {name} ──\n{body}" for name, body in sections)


def optimize_text(federated: FederatedPlan) -> str:
    """Print a federated plan: the tree with its sites, then every choice with its losers."""
    lines: list[str] = []
    for depth, node, site in sites(federated.plan):
        lines.append(f"{'  ' * depth}{node_text(node)}  @{site}")
    lines += [line for choice in federated.choices for line in _choice(choice, federated)]
    asked = federated.choices or federated.pieces
    lines.append(f"cost: {federated.cost}" if asked else "cost: no device is asked")
    return "\n".join(lines) + "\n"


def maintenance_text(plan: Plan, known: Known, named: str = AUTO) -> str:
    """Print in one line how a view of the plan is maintained, and why.

    Args:
        named: the strategy somebody asked for.

    Raises:
        UnknownStrategy: no such strategy.
    """
    chosen = choose_or_take(plan, known, named)
    strategy, _ = strategy_named(chosen.strategy)
    beyond = f"; beyond {NODES:,} annotation nodes by {FALLBACK}" if strategy.annotates else ""
    return f"maintained by {chosen.strategy}{beyond}, because {chosen.reason}\n"


def sharing_text(federated: FederatedPlan) -> str:
    """Print how a submitted query's dataflow is shared with others, and why."""
    chosen = choose_sharing(SharingMode.AUTO.value, federated.plan)
    return f"shared as: {chosen.mode.value}, because {chosen.reason}\n"


def decisions_text(federated: FederatedPlan) -> str:
    """Print the and-or graph of every region in which motes could answer epoch by epoch."""
    texts = []
    for decision in federated.decisions:
        names = ", ".join(one.alias for one in decision.region.problem.members)
        texts.append(f"search over {names}\n")
        texts.append(graph_text(RuleSearch(FederatedSpace(decision.region.problem))))
        texts += [f"  not {what}: {reason}\n" for what, reason in decision.region.refused]
    texts += [f"{what} at epochs: {reason}\n" for what, reason in federated.refused]
    return "".join(texts)


def _choice(choice: Choice, federated: FederatedPlan) -> list[str]:
    lines = [f"{choice.stream} as {choice.alias}: what runs on the motes"]
    least = federated.weights.total(choice.chosen.cost)
    for one in choice.alternatives:
        total = federated.weights.total(one.cost)
        if one is choice.chosen:
            verdict = "chosen"
        elif total == least:
            verdict = "lost: no cheaper than a shorter piece"
        else:
            verdict = f"lost: {total / least:.2f} times the weighed cost"
        top = node_text(one.motes).split(" (", maxsplit=1)[0]
        lines.append(f"  up to {top}: {one.cost}; {verdict}")
    node, reason = choice.refused
    if reason:
        lines.append(f"  not {node.split(' (', maxsplit=1)[0]}: {reason}")
    return lines
