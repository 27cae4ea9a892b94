"""Splits: the join graph of a query and the ways to cut a set of relations in two.

m: a set of relations as bits, the alias first in the alphabet is bit 0.

Law:    the numbers of sets and cuts of TPC-H's queries are those known for them; no cut is a
        Cartesian product while its relations hang together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache


class JoinPartners:
    """Who joins with whom.

    Args:
        joined: sets of relations that all join with each other: those with a column of one class of
            equal columns, the two of any other predicate.
    """

    def __init__(self, aliases: Iterable[str], joined: Iterable[Iterable[str]]) -> None:
        self.aliases = sorted(aliases)
        self.bit = {alias: 1 << i for i, alias in enumerate(self.aliases)}
        self.everything = (1 << len(self.aliases)) - 1
        self._near = dict.fromkeys(self.bit.values(), 0)
        for m in map(self.set_of, joined):
            for one in bits(m):
                self._near[one] |= m & ~one
        self._halves: dict[int, tuple[tuple[int, int], ...]] = {}

    def set_of(self, aliases: Iterable[str]) -> int:
        """Returns relations as a set."""
        return sum(self.bit[alias] for alias in {*aliases})

    def name(self, m: int) -> str:
        """Returns a set's canonical text."""
        return "+".join(self.members(m))

    def members(self, m: int) -> list[str]:
        """Returns a set's aliases in order."""
        return [alias for alias in self.aliases if m & self.bit[alias]]

    def around(self, m: int) -> int:
        """Returns the relations that join with one of a set, without the set."""
        found = 0
        for one in bits(m):
            found |= self._near[one]
        return found & ~m

    def connected(self, m: int) -> bool:
        """Say whether a set hangs together."""
        found = m & -m
        while grown := self.around(found) & m:
            found |= grown
        return found == m

    def halves(self, m: int) -> tuple[tuple[int, int], ...]:
        """Cut a set in two in every useful way, both orders; memoised (Fn_split)."""
        if m not in self._halves:
            self._halves[m] = tuple(self._cut(m))
        return self._halves[m]

    def _cut(self, m: int) -> Iterator[tuple[int, int]]:
        whole = self.connected(m)
        left = (m - 1) & m
        while left:
            right = m & ~left
            if whole:
                if self.connected(left) and self.connected(right):
                    yield left, right
            elif not self.around(left) & right:
                # A product of parts that nothing joins; each part is joined first.
                yield left, right
            left = (left - 1) & m

    @cached_property
    def sets(self) -> tuple[int, ...]:
        """Every set that plans are made of, the smaller first."""
        found = {self.everything}
        waiting = [self.everything]
        while waiting:
            for left, _ in self.halves(waiting.pop()):
                if left not in found:
                    found.add(left)
                    waiting.append(left)
        return tuple(sorted(found, key=lambda m: (m.bit_count(), m)))


@lru_cache(maxsize=32)
def join_graph(aliases: frozenset[str], joined: tuple[frozenset[str], ...]) -> JoinPartners:
    """Returns the graph of relations; every cover of a region is searched over the same one."""
    return JoinPartners(aliases, joined)


def bits(m: int) -> Iterator[int]:
    """Returns the relations of a set, each as a set."""
    while m:
        one = m & -m
        yield one
        m ^= one
