"""Redrawn: what people drew in a file that the product wrote, and what gives way to it.

Everything else in such a file is as it is stored: nothing is concluded between two spaces that
nobody touched, so a door that was taken out stays out.

Source: own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import shapely
from shapely.geometry import Polygon
from shapely.geometry.base import BaseGeometry

from smartcis.importers.geometry.known import KnownBuilding, same_ground
from smartcis.importers.geometry.spaces import (
    LEAST_PIECE_M2,
    WalkableSpace,
    ground_of,
    own_ground,
    polygons,
)


def redrawn(spaces: Sequence[WalkableSpace], known: KnownBuilding) -> frozenset[int]:
    """Returns the indices of spaces that are new, or have another outline than the stored one."""
    there = {one.rid: one.outline for one in known.units}
    return frozenset(
        index
        for index, space in enumerate(spaces)
        if not space.stored or (space.rid in there and _moved(space.polygon, there[space.rid]))
    )


def with_ground(spaces: Sequence[WalkableSpace], known: KnownBuilding) -> list[WalkableSpace]:
    """Returns one level's spaces with their ground: concluded ground gives way to what was drawn.

    Law: where nothing was redrawn, each space has the ground it is stored with.
    """
    changed = {spaces[index].rid for index in redrawn(spaces, known)}
    drawn = own_ground([space for space in spaces if space.feature_id])
    concluded = [space for space in spaces if not space.feature_id]
    if not changed:
        return drawn + concluded
    before = [space.free for space in drawn if space.rid in changed]
    settled = [space for space in concluded if space.rid not in changed]
    left = [_without(space, before) for space in settled]
    taken = [space.free for space in (*drawn, *left)]
    for space in concluded:
        if space.rid in changed:
            left.append(_without(space, taken))
            taken.append(left[-1].free)
    return drawn + [space for space in left if not space.free.is_empty]


def _moved(one: BaseGeometry, other: BaseGeometry) -> bool:
    """Returns whether an outline's largest piece is not the stored one."""
    return not same_ground(next(iter(polygons(one)), Polygon()), other)


def _without(space: WalkableSpace, taken: Sequence[BaseGeometry]) -> WalkableSpace:
    """Returns a concluded space without ground that others took."""
    if not any(shapely.intersects(space.free, ground) for ground in taken):
        return space
    left = shapely.difference(space.free, shapely.union_all(taken))
    ground = ground_of(left, LEAST_PIECE_M2)
    return replace(space, polygon=ground, free=ground)
