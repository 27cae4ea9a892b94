"""Spread: choose points that keep a distance from each other, or that lie far apart."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

LEVEL_APART_M = 60.0  # for picking far-apart points, one floor counts like this many metres


@dataclass(frozen=True, slots=True)
class SeedSpot:
    """A candidate point.

    Args:
        key: what stands there.
        level: ordinal.
    """

    key: Hashable
    level: int
    x_m: float
    y_m: float

    def apart_m(self, other: SeedSpot) -> float:
        """Returns the distance to another spot, floors counted generously."""
        flat = math.hypot(self.x_m - other.x_m, self.y_m - other.y_m)
        return flat + LEVEL_APART_M * abs(self.level - other.level)


def spaced(
    spots: Sequence[SeedSpot], every_m: float, taken: Sequence[SeedSpot] = ()
) -> list[SeedSpot]:
    """Chooses spots, in the order given, none nearer to a chosen one than `every_m`.

    Law: every spot has a chosen one within `every_m` on its level.
    """
    chosen: list[SeedSpot] = []
    standing = list(taken)
    for spot in spots:
        if all(other.level != spot.level or spot.apart_m(other) >= every_m for other in standing):
            chosen.append(spot)
            standing.append(spot)
    return chosen


def far_apart(spots: Sequence[SeedSpot], count: int) -> list[SeedSpot]:
    """Chooses `count` spots, each as far as possible from those before; the first given first."""
    left = list(spots)
    chosen: list[SeedSpot] = []
    while left and len(chosen) < count:
        spot = (
            max(left, key=lambda one: min(one.apart_m(other) for other in chosen))
            if chosen
            else left[0]
        )
        chosen.append(spot)
        left.remove(spot)
    return chosen
