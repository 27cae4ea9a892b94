"""Components of small graphs, computed by networkx, in an order that hash seeds do not change."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

import networkx as nx

Vertex = TypeVar("Vertex", bound=Hashable)
Group = TypeVar("Group")


def directed(edges: Mapping[Vertex, Iterable[Vertex]]) -> nx.DiGraph[Vertex]:
    """Returns the graph with an edge from each vertex to those listed for it."""
    graph: nx.DiGraph[Vertex] = nx.DiGraph()
    graph.add_nodes_from(edges)
    graph.add_edges_from((one, other) for one, others in edges.items() for other in others)
    return graph


def strong_components(edges: Mapping[Vertex, Iterable[Vertex]]) -> list[tuple[Vertex, ...]]:
    """Returns the strongly connected components, each after those its edges lead to.

    Vertices of a component keep their order in `edges`.
    """
    graph = directed(edges)
    order = {vertex: index for index, vertex in enumerate(graph)}
    return [
        tuple(sorted(part, key=order.__getitem__))
        for part in nx.strongly_connected_components(graph)
    ]


def connected_groups(
    groups: Sequence[Group], members: Callable[[Group], Iterable[Hashable]]
) -> list[list[Group]]:
    """Returns groups partitioned so that no two parts share a member, in order of appearance.

    >>> connected_groups(["ab", "cd", "be"], list)
    [['ab', 'be'], ['cd']]
    """
    graph: nx.Graph[tuple[bool, Hashable]] = nx.Graph()
    graph.add_nodes_from((True, index) for index in range(len(groups)))
    graph.add_edges_from(
        ((True, index), (False, member))
        for index, group in enumerate(groups)
        for member in members(group)
    )
    return [
        [groups[index] for index in range(len(groups)) if (True, index) in part]
        for part in nx.connected_components(graph)
    ]
