"""Reach: which spaces an entrance leads to, and why the others cannot be reached."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx

from smartcis.importers.geometry.spaces import WalkableSpace
from smartcis.importers.geometry.walking_graph import WalkingGraph


def unreached(spaces: Sequence[WalkableSpace], graph: WalkingGraph) -> dict[int, str]:
    """Returns the index of every space no entrance leads to, with the reason."""
    walks = nx.DiGraph((edge.src, edge.dst) for edge in graph.edges)
    entrances = [node.number for node in graph.nodes if node.kind == "entrance"]
    seen = set(entrances)
    for entrance in entrances:
        seen |= nx.descendants(walks, entrance) if entrance in walks else set()
    joined = {edge.space for edge in graph.edges}
    reasons: dict[int, str] = {}
    for index, space in enumerate(spaces):
        if graph.centres.get(index) in seen:
            continue
        if space.free.is_empty:
            reasons[index] = "its ground is covered by another drawing"
        elif index not in joined:
            reasons[index] = "no drawn space touches it, and the gap around it is wider than 4 m"
        else:
            reasons[index] = "its neighbours lead to no entrance, stairs or lift"
    return reasons
