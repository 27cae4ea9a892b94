"""Space: one walkable or enterable area on one level, and the ground that is its own.

Where drawings overlap (a lift shaft inside a core room, stairs inside a hall) the smaller one
keeps the ground and the larger one loses it, so that every point of a level has one owner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import shapely
from shapely.geometry import MultiPolygon, Polygon
from shapely.geometry.base import BaseGeometry

LEAST_OVERLAP_M2 = 0.05  # below this two drawings merely touch, give or take a rounding
GRID_M = 0.001  # what is stored is rounded to it
LEAST_PIECE_M2 = 0.25  # crumbs that subtraction leaves along a wall

WALKWAYS = frozenset(
    {
        *("walkway", "ramp", "lobby", "foyer", "concourse", "walkway.island", "movingwalkway"),
        *("footbridge", "platform", "unenclosedarea"),
    }
)
STAIRS = frozenset({"stairs", "steps", "escalator"})
LIFTS = frozenset({"elevator"})


@dataclass(frozen=True)
class WalkableSpace:
    """A unit of the building, or a corridor derived from a gap.

    Args:
        rid: unique in the building, safe in a URL.
        level: ordinal of the level, 0 at the ground; fractions are mezzanines.
        name: what people call it; may be empty.
        category: IMDF category.
        polygon: as drawn, in metres.
        free: the ground that belongs to this space alone.
        feature_id: of the file; empty when derived.
        source_way: identity of the drawing; equal on every level a shaft was drawn for.
        derived: whether the space was concluded instead of read.
        closed: not for the public.
        stored: whether the product wrote the file and called it so.
    """

    rid: str
    level: float
    name: str
    category: str
    polygon: BaseGeometry
    free: BaseGeometry
    feature_id: str = ""
    source_way: str = ""
    derived: bool = False
    closed: bool = False
    stored: bool = False

    @property
    def is_walkway(self) -> bool:
        """Whether people pass through it freely."""
        return self.category in WALKWAYS

    @property
    def is_stairs(self) -> bool:
        """Whether it climbs."""
        return self.category in STAIRS

    @property
    def is_lift(self) -> bool:
        """Whether it rides."""
        return self.category in LIFTS

    @property
    def is_ramp(self) -> bool:
        """Whether it climbs without steps."""
        return self.category == "ramp"

    @property
    def climbs(self) -> bool:
        """Whether it may lead to another level."""
        return self.is_stairs or self.is_lift or self.is_ramp

    @property
    def is_room(self) -> bool:
        """Whether one enters it through a door."""
        return not (self.is_walkway or self.is_stairs or self.is_lift)

    @property
    def parts(self) -> tuple[Polygon, ...]:
        """The connected pieces of its ground, largest first."""
        return polygons(self.free)


def keyed(spaces: Sequence[WalkableSpace]) -> dict[str, int]:
    """Returns spaces by the keys that a file may call them: its own, or `stored_key`."""
    own = {space.feature_id: index for index, space in enumerate(spaces) if space.feature_id}
    return own | {stored_key(space.rid): index for index, space in enumerate(spaces)}


def stored_key(rid: str) -> str:
    """Returns the key of a space in a file that the product wrote.

    >>> stored_key("O27-331")
    'rid:O27-331'
    """
    return f"rid:{rid}"


def polygons(geometry: BaseGeometry, least_m2: float = 0.0) -> tuple[Polygon, ...]:
    """Returns the polygons of any geometry, largest first, without crumbs below `least_m2`."""
    pieces = shapely.get_parts(geometry) if hasattr(geometry, "geoms") else [geometry]
    found = [p for p in pieces if isinstance(p, Polygon) and p.area > least_m2]
    nested = [q for p in pieces if isinstance(p, MultiPolygon) for q in polygons(p, least_m2)]
    return tuple(sorted([*found, *nested], key=lambda p: -p.area))


def ground_of(geometry: BaseGeometry, least_m2: float = 0.0) -> BaseGeometry:
    """Returns the polygons of any geometry as one.

    Lines and points that repairs and overlays leave beside them are ground to nobody, and no other
    overlay takes such a mixture.
    """
    found = polygons(geometry, least_m2)
    return found[0] if len(found) == 1 else MultiPolygon(found)


def own_ground(spaces: Sequence[WalkableSpace]) -> list[WalkableSpace]:
    """Assigns each space of one level the ground no smaller space claims.

    Law: the interiors of the results' `free` are disjoint.
    """
    tree = shapely.STRtree([space.polygon for space in spaces])
    settled: list[WalkableSpace] = []
    for index, space in enumerate(spaces):
        smaller = [
            spaces[other].polygon
            for other in tree.query(space.polygon, predicate="intersects")
            if other != index and _claims(spaces[other], space)
        ]
        free = space.polygon
        if smaller:
            free = shapely.difference(free, shapely.union_all(smaller))
            free = shapely.set_precision(free, GRID_M)  # two drawings of one corner leave a spike
        pieces = ground_of(free, LEAST_PIECE_M2)
        settled.append(replace(space, free=ground_of(free) if pieces.is_empty else pieces))
    return settled


def _claims(one: WalkableSpace, other: WalkableSpace) -> bool:
    """Returns whether `one` takes the ground it shares with `other`: the smaller, else by name."""
    if _rank(one) >= _rank(other):
        return False
    return bool(shapely.intersection(one.polygon, other.polygon).area > LEAST_OVERLAP_M2)


def _rank(space: WalkableSpace) -> tuple[float, str]:
    return round(space.polygon.area, 3), space.rid
