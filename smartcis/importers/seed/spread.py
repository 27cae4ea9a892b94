"""Spread: choose points that keep a distance from each other, or that lie far apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

from smartcis.models import RoutingNode, Sensor

LEVEL_APART_M = 60.0  # for picking far-apart points, one floor counts like this many metres

Spot = TypeVar("Spot", RoutingNode, Sensor)


def apart_m(one: RoutingNode | Sensor, other: RoutingNode | Sensor) -> float:
    """Returns the distance between two points, floors counted generously."""
    flat = math.hypot(one.x_m - other.x_m, one.y_m - other.y_m)
    return flat + LEVEL_APART_M * abs(one.level.ordinal - other.level.ordinal)


def spaced(
    spots: Sequence[RoutingNode], every_m: float, taken: Sequence[RoutingNode] = ()
) -> list[RoutingNode]:
    """Chooses spots, in the order given, none nearer to a chosen one than `every_m`.

    Law: every spot has a chosen one within `every_m` on its level.
    """
    chosen: list[RoutingNode] = []
    for spot in spots:
        standing = (one for one in (*taken, *chosen) if one.level_id == spot.level_id)
        if all(apart_m(spot, one) >= every_m for one in standing):
            chosen.append(spot)
    return chosen


def far_apart(spots: Sequence[Spot], count: int) -> list[Spot]:
    """Chooses `count` spots, each as far as possible from those before; the first given first."""
    left = list(spots)
    chosen: list[Spot] = []
    while left and len(chosen) < count:
        spot = (
            max(left, key=lambda one: min(apart_m(one, other) for other in chosen))
            if chosen
            else left[0]
        )
        chosen.append(spot)
        left.remove(spot)
    return chosen
