"""Rooms: which ones get machines."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from random import Random

from smartcis.models import Unit

LAB = re.compile(r"pool|lab|cip", re.IGNORECASE)
NUMBERED = re.compile(r"\d{3}")  # a hall or a café has a name, an office or a lab a number
LEAST_M2, GREATEST_M2 = 38.0, 130.0


def machine_rooms(units: Sequence[Unit], count: int, rng: Random) -> list[Unit]:
    """Chooses rooms for machines: named pools first, then numbered rooms of a lab's size.

    Levels take turns, so that machines stand on as many as possible.
    """
    able = [unit for unit in units if unit.category == "room" and not unit.unreached]
    pools = [unit for unit in able if LAB.search(unit.name) and unit.area_m2 >= LEAST_M2]
    by_level: dict[str, list[Unit]] = defaultdict(list)
    for unit in able:
        fits = LEAST_M2 <= unit.area_m2 <= GREATEST_M2 and NUMBERED.search(unit.rid)
        if fits and not unit.name.startswith("H") and unit not in pools:
            by_level[unit.level_id].append(unit)
    for rooms in by_level.values():
        rng.shuffle(rooms)
    chosen = pools[:count]
    while len(chosen) < count and any(by_level.values()):
        for level in sorted(by_level):
            if by_level[level] and len(chosen) < count:
                chosen.append(by_level[level].pop())
    return chosen
