"""Check: prove that no edge runs through the inside of a space it does not belong to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import shapely

from smartcis.importers.geometry.spaces import WalkableSpace
from smartcis.importers.geometry.walking_graph import WalkingGraph

INSIDE_M = 0.05  # five centimetres off a wall is inside; nearer is the wall's own thickness


@dataclass(frozen=True)
class Trespass:
    """An edge that crosses a space it does not belong to.

    Args:
        src: node the edge starts from.
        dst: node it ends at.
        rid: the space it crosses.
        length_m: how far it runs inside.
    """

    src: int
    dst: int
    rid: str
    length_m: float


def trespasses(spaces: Sequence[WalkableSpace], graph: WalkingGraph) -> list[Trespass]:
    """Finds the edges that cross a third space.

    An edge belongs to the space it runs through. Its ends on a wall may also touch the space
    behind that wall, which is why insides are measured a few centimetres in. Vertical edges have
    no horizontal length and are skipped.
    """
    points = {node.number: (node.x_m, node.y_m) for node in graph.nodes}
    by_level: dict[float, list[int]] = defaultdict(list)
    for index, space in enumerate(spaces):
        by_level[space.level].append(index)
    insides = {
        level: [spaces[index].free.buffer(-INSIDE_M) for index in members]
        for level, members in by_level.items()
    }
    trees = {level: shapely.STRtree(shapes) for level, shapes in insides.items()}
    found = []
    for edge in graph.edges:
        if edge.way in {"stairs", "lift"} or edge.src > edge.dst:
            continue
        level = spaces[edge.space].level
        line = shapely.linestrings([points[edge.src], points[edge.dst]])
        for hit in trees[level].query(line, predicate="intersects"):
            index = by_level[level][int(hit)]
            if index == edge.space:
                continue
            run_m = shapely.intersection(line, insides[level][int(hit)]).length
            if run_m > 0.0:
                found.append(Trespass(edge.src, edge.dst, spaces[index].rid, float(run_m)))
    return found
