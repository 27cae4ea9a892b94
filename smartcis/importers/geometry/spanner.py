"""Spanner: few lines that serve almost as well as all.

Greedy: shortest line first, take it only if the lines taken so far would be a detour of more than
`stretch`. What remains has short ways between all points and few lines per point.

Law: for every given line, the kept lines connect its ends with at most `stretch` times its length.
Source: I. Althöfer, G. Das, D. Dobkin, D. Joseph, J. Soares, On sparse spanners of weighted
graphs, 1993. (`networkx.spanner` draws lots, and only knows whole odd stretches.)
"""

from __future__ import annotations

from collections.abc import Iterable

import networkx as nx

Line = tuple[float, int, int]


def spanner(lines: Iterable[Line], stretch: float) -> list[Line]:
    """Thins out lines given shortest first.

    Args:
        lines: (length, one end, other end).
        stretch: greatest detour allowed, 1.0 for none.
    """
    kept: list[Line] = []
    graph: nx.Graph[int] = nx.Graph()
    for length, one, other in lines:
        if one in graph:
            ways = nx.single_source_dijkstra_path_length(graph, one, cutoff=stretch * length)
            if other in ways:
                continue
        kept.append((length, one, other))
        graph.add_edge(one, other, weight=length)
    return kept
