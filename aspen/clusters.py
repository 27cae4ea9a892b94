"""Clusters: groups that hang together because they share a member, directly or through others."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

Group = TypeVar("Group")


def clusters(
    groups: Sequence[Group], members: Callable[[Group], Iterable[Hashable]]
) -> list[list[Group]]:
    """Part groups into those that share no member, in order of first appearance.

    Args:
        members: of a group; what is equal is shared.

    >>> clusters(["ab", "cd", "be"], list)
    [['ab', 'be'], ['cd']]
    """
    leader: dict[Hashable, int] = {}
    parent = list(range(len(groups)))

    def root(one: int) -> int:
        while parent[one] != one:
            parent[one] = parent[parent[one]]
            one = parent[one]
        return one

    for place, group in enumerate(groups):
        for member in members(group):
            first = leader.setdefault(member, place)
            parent[root(place)] = root(first)
    found: dict[int, list[Group]] = {}
    for place, group in enumerate(groups):
        found.setdefault(root(place), []).append(group)
    return list(found.values())
