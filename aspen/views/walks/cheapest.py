"""Cheapest: the least cost at which each carried value reaches each place, each by one edge.

    origin ──3──► a ──1──► b          a deleted edge takes away the costs that came along it, and
      └─────5─────────────►           onwards; each looks at what else enters its place, and the
                                      cheapest go first (Dijkstra), so that each settles once.

Algorithm:  G. Ramalingam, T. Reps, "An incremental algorithm for a generalization of the
            shortest-path problem" (1996), for many sources at once; own: one edge per row is kept
            instead of all tight ones, so that lengths may be zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush
from typing import Any

from aspen.views.operators.fixpoint import EndlessRecursion
from aspen.views.walks.graph import Graph
from aspen.views.walks.names import BLOCK, SHIFT, Begun, Costing, members, offset_of

ROOT = -1
"""Stands for an edge where a row is a base row."""

_RESETTLES = 16
"""Settlements per row and epoch before walks count as endless; Dijkstra needs 1."""

Heap = list[tuple[Any, int, int]]


class Cheapest:
    """The costs of one layer.

    Args:
        graph: its edges, with lengths.
        adds: whether lengths add up; otherwise a walk costs as much as its greatest.
    """

    def __init__(self, graph: Graph, *, adds: bool = True) -> None:
        self.graph = graph
        self._adds = adds
        self.costs: dict[int, dict[int, Any]] = {}
        self._by: dict[int, dict[int, int]] = {}
        self.base: dict[int, dict[int, list[Any]]] = {}
        # By edge, who came along it; by place, who is rooted there.
        self._tree = _Carried()
        self._rooted = _Carried()
        self._before: dict[int, dict[int, Any]] = {}
        self._budget = 0

    def begin(self, carried: int, place: int, cost: Any) -> None:
        """Add a row that needs no edge."""
        self.base.setdefault(carried, {}).setdefault(place, []).append(cost)

    def load(self) -> None:
        """Reach whatever can be reached, from nothing."""
        for carried, begun in self.base.items():
            heap = [(min(costs), place, ROOT) for place, costs in begun.items()]
            heapify(heap)
            self._budget = _RESETTLES * len(self.graph.entering) + 10_000
            self._settle(carried, heap)
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
        for carried, places in self._lost(gone, ended).items():
            heaps[carried] = self._fall(carried, places)
        for carried, place, cost in begun:
            heaps.setdefault(carried, []).append((cost, place, ROOT))
        for carried, heap in heaps.items():
            self._look_around(carried, heap)
        for number in born:
            start, end, length, _ = self.graph.edges[number]
            for carried in self._carried_at(start):
                costs = self.costs[carried]
                cost = self._onwards(costs[start], length)
                known = costs.get(end)
                if known is None or cost < known:
                    heaps.setdefault(carried, []).append((cost, end, number))
        for carried, heap in heaps.items():
            heapify(heap)
            self._budget = _RESETTLES * len(self.graph.entering) + 10_000
            self._settle(carried, heap)

    def rows(self) -> Iterator[Costing]:
        """Returns all rows."""
        return (Costing(carried, costs) for carried, costs in self.costs.items())

    def count(self) -> int:
        """Count the rows."""
        return sum(map(len, self.costs.values()))

    def row(self, carried: int, place: int) -> Costing:
        """Returns a row that is there."""
        return Costing(carried, {place: self.costs[carried][place]})

    def ways(self, carried: int, place: int, cost: Any) -> list[int]:
        """Returns the edges by which a row can be reached at its cost."""
        costs, edges = self.costs[carried], self.graph.edges
        return [
            number
            for number, start in self.graph.enters(place).items()
            if start in costs and self._onwards(costs[start], edges[number].length) == cost
        ]

    def minus(self) -> Iterator[Costing]:
        """Returns the rows that went in this epoch."""
        for carried, before in self._before.items():
            costs = self.costs[carried]
            yield Costing(
                carried,
                {
                    place: cost
                    for place, cost in before.items()
                    if cost is not None and costs.get(place) != cost
                },
            )

    def plus(self) -> Iterator[Costing]:
        """Returns the rows that came."""
        for carried, before in self._before.items():
            costs = self.costs[carried]
            yield Costing(
                carried,
                {
                    place: costs[place]
                    for place, cost in before.items()
                    if place in costs and costs[place] != cost
                },
            )

    def end(self) -> None:
        """Forget the epoch."""
        for carried in self._before:
            if not self.costs[carried]:
                del self.costs[carried], self._by[carried]
        self._before.clear()

    def begins(self, carried: int, place: int, cost: Any) -> bool:
        """Whether a row is a base row."""
        return cost in self.base.get(carried, {}).get(place, ())

    def parent(self, carried: int, place: int) -> int | None:
        """Returns the edge a row was reached by, None for a root."""
        number = self._by[carried][place]
        return None if number == ROOT else number

    def _lost(self, gone: Iterable[int], ended: Iterable[Begun]) -> dict[int, list[int]]:
        """Returns the places that lost what they were reached by, per carried value."""
        lost: dict[int, list[int]] = {}
        for number in gone:
            place = self.graph.edges[number].end
            for carried in self._tree.of(number):
                lost.setdefault(carried, []).append(place)
        for carried, place, cost in ended:
            begun = self.base[carried]
            begun[place].remove(cost)
            if not begun[place]:
                del begun[place]
                if not begun:
                    del self.base[carried]
            if self._by[carried][place] == ROOT and self.costs[carried][place] == cost:
                lost.setdefault(carried, []).append(place)
        return lost

    def _fall(self, carried: int, places: list[int]) -> Heap:
        """Take rows away, and those that were reached through them; note them in `_before`.

        Returns:
            A candidate of no cost per place that fell, to be looked around from.
        """
        costs, by, leaving = self.costs[carried], self._by[carried], self.graph.leaving
        before = self._before.setdefault(carried, {})
        fallen: Heap = []
        stack = places
        while stack:
            place = stack.pop()
            if place not in costs:
                continue
            self._unlink(carried, place, by.pop(place))
            before.setdefault(place, costs.pop(place))
            fallen.append((None, place, ROOT))
            for number, (end, _) in leaving.get(place, _NOTHING).items():
                if by.get(end) == number:
                    stack.append(end)
        return fallen

    def _look_around(self, carried: int, heap: Heap) -> None:
        """Replace each place that fell by its cheapest candidate among the ways that stand."""
        costs = self.costs.get(carried, _NOTHING)
        begun = self.base.get(carried, _NOTHING)
        edges = self.graph.edges
        found: Heap = []
        for cost, place, number in heap:
            if cost is not None:
                found.append((cost, place, number))
                continue
            if place in begun:
                found.append((min(begun[place]), place, ROOT))
            ways = [
                (self._onwards(costs[start], edges[number].length), place, number)
                for number, start in self.graph.enters(place).items()
                if start in costs
            ]
            if ways:
                found.append(min(ways))
        heap[:] = found

    def _settle(self, carried: int, heap: Heap) -> None:
        """Settle candidates, cheapest first, and what they lead to."""
        costs = self.costs.setdefault(carried, {})
        by = self._by.setdefault(carried, {})
        before, leaving = self._before.setdefault(carried, {}), self.graph.leaving
        adds = self._adds
        tree, offset, bit = self._tree.bits, *offset_of(carried)
        further_block = self._tree.reach if offset else None
        while heap:
            cost, place, number = heappop(heap)
            known = costs.get(place)
            if cost - cost != 0:
                continue  # a sum that is not finite is null, and never competes
            if known is not None:
                if known <= cost:
                    continue
                self._unlink(carried, place, by[place])
            before.setdefault(place, known)
            costs[place] = cost
            by[place] = number
            if number == ROOT:
                self._rooted.add(place, carried)
            else:
                tree[offset | number] = tree.get(offset | number, 0) | bit
                if further_block is not None:
                    further_block(number, offset)
            self._budget -= 1
            if not self._budget:
                raise EndlessRecursion(
                    "costs of the recursion fall without end",
                    attempt="every step must add to a minimised cost, never take from it",
                )
            for onwards, (end, length) in leaving.get(place, _NOTHING).items():
                further = cost + length if adds else max(cost, length)
                known = costs.get(end)
                if known is None or further < known:
                    heappush(heap, (further, end, onwards))

    def _onwards(self, cost: Any, length: Any) -> Any:
        return cost + length if self._adds else max(cost, length)

    def _unlink(self, carried: int, place: int, number: int) -> None:
        if number == ROOT:
            self._rooted.discard(place, carried)
        else:
            self._tree.discard(number, carried)

    def _carried_at(self, place: int) -> list[int]:
        """Returns the carried values that reach a place: each by an edge, or as a root."""
        found = self._rooted.of(place)
        for number in self.graph.enters(place):
            found += self._tree.of(number)
        return found


class _Carried:
    """Sets of carried values, by the number of an edge or place."""

    def __init__(self) -> None:
        self.bits: dict[int, int] = {}
        # Offsets of blocks beyond the first.
        self._further: dict[int, set[int]] = {}

    def reach(self, number: int, offset: int) -> None:
        """Note that a set has members in a further block."""
        self._further.setdefault(number, set()).add(offset)

    def add(self, number: int, carried: int) -> None:
        """Add one to a set."""
        offset, bit = offset_of(carried)
        if offset:
            self.reach(number, offset)
        self.bits[offset | number] = self.bits.get(offset | number, 0) | bit

    def discard(self, number: int, carried: int) -> None:
        """Take one out of a set that has it."""
        offset, bit = offset_of(carried)
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
