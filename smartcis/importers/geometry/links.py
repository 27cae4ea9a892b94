"""Links: short corridors to shapes that face each other only corner to corner.

Closing fills gaps between facing walls and misses two shapes that stand diagonally. Where such a
shape is cut off and another is no further away than a gap corridor may be wide, a strip between
their nearest points is concluded, provided it lies in a building and crosses nothing drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

import shapely
from networkx.utils import UnionFind
from shapely.geometry import Polygon
from shapely.geometry.base import BaseGeometry

from smartcis.importers.geometry.contact import WALL_M, SpaceContact
from smartcis.importers.geometry.gaps import WIDEST_M
from smartcis.importers.geometry.spaces import WalkableSpace, polygons

HALF_WIDTH_M = 0.9
LEAST_INDOORS = 0.9  # share of the strip that must lie in a building


def link_corridors(
    spaces: Sequence[WalkableSpace],
    walls: Sequence[SpaceContact],
    footprint: BaseGeometry | None,
    blocked: Sequence[BaseGeometry] = (),
) -> list[Polygon]:
    """Finds the strips that join what contacts leave apart on one level.

    Args:
        spaces: one level's, gap corridors included.
        walls: their contacts.
        footprint: ground covered by buildings; None when the data has none.
        blocked: walls, columns and holes.
    """
    groups: UnionFind[int] = UnionFind()
    for wall in walls:
        groups.union(wall.one, wall.other)
    grounds = [space.free for space in spaces]
    tree = shapely.STRtree(grounds)
    near = []
    for one, ground in enumerate(grounds):
        for hit in tree.query(ground, predicate="dwithin", distance=WIDEST_M):
            other = int(hit)
            if other > one and groups[one] != groups[other]:
                near.append((round(float(ground.distance(grounds[other])), 3), one, other))
    drawn = shapely.union_all([*grounds, *blocked])
    found = []
    for gap_m, one, other in sorted(near):
        if gap_m <= WALL_M or groups[one] == groups[other]:
            continue
        strip = _strip(grounds[one], grounds[other], drawn, footprint)
        if strip is not None:
            groups.union(one, other)
            found.append(strip)
            drawn = shapely.union(drawn, strip)
    return found


def _strip(
    one: BaseGeometry, other: BaseGeometry, drawn: BaseGeometry, footprint: BaseGeometry | None
) -> Polygon | None:
    line = shapely.shortest_line(one, other)
    if shapely.intersection(line, drawn).length > WALL_M:
        return None
    if footprint is not None:
        indoors = shapely.intersection(line, footprint).length
        if indoors < LEAST_INDOORS * line.length:
            return None
    wide = line.buffer(HALF_WIDTH_M, cap_style="square")
    pieces = polygons(shapely.difference(wide, drawn))
    middle = line.interpolate(0.5, normalized=True)
    return next((piece for piece in pieces if piece.distance(middle) == 0.0), None)
