"""The and-or graph of a search: the best plan's OR nodes, every way to each, and why it lost."""

from __future__ import annotations

from dataclasses import dataclass

from federation.search.bottom_up import Best, best_ways, cost_of
from federation.search.joins import MICRO
from federation.search.space import And, Node, PlanTree, Space, unfold


@dataclass(frozen=True, slots=True)
class Way:
    """An AND node.

    Args:
        cost: weighed, with what it stands on; None if nothing comes from below.
        verdict: `chosen`, or `lost: …` with why.
    """

    text: str
    cost: float | None
    verdict: str


@dataclass(frozen=True, slots=True)
class OrNode:
    """Relations with a property they must have, and every way to it, the cheapest first."""

    expr: str
    prop: str
    cost: float
    ways: tuple[Way, ...]


@dataclass(frozen=True, slots=True)
class SearchGraph:
    """What a search looked at.

    Args:
        and_nodes: how many were costed.
        or_nodes: how many were looked at.
        nodes: those of the best plan, from the goal down.
    """

    cost: float
    and_nodes: int
    or_nodes: int
    nodes: tuple[OrNode, ...]

    @property
    def text(self) -> str:
        """Print it."""
        least = f"the least of {self.and_nodes} AND nodes under {self.or_nodes} OR nodes"
        lines = [f"joins: {self.cost:.6f} weighed, {least}"]
        for node in self.nodes:
            lines.append(f"  {node.expr} {node.prop}: {node.cost:.6f}")
            for way in node.ways:
                cost = "" if way.cost is None else f" {way.cost:.6f};"
                lines.append(f"    {way.text}:{cost} {way.verdict}")
        return "\n".join(lines) + "\n"


def graph_of(space: Space) -> SearchGraph:
    """Returns what a search from the goal down looks at.

    Raises:
        NoPlan: the goal cannot be reached.
    """
    best = best_ways(space)
    plan = unfold(space.goal, best)
    wanted = _wanted(space)
    costed = sum(
        cost_of(space, way, best) is not None for found in wanted.values() for way in found
    )
    nodes: dict[Node, OrNode] = {}
    for tree in _downwards(plan):
        if tree.way.node not in nodes:
            found = _ways(space, tree, wanted[tree.way.node], best)
            nodes[tree.way.node] = OrNode(*tree.way.node, tree.cost / MICRO, found)
    return SearchGraph(plan.cost / MICRO, costed, len(wanted), tuple(nodes.values()))


def _wanted(space: Space) -> dict[Node, tuple[And, ...]]:
    """Returns the ways to every OR node that the goal may stand on."""
    found: dict[Node, tuple[And, ...]] = {}
    waiting = [space.goal]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found[node] = space.ways(node)
            waiting += [child for way in found[node] for child in way.children]
    return found


def _downwards(tree: PlanTree) -> list[PlanTree]:
    return [tree, *(below for child in tree.children for below in _downwards(child))]


def _ways(space: Space, tree: PlanTree, every: tuple[And, ...], best: Best) -> tuple[Way, ...]:
    costs = {way: cost_of(space, way, best) for way in every}
    described = []
    for cost, way in sorted((cost, way) for way, cost in costs.items() if cost is not None):
        if way == tree.way:
            verdict = "chosen"
        elif cost == tree.cost:
            verdict = "lost: costs the same and comes later"
        else:
            verdict = f"lost: {(cost - tree.cost) / MICRO:.6f} more"
        described.append(Way(_named(way), cost / MICRO, verdict))
    dead = [way for way, cost in costs.items() if cost is None]
    return *described, *(Way(_named(way), None, "lost: nothing comes from below") for way in dead)


def _named(way: And) -> str:
    if way.log == "fetch":
        return f"fetch {way.phy}"
    below = " with ".join(f"{expr} {prop}" for expr, prop in way.children)
    return f"{way.log} {way.phy} of {below}" if below else f"{way.log} {way.phy}"
