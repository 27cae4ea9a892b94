"""Border 5: plan → federated plan. Every node gets a site, every border a Ship.

For each device stream the motes may run a longer or shorter piece of the chain of selections
above its scan. Every sound cut is an alternative; the cheapest wins, the others are kept for
EXPLAIN.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce

from aspen.algebra.explain import node_text
from aspen.algebra.expr import Expr
from aspen.algebra.plan import Filter, Plan, Project, Scan, Ship, children, with_children
from aspen.model.catalog import Catalog
from federation.cost import Cost, Weights, in_network
from federation.sites import Accepted, Engine, SensorNetwork, Site
from federation.statistics import Statistics

Path = tuple[int, ...]
"""Where a node stands in a plan: the child taken at each step from the root."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """One sound place for the border between motes and engine.

    Args:
        cut: nodes of the chain that run on the motes, the scan counted.
        motes: what runs there.
        remainder: predicate the engine checks right behind the border, None if there is none.
        cost: of bringing the stream to the engine this way.
    """

    cut: int
    motes: Plan
    remainder: Expr | None
    cost: Cost


@dataclass(frozen=True, slots=True)
class Choice:
    """What was decided for one device stream.

    Args:
        path: where its scan stands in the logical plan.
        alternatives: all sound ones, the shortest cut first.
        chosen: the one taken.
        refused: the first node above the longest cut, and why it cannot run on the motes.
    """

    stream: str
    alias: str
    path: Path
    alternatives: tuple[Alternative, ...]
    chosen: Alternative
    refused: tuple[str, str]


@dataclass(frozen=True, slots=True)
class FederatedPlan:
    """A plan with a Ship at each border.

    Law: `strip_ships(plan)` has the rows of the logical plan, over all data; it differs only
    where a selection was parted between two sites.
    """

    plan: Plan
    choices: tuple[Choice, ...]
    cost: Cost
    weights: Weights = field(default_factory=Weights)


def place(
    plan: Plan,
    catalog: Catalog,
    statistics: Statistics | None = None,
    weights: Weights | None = None,
    sensors: Site | None = None,
) -> FederatedPlan:
    """Decide where each node runs.

    Args:
        plan: logical, rewritten.
        catalog: says which streams come from devices.
        statistics: rates; those the catalog declares, if None.
        weights: what the optimizer minimises.
        sensors: the sensor network's capabilities.

    Law: the cost is the least of all sound alternatives; the same arguments give the same plan.
    """
    known = statistics or Statistics.of(catalog)
    weighing = weights or Weights()
    network = sensors or SensorNetwork()
    engine = Engine()
    choices: list[Choice] = []
    for path, scan in device_scans(plan, catalog):
        chain, refused = sound_chain(plan, path, network)
        found = tuple(
            Alternative(cut, one.node, one.remainder, in_network(one.node, scan.relation, known))
            for cut, one in enumerate(chain, start=1)
        )
        chosen = min(found, key=lambda one: (weighing.total(one.cost), one.cut))
        choices.append(Choice(scan.relation, scan.alias, path, found, chosen, refused))
    placed = plan
    for choice in choices:
        border = choice.path[: len(choice.path) - choice.chosen.cut + 1]
        shipped: Plan = Ship(choice.chosen.motes, network.name, engine.name)
        if choice.chosen.remainder is not None:
            shipped = Filter(shipped, choice.chosen.remainder)
        placed = _replaced(placed, border, shipped)
    cost = reduce(Cost.beside, (choice.chosen.cost for choice in choices), Cost())
    return FederatedPlan(placed, tuple(choices), cost, weighing)


def device_scans(plan: Plan, catalog: Catalog, path: Path = ()) -> Iterator[tuple[Path, Scan]]:
    """Give the scans of streams that devices measure, and where they stand."""
    if isinstance(plan, Scan):
        if plan.stream and plan.relation in catalog and catalog.get(plan.relation).device:
            yield path, plan
        return
    for index, child in enumerate(children(plan)):
        yield from device_scans(child, catalog, (*path, index))


def node_at(plan: Plan, path: Path) -> Plan:
    """Give the node at a path."""
    return reduce(lambda node, index: children(node)[index], path, plan)


def sound_chain(plan: Plan, path: Path, network: Site) -> tuple[list[Accepted], tuple[str, str]]:
    """Give what the network accepts from a scan upwards, and what stops it.

    Only selections and projections are asked for: what keeps state (a ROWS window!) sees rows
    that a selection above it must not have taken away.

    Returns:
        The chain, the scan first; then the text of the node that ends it and the reason.
    """
    chain = [Accepted(node_at(plan, path))]
    for length in range(len(path) - 1, -1, -1):
        node = node_at(plan, path[:length])
        accepted = network.accept(node) if isinstance(node, Filter | Project) else None
        if accepted is not None:
            chain.append(accepted)
        if accepted is None or accepted.remainder is not None:
            return chain, (node_text(node), network.refusal(node))
    return chain, ("", "")


def _replaced(plan: Plan, path: Path, new: Plan) -> Plan:
    if not path:
        return new
    inputs = list(children(plan))
    inputs[path[0]] = _replaced(inputs[path[0]], path[1:], new)
    return with_children(plan, tuple(inputs))


def strip_ships(plan: Plan) -> Plan:
    """Give a federated plan without its borders."""
    if isinstance(plan, Ship):
        return strip_ships(plan.child)
    return with_children(plan, tuple(strip_ships(child) for child in children(plan)))


def sites(plan: Plan, site: str = "engine") -> Iterator[tuple[int, Plan, str]]:
    """Give every node with its depth and its site, from the root down."""
    stack: list[tuple[int, Plan, str]] = [(0, plan, site)]
    while stack:
        depth, node, here = stack.pop()
        yield depth, node, here
        below = node.source if isinstance(node, Ship) else here
        stack.extend((depth + 1, child, below) for child in reversed(children(node)))
