"""Top-down search: Volcano's memo with branch and bound.

Law:    the least cost of the goal, and among plans of that cost the first. A plan is dropped
        only if it costs *more* than its bound: at the bound it may be the one.
Source: [Graefe and McKenna, ICDE 1993].
"""

from __future__ import annotations

from federation.search.space import And, Node, NoPlan, PlanTree, Space, unfold


class _Memo:
    """The OR nodes solved so far, and up to which bound the others have no plan."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.best: dict[Node, tuple[int, And]] = {}
        self.without: dict[Node, float] = {}
        self.ways: dict[Node, tuple[And, ...]] = {}
        self.costs: dict[And, int] = {}

    def solve(self, node: Node, bound: float) -> float | None:
        """Returns the node's least cost if it is within the bound."""
        if node in self.best:
            cost = self.best[node][0]
            return cost if cost <= bound else None
        if bound <= self.without.get(node, -1):
            return None
        if node not in self.ways:
            self.ways[node] = self.space.ways(node)
        within = bound
        found: tuple[int, And] | None = None
        for way in self.ways[node]:
            total = self._way(way, within)
            # Ways come in order, so that of equal ones the first stays.
            if total is not None and (found is None or total < found[0]):
                found = (total, way)
                within = total
        if found is None:
            self.without[node] = bound
            return None
        self.best[node] = found
        return found[0]

    def _way(self, way: And, bound: float) -> int | None:
        if way not in self.costs:
            self.costs[way] = self.space.cost(way)
        total = self.costs[way]
        for child in way.children:
            if total > bound or self.solve(child, bound - total) is None:
                return None
            total += self.best[child][0]
        return total if total <= bound else None


def top_down(space: Space) -> PlanTree:
    """Search from the goal downwards, within what the best plan so far leaves.

    Raises:
        NoPlan: the goal cannot be reached.
    """
    memo = _Memo(space)
    if memo.solve(space.goal, float("inf")) is None:
        raise NoPlan("no plan brings the answer there", found=" ".join(space.goal))
    return unfold(space.goal, memo.best)
