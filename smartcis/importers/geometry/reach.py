"""Reach: which spaces an entrance leads to, and why the others cannot be reached."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

from smartcis.importers.geometry.spaces import WalkableSpace
from smartcis.importers.geometry.walking_graph import WalkingGraph


def unreached(spaces: Sequence[WalkableSpace], graph: WalkingGraph) -> dict[int, str]:
    """Returns the index of every space no entrance leads to, with the reason."""
    beside: dict[int, list[int]] = defaultdict(list)
    for edge in graph.edges:
        beside[edge.src].append(edge.dst)
    queue = deque(node.number for node in graph.nodes if node.kind == "entrance")
    seen = set(queue)
    while queue:
        for there in beside[queue.popleft()]:
            if there not in seen:
                seen.add(there)
                queue.append(there)
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
