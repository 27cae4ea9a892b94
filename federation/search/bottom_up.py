"""Bottom-up search: System R's dynamic programming over sets of relations and properties.

Law:    the least cost of the goal, and among plans of that cost the first.
Source: [Selinger et al., SIGMOD 1979].
"""

from __future__ import annotations

from federation.search.space import And, Answer, Node, Space, fn_sum, own_cost, unfold, ways


def bottom_up(space: Space) -> Answer:
    """Cost every OR node that may be asked for, the smaller sets first.

    Raises:
        NoPlan: the goal cannot be reached.
    """
    best: dict[Node, tuple[int, And]] = {}
    costed = seen = 0
    for node in space.upwards():
        seen += 1
        for way in ways(space, node):
            below = [best[child][0] for child in way.children if child in best]
            if len(below) < len(way.children):
                continue
            costed += 1
            found = (fn_sum(*below, own_cost(space, way)), way)
            if node not in best or found < best[node]:
                best[node] = found
    plan = unfold(space.goal, best)
    return Answer(plan.cost, plan, costed, seen)
