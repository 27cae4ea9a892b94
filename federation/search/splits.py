"""Splits: the join graph of a query and the ways to cut a set of relations in two.

m: a set of relations as bits, the alias first in the alphabet is bit 0.

Law:    the numbers of sets and cuts of TPC-H's queries are those known for them; no cut is a
        Cartesian product while its relations hang together.
Source: equivalence classes of columns give the edges that follow by transitivity
        [Liu, Ives and Loo, SIGMOD 2016, section 6.2: CUSTOMER with REGION and NATION].
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from federation.search.problem import Attribute, Problem


class JoinGraph:
    """Who joins with whom."""

    def __init__(self, problem: Problem) -> None:
        self.aliases = sorted(one.alias for one in problem.members)
        self.bit = {alias: 1 << i for i, alias in enumerate(self.aliases)}
        self.everything = (1 << len(self.aliases)) - 1
        self.classes = _classes(problem)
        self._near = dict.fromkeys(self.bit.values(), 0)
        for equality in problem.equalities:
            self._edge(equality.left.alias, equality.right.alias)
        for theta in problem.thetas:
            self._edge(theta.left, theta.right)
        if problem.closure:
            for members in self.classes.values():
                aliases = sorted({one.alias for one in members})
                for one in aliases:
                    for other in aliases:
                        self._edge(one, other)
        self._halves: dict[int, tuple[tuple[int, int], ...]] = {}
        self._classes_of = {
            name: sum(self.bit[alias] for alias in {one.alias for one in members})
            for name, members in self.classes.items()
        }

    def _edge(self, one: str, other: str) -> None:
        if one != other:
            self._near[self.bit[one]] |= self.bit[other]
            self._near[self.bit[other]] |= self.bit[one]

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

    def part(self, m: int) -> int:
        """Returns the relations of a set that hang together with its first."""
        found = m & -m
        while grown := self.around(found) & m:
            found |= grown
        return found

    def connected(self, m: int) -> bool:
        """Say whether a set hangs together."""
        return self.part(m) == m

    def shared(self, left: int, right: int) -> tuple[str, ...]:
        """Returns the classes of columns that are equal across two sets."""
        return tuple(n for n, held in self._classes_of.items() if held & left and held & right)

    def halves(self, m: int) -> tuple[tuple[int, int], ...]:
        """Cut a set in two in every useful way, both orders; memoised (Fn_split)."""
        found = self._halves.get(m)
        if found is None:
            found = tuple(self._cut(m))
            self._halves[m] = found
        return found

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

    @property
    def size(self) -> tuple[int, int]:
        """Count the logical OR nodes and the ordered AND nodes."""
        return len(self.sets), sum(len(self.halves(m)) for m in self.sets)


def bits(m: int) -> Iterator[int]:
    """Returns the relations of a set, each as a set."""
    while m:
        one = m & -m
        yield one
        m ^= one


def _classes(problem: Problem) -> dict[str, tuple[Attribute, ...]]:
    """Put columns that must be equal into one class, named after its first column."""
    of: dict[Attribute, set[Attribute]] = {}
    for equality in problem.equalities:
        merged = of.get(equality.left, {equality.left}) | of.get(equality.right, {equality.right})
        for one in merged:
            of[one] = merged
    named = {str(min(members)): tuple(sorted(members)) for members in of.values()}
    return dict(sorted(named.items()))
