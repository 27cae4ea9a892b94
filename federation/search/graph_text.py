"""The and-or graph as text: the best plan, and what lost at its OR nodes and why."""

from __future__ import annotations

from federation.search.by_rules import RuleSearch
from federation.search.costs import MICRO
from federation.search.space import And, Answer, Node, PlanTree, fn_sum, own_cost, ways


def graph_text(search: RuleSearch) -> str:
    """Print the best plan's OR nodes with every way to them.

    Raises:
        NoPlan: the goal cannot be reached.
    """
    answer = search.answer()
    costs = search.costs
    lines = [_head(answer)]
    told: set[Node] = set()
    for tree in _upside(answer.plan):
        if tree.way.node in told:
            continue
        told.add(tree.way.node)
        lines.append(f"  {tree.way.expr} {tree.way.prop}: {_number(tree.cost)}")
        lines += [f"    {line}" for line in _ways(search, tree, costs)]
    return "\n".join(lines) + "\n"


def _head(answer: Answer) -> str:
    return (
        f"joins: {_number(answer.cost)} weighed, the least of {answer.costed} AND nodes"
        f" under {answer.seen} OR nodes"
    )


def _upside(tree: PlanTree) -> list[PlanTree]:
    return [tree, *(below for child in tree.children for below in _upside(child))]


def _ways(search: RuleSearch, tree: PlanTree, costs: dict[Node, int]) -> list[str]:
    found: list[tuple[int, And]] = []
    dead: list[str] = []
    for way in ways(search.space, tree.way.node):
        below = [costs[child] for child in way.children if child in costs]
        if len(below) == len(way.children):
            found.append((fn_sum(*below, own_cost(search.space, way)), way))
        else:
            dead.append(f"{_named(way)}: lost: nothing comes from below")
    lines = []
    for cost, way in sorted(found):
        if way == tree.way:
            verdict = "chosen"
        elif cost == tree.cost:
            verdict = "lost: costs the same and comes later"
        else:
            verdict = f"lost: {_number(cost - tree.cost)} more"
        lines.append(f"{_named(way)}: {_number(cost)}; {verdict}")
    return lines + dead


def _named(way: And) -> str:
    below = " with ".join(f"{expr} {prop}" for expr, prop in way.children)
    return f"{way.log} {way.phy} of {below}" if below else f"{way.log} {way.phy}"


def _number(cost: int) -> str:
    return f"{cost / MICRO:.6f}"
