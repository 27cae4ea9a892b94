"""Derivations: how rows of nodes came to be, followed down to base rows, for one question.

    (view, row) ── ways ──► (join, pair) ── ways ──► (scan, row)    a base row, or one that is given

Law:        a row is there iff one of its ways has all its parts there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from aspen.model.schema import Row
from aspen.views.node import Lookups, Node, Way
from aspen.views.work import Meter

BaseRow = tuple[str, Row]
Item = tuple[Node, Row]
ITEM_STEPS = 30
"""Of work in asking an operator how a row came to be."""
_BITS_A_STEP = 10_000
Whole = TypeVar("Whole", bound=Hashable)


def depth_first(
    goals: Iterable[Whole], parts: Callable[[Whole], Iterable[Whole]], *, at_most: int | None = None
) -> list[Whole] | None:
    """Returns all that goals rest on, parts before wholes unless they are on a cycle.

    Args:
        parts: what an item rests on; asked once per item, in depth-first order.
        at_most: items; None for any number.

    Returns:
        None when there are more.
    """
    order: list[Whole] = []
    met: set[Whole] = set()
    stack = [(goal, False) for goal in goals]
    while stack:
        item, done = stack.pop()
        if done:
            order.append(item)
        elif item not in met:
            met.add(item)
            if at_most is not None and len(met) > at_most:
                return None
            stack.append((item, True))
            stack += [(part, False) for part in parts(item) if part not in met]
    return order


class Derivations(Lookups):
    """What was asked of the operators, remembered as long as the question lasts."""

    def __init__(self, *, every: bool = True) -> None:
        super().__init__(every=every)
        self._ways: dict[Item, tuple[Way, ...]] = {}
        self._bases: dict[Item, BaseRow] = {}

    def follow(self, goals: Iterable[Item], *, at_most: int | None) -> list[Item] | None:
        """Returns all that the goals rest on, as `depth_first`; None beyond `at_most` rows."""
        return depth_first(goals, self.parts, at_most=at_most)

    def base(self, item: Item) -> BaseRow | None:
        """Returns the base row that an item is, None where it is derived or given."""
        known = self._bases.get(item)
        if known is None and item not in self._ways:
            known = item[0].base_row(item[1])
            if known is not None:
                self._bases[item] = known
        return known

    def ways(self, item: Item) -> tuple[Way, ...]:
        """Returns the ways in which an item is derived; a base row has none."""
        if self.base(item) is not None:
            return ()
        known = self._ways.get(item)
        if known is None:
            known = self._ways[item] = tuple(item[0].ways(item[1], self))
            item[0].meter.spend(ITEM_STEPS + sum(map(len, known)), "following derivations")
        return known

    def parts(self, item: Item) -> list[Item]:
        """Returns everything that occurs in an item's ways."""
        return [part for way in self.ways(item) for part in way]


class Needed:
    """The base rows without which each of some rows has no derivation, as bits of numbers.

    Law: the greatest solution of N(row) = ∩ over ways of ∪ over parts of N(part).
    """

    def __init__(self, derivations: Derivations, order: list[Item], meter: Meter) -> None:
        # Two windows over one stream hold the same base row twice.
        indices: dict[BaseRow, int] = {}
        for item in order:
            base = derivations.base(item)
            if base is not None:
                indices.setdefault(base, len(indices))
        bits: dict[Item, int] = dict.fromkeys(order, (1 << len(indices)) - 1)
        users: dict[Item, list[Item]] = {item: [] for item in order}
        for item in order:
            base = derivations.base(item)
            if base is not None:
                bits[item] = 1 << indices[base]
            for part in derivations.parts(item):
                users[part].append(item)
        waiting = dict.fromkeys(order)
        while waiting:
            round_, waiting = waiting, {}
            meter.spend(len(round_) * (1 + len(indices) // _BITS_A_STEP), "finding what is needed")
            for item in round_:
                if derivations.base(item) is not None:
                    continue
                new = bits[item]
                for way in derivations.ways(item):
                    union = 0
                    for part in way:
                        union |= bits[part]
                    new &= union
                if new != bits[item]:
                    bits[item] = new
                    waiting.update(dict.fromkeys(users[item]))
        self._bits = bits
        self._bases = list(indices)
        self._known: dict[int, frozenset[BaseRow]] = {}

    def bases(self, item: Item) -> frozenset[BaseRow]:
        """Returns the base rows that a row cannot do without."""
        bits = self._bits[item]
        known = self._known.get(bits)
        if known is None:
            known = self._known[bits] = frozenset(
                base for index, base in enumerate(self._bases) if bits >> index & 1
            )
        return known
