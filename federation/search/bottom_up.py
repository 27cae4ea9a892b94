"""Bottom-up search: System R's dynamic programming over sets of relations and properties.

Law:    the least cost of the goal, and among plans of that cost the first.
Source: [Selinger et al., SIGMOD 1979].
"""

from __future__ import annotations

from federation.search.space import And, Node, PlanTree, Space, unfold

Best = dict[Node, tuple[int, And]]
"""The least cost of every OR node that has a plan, and the first way to it."""


def bottom_up(space: Space) -> PlanTree:
    """Searches for the cheapest plan.

    Raises:
        NoPlan: the goal cannot be reached.
    """
    return unfold(space.goal, best_ways(space))


def best_ways(space: Space) -> Best:
    """Costs every OR node that may be asked for, the smaller sets first."""
    best: Best = {}
    for node in space.upwards():
        for way in space.ways(node):
            cost = cost_of(space, way, best)
            if cost is not None and (node not in best or (cost, way) < best[node]):
                best[node] = cost, way
    return best


def cost_of(space: Space, way: And, best: Best) -> int | None:
    """Returns a way's cost with its children's; None where a child has no plan."""
    below = [best[child][0] for child in way.children if child in best]
    if len(below) < len(way.children):
        return None
    return space.cost(way) + sum(below)
