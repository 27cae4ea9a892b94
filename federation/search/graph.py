"""The and-or graph of a search: the best plan's OR nodes, every way to each, and why it lost."""

from __future__ import annotations

from dataclasses import dataclass

from federation.search.by_rules import RuleSearch
from federation.search.costs import MICRO
from federation.search.space import And, Node, PlanTree, fn_sum, own_cost, ways


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
class Graph:
    """What a search looked at.

    Args:
        costed: AND nodes whose cost was computed.
        seen: OR nodes looked at.
        nodes: those of the best plan, from the goal down.
    """

    cost: float
    costed: int
    seen: int
    nodes: tuple[OrNode, ...]

    @property
    def text(self) -> str:
        """Print it."""
        least = f"the least of {self.costed} AND nodes under {self.seen} OR nodes"
        lines = [f"joins: {self.cost:.6f} weighed, {least}"]
        for node in self.nodes:
            lines.append(f"  {node.expr} {node.prop}: {node.cost:.6f}")
            for way in node.ways:
                cost = "" if way.cost is None else f" {way.cost:.6f};"
                lines.append(f"    {way.text}:{cost} {way.verdict}")
        return "\n".join(lines) + "\n"


def graph_of(search: RuleSearch) -> Graph:
    """Returns the graph of a search.

    Raises:
        NoPlan: the goal cannot be reached.
    """
    answer = search.answer()
    costs = search.costs
    told: dict[Node, OrNode] = {}
    for tree in _upside(answer.plan):
        if tree.way.node not in told:
            found = tuple(_ways(search, tree, costs))
            expr, prop = tree.way.node
            told[tree.way.node] = OrNode(expr, prop, tree.cost / MICRO, found)
    return Graph(answer.cost / MICRO, answer.costed, answer.seen, tuple(told.values()))


def _upside(tree: PlanTree) -> list[PlanTree]:
    return [tree, *(below for child in tree.children for below in _upside(child))]


def _ways(search: RuleSearch, tree: PlanTree, costs: dict[Node, int]) -> list[Way]:
    found: list[tuple[int, And]] = []
    dead: list[Way] = []
    for way in ways(search.space, tree.way.node):
        below = [costs[child] for child in way.children if child in costs]
        if len(below) == len(way.children):
            found.append((fn_sum(*below, own_cost(search.space, way)), way))
        else:
            dead.append(Way(_named(way), None, "lost: nothing comes from below"))
    told = []
    for cost, way in sorted(found):
        if way == tree.way:
            verdict = "chosen"
        elif cost == tree.cost:
            verdict = "lost: costs the same and comes later"
        else:
            verdict = f"lost: {(cost - tree.cost) / MICRO:.6f} more"
        told.append(Way(_named(way), cost / MICRO, verdict))
    return told + dead


def _named(way: And) -> str:
    if way.log == "fetch":
        return f"fetch {way.phy}"
    below = " with ".join(f"{expr} {prop}" for expr, prop in way.children)
    return f"{way.log} {way.phy} of {below}" if below else f"{way.log} {way.phy}"
