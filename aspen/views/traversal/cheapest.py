"""Cheapest: the least cost at which each invariant value reaches each vertex, each by one edge.

    origin ──3──► a ──1──► b          a deleted edge takes away the costs that came along it, and
      └─────5─────────────►           onwards; each looks at what else enters its vertex, and the
                                      cheapest go first (Dijkstra), so that each settles once.

Algorithm:  G. Ramalingam, T. Reps, "An incremental algorithm for a generalization of the
            shortest-path problem" (1996), for many sources at once; own: one edge per row is kept
            instead of all tight ones, so that lengths may be zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush
from typing import Any

from aspen.algebra.whole import fits, refuse
from aspen.views.node import EndlessRecursion
from aspen.views.traversal.graph import Graph
from aspen.views.traversal.names import BLOCK, SHIFT, Begun, Costing, members, offset_of
from aspen.views.work import AT_ONCE, RECURSION, Meter

ROOT = -1
"""Stands for an edge where a row is a base row."""

_RESETTLES = 16
"""Settlements per row and epoch before traversals count as endless; Dijkstra needs 1."""

Heap = list[tuple[Any, int, int]]


class Cheapest:
    """The costs of one layer.

    Args:
        graph: its edges, with lengths.
        adds: whether lengths add up; otherwise a path costs as much as its greatest.
    """

    def __init__(self, graph: Graph, meter: Meter, *, adds: bool = True) -> None:
        self.graph = graph
        self._meter = meter
        self._adds = adds
        self.costs: dict[int, dict[int, Any]] = {}
        self._by: dict[int, dict[int, int]] = {}
        self.base: dict[int, dict[int, list[Any]]] = {}
        # By edge, who came along it; by vertex, who is rooted there.
        self._tree = _Members()
        self._rooted = _Members()
        self._before: dict[int, dict[int, Any]] = {}
        self._budget = 0

    def begin(self, invariant: int, vertex: int, cost: Any) -> None:
        """Add a row that needs no edge."""
        self.base.setdefault(invariant, {}).setdefault(vertex, []).append(cost)

    def load(self) -> None:
        """Reach whatever can be reached, from nothing."""
        for invariant, begun in self.base.items():
            heap = [(min(costs), vertex, ROOT) for vertex, costs in begun.items()]
            heapify(heap)
            self._budget = _RESETTLES * len(self.graph.entering) + 10_000
            self._settle(invariant, heap)
            self._before.clear()

    def change(
        self,
        gone: Iterable[int],
        born: Iterable[int],
        ended: Iterable[Begun],
        begun: Iterable[Begun],
    ) -> None:
        """Take in one epoch; the arguments are those of `Forest.change`."""
        heaps: dict[int, Heap] = {}
        edges = self.graph.edges
        for invariant, vertices in self._lost(gone, ended).items():
            heaps[invariant] = self._fall(invariant, vertices)
        for invariant, vertex, cost in begun:
            heaps.setdefault(invariant, []).append((cost, vertex, ROOT))
        for invariant, heap in heaps.items():
            self._look_around(invariant, heap)
        for number in born:
            start, end, length = edges.starts[number], edges.ends[number], edges.lengths[number]
            for invariant in self._invariant_at(start):
                costs = self.costs[invariant]
                cost = self._onwards(costs[start], length)
                known = costs.get(end)
                if known is None or cost < known:
                    heaps.setdefault(invariant, []).append((cost, end, number))
        for invariant, heap in heaps.items():
            heapify(heap)
            self._budget = _RESETTLES * len(self.graph.entering) + 10_000
            self._settle(invariant, heap)

    def rows(self) -> Iterator[Costing]:
        """Returns all rows."""
        return (Costing(invariant, costs) for invariant, costs in self.costs.items())

    def count(self) -> int:
        """Count the rows."""
        return sum(map(len, self.costs.values()))

    def row(self, invariant: int, vertex: int) -> Costing:
        """Returns a row that is there."""
        return Costing(invariant, {vertex: self.costs[invariant][vertex]})

    def ways(self, invariant: int, vertex: int, cost: Any) -> list[int]:
        """Returns the edges by which a row can be reached at its cost."""
        costs, lengths = self.costs[invariant], self.graph.edges.lengths
        return [
            number
            for number, start in self.graph.enters(vertex).items()
            if start in costs and self._onwards(costs[start], lengths[number]) == cost
        ]

    def minus(self) -> Iterator[Costing]:
        """Returns the rows that went in this epoch."""
        for invariant, before in self._before.items():
            costs = self.costs[invariant]
            yield Costing(
                invariant,
                {
                    vertex: cost
                    for vertex, cost in before.items()
                    if cost is not None and costs.get(vertex) != cost
                },
            )

    def plus(self) -> Iterator[Costing]:
        """Returns the rows that came."""
        for invariant, before in self._before.items():
            costs = self.costs[invariant]
            yield Costing(
                invariant,
                {
                    vertex: costs[vertex]
                    for vertex, cost in before.items()
                    if vertex in costs and costs[vertex] != cost
                },
            )

    def end(self) -> None:
        """Forget the epoch."""
        for invariant in self._before:
            if not self.costs[invariant]:
                del self.costs[invariant], self._by[invariant]
        self._before.clear()

    def begins(self, invariant: int, vertex: int, cost: Any) -> bool:
        """Whether a row is a base row."""
        return cost in self.base.get(invariant, {}).get(vertex, ())

    def parent(self, invariant: int, vertex: int) -> int | None:
        """Returns the edge a row was reached by, None for a root."""
        number = self._by[invariant][vertex]
        return None if number == ROOT else number

    def _lost(self, gone: Iterable[int], ended: Iterable[Begun]) -> dict[int, list[int]]:
        """Returns the vertices that lost what they were reached by, per invariant value."""
        lost: dict[int, list[int]] = {}
        for number in gone:
            vertex = self.graph.edges.ends[number]
            for invariant in self._tree.of(number):
                lost.setdefault(invariant, []).append(vertex)
        for invariant, vertex, cost in ended:
            begun = self.base[invariant]
            begun[vertex].remove(cost)
            if not begun[vertex]:
                del begun[vertex]
                if not begun:
                    del self.base[invariant]
            if self._by[invariant][vertex] == ROOT and self.costs[invariant][vertex] == cost:
                lost.setdefault(invariant, []).append(vertex)
        return lost

    def _fall(self, invariant: int, vertices: list[int]) -> Heap:
        """Take rows away, and those that were reached through them; note them in `_before`.

        Returns:
            A candidate of no cost per vertex that fell, to be looked around from.
        """
        costs, by, leaving = self.costs[invariant], self._by[invariant], self.graph.leaving
        before = self._before.setdefault(invariant, {})
        fallen: Heap = []
        stack = vertices
        while stack:
            vertex = stack.pop()
            if vertex not in costs:
                continue
            self._unlink(invariant, vertex, by.pop(vertex))
            before.setdefault(vertex, costs.pop(vertex))
            fallen.append((None, vertex, ROOT))
            for number, (end, _) in leaving.get(vertex, _NOTHING).items():
                if by.get(end) == number:
                    stack.append(end)
        return fallen

    def _look_around(self, invariant: int, heap: Heap) -> None:
        """Replace each vertex that fell by its cheapest candidate among the ways that stand."""
        costs = self.costs.get(invariant, _NOTHING)
        begun = self.base.get(invariant, _NOTHING)
        lengths = self.graph.edges.lengths
        found: Heap = []
        for cost, vertex, number in heap:
            if cost is not None:
                found.append((cost, vertex, number))
                continue
            if vertex in begun:
                found.append((min(begun[vertex]), vertex, ROOT))
            ways = [
                (self._onwards(costs[start], lengths[number]), vertex, number)
                for number, start in self.graph.enters(vertex).items()
                if start in costs
            ]
            if ways:
                found.append(min(ways))
        heap[:] = found

    def _settle(self, invariant: int, heap: Heap) -> None:
        """Settle candidates, cheapest first, and what they lead to."""
        costs = self.costs.setdefault(invariant, {})
        by = self._by.setdefault(invariant, {})
        before, leaving = self._before.setdefault(invariant, {}), self.graph.leaving
        adds = self._adds
        tree, offset, bit = self._tree.bits, *offset_of(invariant)
        further_block = self._tree.reach if offset else None
        reached = 0
        while heap:
            cost, vertex, number = heappop(heap)
            known = costs.get(vertex)
            if cost - cost != 0:
                continue  # a sum that is not finite is null, and never competes
            if known is not None:
                if known <= cost:
                    continue
                self._unlink(invariant, vertex, by[vertex])
            if cost.__class__ is int and not fits(cost):
                refuse("=", "a cost of the recursion", cost)
            before.setdefault(vertex, known)
            costs[vertex] = cost
            by[vertex] = number
            if number == ROOT:
                self._rooted.add(vertex, invariant)
            else:
                tree[offset | number] = tree.get(offset | number, 0) | bit
                if further_block is not None:
                    further_block(number, offset)
            reached += 1
            if reached > AT_ONCE:
                self._meter.spend(reached, RECURSION)
                reached = 0
            self._budget -= 1
            if not self._budget:
                raise EndlessRecursion(
                    "costs of the recursion fall without end",
                    attempt="every step must add to a minimised cost, never take from it",
                )
            for onwards, (end, length) in leaving.get(vertex, _NOTHING).items():
                further = cost + length if adds else max(cost, length)
                known = costs.get(end)
                if known is None or further < known:
                    heappush(heap, (further, end, onwards))
        self._meter.spend(reached, RECURSION)

    def _onwards(self, cost: Any, length: Any) -> Any:
        return cost + length if self._adds else max(cost, length)

    def _unlink(self, invariant: int, vertex: int, number: int) -> None:
        if number == ROOT:
            self._rooted.discard(vertex, invariant)
        else:
            self._tree.discard(number, invariant)

    def _invariant_at(self, vertex: int) -> list[int]:
        """Returns the invariant values that reach a vertex: each by an edge, or as a root."""
        found = self._rooted.of(vertex)
        for number in self.graph.enters(vertex):
            found += self._tree.of(number)
        return found


class _Members:
    """Sets of invariant values, by the number of an edge or vertex."""

    def __init__(self) -> None:
        self.bits: dict[int, int] = {}
        # Offsets of blocks beyond the first.
        self._further: dict[int, set[int]] = {}

    def reach(self, number: int, offset: int) -> None:
        """Note that a set has members in a further block."""
        self._further.setdefault(number, set()).add(offset)

    def add(self, number: int, invariant: int) -> None:
        """Add one to a set."""
        offset, bit = offset_of(invariant)
        if offset:
            self.reach(number, offset)
        self.bits[offset | number] = self.bits.get(offset | number, 0) | bit

    def discard(self, number: int, invariant: int) -> None:
        """Take one out of a set that has it."""
        offset, bit = offset_of(invariant)
        left = self.bits[offset | number] ^ bit
        if left:
            self.bits[offset | number] = left
            return
        del self.bits[offset | number]
        if offset:
            self._further[number].discard(offset)
            if not self._further[number]:
                del self._further[number]

    def of(self, number: int) -> list[int]:
        """Returns a set."""
        found = members(self.bits.get(number, 0))
        for offset in self._further.get(number, ()):
            first = (offset >> SHIFT) * BLOCK
            found += [first + bit for bit in members(self.bits[offset | number])]
        return found


_NOTHING: dict[int, Any] = {}
