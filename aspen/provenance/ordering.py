"""Ordering: depth-first labels, so that the functions of neighbouring paths share their nodes.

Variables are met depth first from the row in question, and each new one goes nearest the root
(`Bdd.allocate`). Measured on two-way ladders, the annotation of the far corner:

    edges               20    32    44     56
    newest on top       32   140   540   2172   decision nodes
    newest at the end   44   379  3705   > 20 000
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)


def depth_first(goal: Item, parts: Callable[[Item], Iterable[Item]]) -> list[Item]:
    """Returns everything the goal rests on, parts before wholes where there is no circle.

    Args:
        parts: what an item rests on; asked once per item, in depth-first order.

    Source: [LTZIL09] section VI; own: on demand from one goal instead of kept over all edges.
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
