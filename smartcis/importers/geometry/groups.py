"""Groups: which things are joined (union-find)."""

from __future__ import annotations


class Groups:
    """A partition of the numbers below `count` that only ever grows coarser."""

    def __init__(self, count: int) -> None:
        self._parent = list(range(count))

    def of(self, member: int) -> int:
        """Returns the member that stands for a member's group."""
        while self._parent[member] != member:
            self._parent[member] = self._parent[self._parent[member]]
            member = self._parent[member]
        return member

    def join(self, one: int, other: int) -> int:
        """Make one group of two; give the member that stands for it."""
        low, high = sorted((self.of(one), self.of(other)))
        self._parent[high] = low
        return low
