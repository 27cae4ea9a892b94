"""Vertical: which stairs and lifts of different levels are the same shaft.

The same drawing on several levels is one shaft. Shafts drawn level by level are joined where they
cover each other on neighbouring levels. Lengths are walking equivalents, because a route is chosen
by effort: a flight counts its slope, a ride counts its height and, at both ends, the wait.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import shapely
from shapely.geometry import Point

from smartcis.importers.geometry.spaces import WalkableSpace

STAIR_SLOPE_DEG = 30.0  # usual for public stairs
LIFT_WAIT_M = 8.0  # walking equivalent of waiting for a lift, at each end of the ride; own estimate
SAME_SHAFT = 0.5  # share of the smaller drawing that must be covered


@dataclass(frozen=True)
class Climb:
    """A way between two levels inside one shaft.

    Args:
        lower: index of the lower space.
        upper: index of the upper space.
        length_m: walking equivalent, without the wait.
        by_lift: a ride; otherwise steps or a ramp.
        step_free: no steps.
    """

    lower: int
    upper: int
    length_m: float
    by_lift: bool
    step_free: bool


@dataclass(frozen=True)
class Riser:
    """A way between two levels that is drawn as a line or a point, not as a shaft.

    Args:
        lower: index of the lower space, and where in it one begins.
        upper: index of the upper space, and where in it one ends.
        length_m: walking equivalent, without the wait.
        by_lift: a ride.
        steps: whether it has steps.
    """

    lower: tuple[int, Point]
    upper: tuple[int, Point]
    length_m: float
    by_lift: bool
    steps: bool


def climbs(
    spaces: Sequence[WalkableSpace],
    heights_m: Mapping[float, float],
    told: Sequence[tuple[int, int]] = (),
) -> list[Climb]:
    """Finds the climbs of a building.

    Args:
        spaces: of all levels.
        heights_m: of each level's floor.
        told: pairs of spaces, the lower first, that the file says are one shaft.
    """
    found: dict[tuple[int, int], Climb] = {}
    ways: dict[str, list[int]] = defaultdict(list)
    for index, space in enumerate(spaces):
        if space.climbs and space.source_way and not space.free.is_empty:
            ways[space.source_way].append(index)
    for indices in ways.values():
        climbing = sorted(indices, key=lambda index: spaces[index].level)
        for lower, upper in pairwise(climbing):
            if spaces[lower].level != spaces[upper].level:
                found[lower, upper] = _climb(spaces, lower, upper, heights_m)
    for lower, upper in (*told, *_stacked(spaces)):
        found.setdefault((lower, upper), _climb(spaces, lower, upper, heights_m))
    return [found[pair] for pair in sorted(found)]


def _climb(
    spaces: Sequence[WalkableSpace], lower: int, upper: int, heights_m: Mapping[float, float]
) -> Climb:
    rise_m = heights_m[spaces[upper].level] - heights_m[spaces[lower].level]
    by_lift = spaces[lower].is_lift
    length_m = rise_m if by_lift else rise_m / math.sin(math.radians(STAIR_SLOPE_DEG))
    return Climb(lower, upper, length_m, by_lift, step_free=not spaces[lower].is_stairs)


def _kind(space: WalkableSpace) -> tuple[bool, bool]:
    return space.is_lift, space.is_ramp


def _stacked(spaces: Sequence[WalkableSpace]) -> list[tuple[int, int]]:
    """Finds shafts of one kind that cover each other on neighbouring levels."""
    shafts = [
        index for index, space in enumerate(spaces) if space.climbs and not space.free.is_empty
    ]
    tree = shapely.STRtree([spaces[index].polygon for index in shafts])
    ordinals = sorted({space.level for space in spaces})
    next_up = dict(pairwise(ordinals))
    pairs = []
    for lower in shafts:
        here = spaces[lower]
        for hit in tree.query(here.polygon, predicate="intersects"):
            upper = shafts[int(hit)]
            there = spaces[upper]
            neighbours = there.level in {here.level + 1, next_up.get(here.level)}
            if not neighbours or _kind(there) != _kind(here):
                continue
            shared = shapely.intersection(here.polygon, there.polygon).area
            if shared >= SAME_SHAFT * min(here.polygon.area, there.polygon.area):
                pairs.append((lower, upper))
    return pairs
