"""Forest: which invariant values have reached which vertex, each by one edge.

    invariant   0 1 2 3                      bit of a number, 512 to a block
    at  b     1 1 0 1                      reached
    tree a→b  1 0 0 1                      by this edge; every reached bit is in one tree
    tree c→b  0 1 0 0

All invariant values that take a step together take it in one operation on numbers. A deleted edge
takes away the bits of its tree, and onwards along trees; what fell then looks at the other edges
that enter its vertex. Nothing waits anywhere: other ways are found again when they are needed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from aspen.views.traversal.graph import Graph
from aspen.views.traversal.names import BLOCK, MASK, SHIFT, Begun, Reached, members, offset_of
from aspen.views.work import AT_ONCE, RECURSION, Meter


class Forest:
    """The reached vertices of one layer.

    Law: at == rooted ∪ trees of the entering edges, disjoint; following trees backwards ends at a
        root.
    """

    def __init__(self, graph: Graph, meter: Meter) -> None:
        self.graph = graph
        self._meter = meter
        self.at: dict[int, int] = {}
        self.base: dict[int, int] = {}
        self._rooted: dict[int, int] = {}
        self._tree: dict[int, int] = {}
        # Blocks beyond the first in which a vertex is reached.
        self._further: dict[int, set[int]] = {}
        self._pending: dict[int, int] = {}
        self._queue: deque[int] = deque()
        self._fallen: dict[int, int] = {}
        self._gained: dict[int, int] = {}

    def begin(self, invariant: int, vertex: int, cost: object = None) -> None:
        """Add a row that needs no edge."""
        del cost
        key, bit = _key(invariant, vertex)
        self.base[key] = self.base.get(key, 0) | bit

    def load(self) -> None:
        """Reach whatever can be reached, from nothing."""
        for key, bits in self.base.items():
            self._rooted[key] = bits
            self._reach(key, bits)
        self._spread()
        self._gained.clear()

    def change(
        self,
        gone: Iterable[int],
        born: Iterable[int],
        ended: Iterable[Begun],
        begun: Iterable[Begun],
    ) -> None:
        """Take in one epoch.

        Args:
            gone: edges already out of the graph's ends.
            born: edges already in it.
            ended: base rows that went, as (invariant, vertex, cost).
            begun: base rows that came; `begin` was group of them.
        """
        self._fall(self._lost(gone, ended))
        self._find_again()
        for invariant, vertex, _ in begun:
            key, bit = _key(invariant, vertex)
            if not self.at.get(key, 0) & bit:
                self._rooted[key] = self._rooted.get(key, 0) | bit
                self._reach(key, bit)
        for number in born:
            self._step_along(number)
        self._spread()

    def rows(self) -> Iterator[Reached]:
        """Returns all rows."""
        return (_reached(key, bits) for key, bits in self.at.items())

    def count(self) -> int:
        """Count the rows."""
        return sum(bits.bit_count() for bits in self.at.values())

    def row(self, invariant: int, vertex: int) -> Reached:
        """Returns a row that is there."""
        return Reached(vertex, [invariant])

    def ways(self, invariant: int, vertex: int, cost: object = None) -> list[int]:
        """Returns the edges by which a row can be reached."""
        del cost
        key, bit = _key(invariant, vertex)
        block = key & ~MASK
        return [
            number
            for number, start in self.graph.enters(vertex).items()
            if self.at.get(block | start, 0) & bit
        ]

    def minus(self) -> Iterator[Reached]:
        """Returns the rows that went in this epoch."""
        for key, bits in self._fallen.items():
            yield _reached(key, bits & ~self._gained.get(key, 0))

    def plus(self) -> Iterator[Reached]:
        """Returns the rows that came."""
        for key, bits in self._gained.items():
            yield _reached(key, bits & ~self._fallen.get(key, 0))

    def end(self) -> None:
        """Forget the epoch."""
        self._fallen.clear()
        self._gained.clear()

    def begins(self, invariant: int, vertex: int, cost: object = None) -> bool:
        """Whether a row is a base row."""
        del cost
        key, bit = _key(invariant, vertex)
        return bool(self.base.get(key, 0) & bit)

    def parent(self, invariant: int, vertex: int) -> int | None:
        """Returns the edge a row was reached by, None for a root."""
        key, bit = _key(invariant, vertex)
        if self._rooted.get(key, 0) & bit:
            return None
        block = key & ~MASK
        return next(e for e in self.graph.enters(vertex) if self._tree.get(block | e, 0) & bit)

    def _lost(self, gone: Iterable[int], ended: Iterable[Begun]) -> dict[int, int]:
        lost: dict[int, int] = {}
        for number in gone:
            vertex = self.graph.edges.ends[number]
            for block in self._blocks(vertex):
                bits = self._tree.pop(block | number, 0)
                if bits:
                    lost[block | vertex] = lost.get(block | vertex, 0) | bits
        for invariant, vertex, _ in ended:
            key, bit = _key(invariant, vertex)
            _less(self.base, key, bit)
            if self._rooted.get(key, 0) & bit:
                _less(self._rooted, key, bit)
                lost[key] = lost.get(key, 0) | bit
        return lost

    def _fall(self, lost: dict[int, int]) -> None:
        """Take rows away, and those that were reached through them."""
        at, tree, fallen, leaving = self.at, self._tree, self._fallen, self.graph.leaving
        stack = list(lost)
        while stack:
            key = stack.pop()
            bits = lost.pop(key, 0)
            if not bits:
                continue
            block, vertex = key & ~MASK, key & MASK
            left = at[key] ^ bits
            if left:
                at[key] = left
            else:
                del at[key]
                if block:
                    self._leave(vertex, block)
            fallen[key] = fallen.get(key, 0) | bits
            for number, end in leaving.get(vertex, _NOTHING).items():
                of = tree.get(block | number)
                if of is None:
                    continue
                rest = of & bits
                if rest:
                    if of == rest:
                        del tree[block | number]
                    else:
                        tree[block | number] = of ^ rest
                    onwards = block | end
                    lost[onwards] = lost.get(onwards, 0) | rest
                    stack.append(onwards)

    def _find_again(self) -> None:
        """Reach what fell by other ways that stand."""
        at, tree, entering = self.at, self._tree, self.graph.entering
        for key, fallen in self._fallen.items():
            block, vertex, bits = key & ~MASK, key & MASK, fallen
            again = bits & self.base.get(key, 0)
            if again:
                self._rooted[key] = self._rooted.get(key, 0) | again
                self._reach(key, again)
                bits ^= again
            if not bits:
                continue
            for number, start in entering.get(vertex, _NOTHING).items():
                again = bits & at.get(block | start, 0)
                if again:
                    tree[block | number] = tree.get(block | number, 0) | again
                    self._reach(key, again)
                    bits ^= again
                    if not bits:
                        break

    def _step_along(self, number: int) -> None:
        """Reach the end of a new edge with whatever is at its start."""
        start, end = self.graph.edges.starts[number], self.graph.edges.ends[number]
        for block in self._blocks(start):
            key = block | end
            bits = self.at.get(block | start, 0)
            bits ^= bits & self.at.get(key, 0)
            if bits:
                self._tree[block | number] = self._tree.get(block | number, 0) | bits
                self._reach(key, bits)

    def _reach(self, key: int, bits: int) -> None:
        """Note rows that came, and that their steps are to be taken."""
        have = self.at.get(key, 0)
        if not have and key > MASK:
            self._further.setdefault(key & MASK, set()).add(key & ~MASK)
        self.at[key] = have | bits
        self._gained[key] = self._gained.get(key, 0) | bits
        if key in self._pending:
            self._pending[key] |= bits
        else:
            self._pending[key] = bits
            self._queue.append(key)

    def _spread(self) -> None:
        """Take the steps of all rows that came."""
        at, tree, leaving = self.at, self._tree, self.graph.leaving
        pending, queue, reach = self._pending, self._queue, self._reach
        reached = 0
        while queue:
            if reached > AT_ONCE:
                self._meter.spend(reached, RECURSION)
                reached = 0
            key = queue.popleft()
            bits = pending.pop(key)
            block = key & ~MASK
            for number, end in leaving.get(key & MASK, _NOTHING).items():
                fresh = bits & at.get(block | end, 0) ^ bits
                if fresh:
                    reached += fresh.bit_count()
                    tree[block | number] = tree.get(block | number, 0) | fresh
                    reach(block | end, fresh)
        self._meter.spend(reached, RECURSION)

    def _blocks(self, vertex: int) -> tuple[int, ...]:
        further = self._further.get(vertex)
        return (0, *further) if further else (0,)

    def _leave(self, vertex: int, block: int) -> None:
        blocks = self._further[vertex]
        blocks.discard(block)
        if not blocks:
            del self._further[vertex]


_NOTHING: dict[int, int] = {}


def _key(invariant: int, vertex: int) -> tuple[int, int]:
    offset, bit = offset_of(invariant)
    return offset | vertex, bit


def _less(of: dict[int, int], key: int, bits: int) -> None:
    left = of[key] & ~bits
    if left:
        of[key] = left
    else:
        del of[key]


def _reached(key: int, bits: int) -> Reached:
    first = (key >> SHIFT) * BLOCK
    return Reached(key & MASK, [first + bit for bit in members(bits)])
