"""Depth first: base rows in the order in which a depth-first walk passes their edges.

    a→b b→c c→d b→e e→f c→a        a→b b→c c→a c→d b→e e→f      the way back in front

Own: at each vertex, edges to vertices already met come first, the way back first of all. Measured
on transit-stub networks, that makes a sum of paths smaller by a tenth.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Generic, NamedTuple, TypeVar

Item = TypeVar("Item", bound=Hashable)
Vertex = Hashable


class Edge(NamedTuple, Generic[Item]):
    """One way from a vertex to a vertex; an item with several has several edges."""

    item: Item
    start: Vertex
    end: Vertex


class DepthFirstWalk(Generic[Item]):
    """A walk along edges: all that a vertex leads to comes before the walk turns back from it.

    Source: [LTZIL09] section VI.
    """

    def __init__(self, leaving: Mapping[Vertex, Iterable[Edge[Item]]]) -> None:
        self.edges: list[Edge[Item]] = []
        self.roots: dict[Vertex, None] = {}
        self._leaving = leaving
        self._met: set[Vertex] = set()

    def begin(self, root: Vertex) -> None:
        """Walk from a vertex, unless the walk came by already."""
        if root in self._met:
            return
        self.roots[root] = None
        stack = [self._enter(root, root)]
        while stack:
            edge = next(stack[-1], None)
            if edge is None:
                stack.pop()
                continue
            self.edges.append(edge)
            if edge.end not in self._met and edge.end in self._leaving:
                stack.append(self._enter(edge.end, edge.start))

    def _enter(self, vertex: Vertex, came_from: Vertex) -> Iterator[Edge[Item]]:
        """Pass the edges that lead nowhere new; give the others."""
        self._met.add(vertex)
        leaving = self._leaving[vertex]
        shallow = [e for e in leaving if e.end in self._met or e.end not in self._leaving]
        self.edges += sorted(shallow, key=lambda edge: edge.end != came_from)
        passed = set(shallow)
        return iter([edge for edge in leaving if edge not in passed])


def depth_first_items(ways: Mapping[Item, Iterable[tuple[Vertex, Vertex]]]) -> list[Item]:
    """Returns all items, each where its first edge stands; those without edges at the end.

    Args:
        ways: per item, from which vertices to which it leads; walks begin in this order.
    """
    leaving: dict[Vertex, dict[Edge[Item], None]] = {}
    for item, pairs in ways.items():
        for start, end in pairs:
            leaving.setdefault(start, {})[Edge(item, start, end)] = None
    walk = DepthFirstWalk(leaving)
    for root in leaving:
        walk.begin(root)
    return list(dict.fromkeys(edge.item for edge in walk.edges) | dict.fromkeys(ways))
