"""Ordering: everything one row rests on, in the order in which its equations are solved."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)


def depth_first(goal: Item, parts: Callable[[Item], Iterable[Item]]) -> list[Item]:
    """Returns everything the goal rests on, parts before wholes unless they are on a cycle.

    Args:
        parts: what an item rests on; asked once per item, in depth-first order.
    """
    order: list[Item] = []
    met: dict[Item, list[Item]] = {}
    stack: list[tuple[Item, bool]] = [(goal, False)]
    while stack:
        item, done = stack.pop()
        if done:
            order.append(item)
        elif item not in met:
            met[item] = list(parts(item))
            stack.append((item, True))
            stack += [(part, False) for part in met[item] if part not in met]
    return order
