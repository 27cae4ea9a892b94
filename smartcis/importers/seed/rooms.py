"""Rooms: which ones get machines, by use, area and reach."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from random import Random

from smartcis.importers.geometry.naming import slug
from smartcis.models import Unit

WORKPLACES = frozenset(
    {
        *("room", "unspecified", "office", "classroom", "laboratory", "library"),
        *("conferenceroom", "huddleroom", "auditorium", "lounge"),
    }
)
LAB = re.compile(r"pool|lab|cip", re.IGNORECASE)
NUMBERED = re.compile(r"\d{3}")  # a hall or a café has a name, an office or a lab a number
LEAST_M2, GREATEST_M2 = 38.0, 130.0
SMALLEST_M2 = 8.0  # a desk, a chair and a way to it
TAUGHT_IN = frozenset({"classroom", "auditorium"})
CALLED = re.compile(
    r"hörsaal|hoersaal|lecture|seminar|aula|audimax|auditorium|klasse|classroom|unterricht",
    re.IGNORECASE,
)
SCHOOL = re.compile(r"universit|hochschule|school|schule|college|campus|academy|akademie|gymnasium")
CLASS_M2 = 60.0  # thirty people on chairs


def holds_classes(unit: Unit) -> bool:
    """Returns whether lectures are held in a room: it is made or called for them, or large.

    A large room without a use of its own counts in a school alone: a clinic's is a ward.
    """
    if unit.unreached or unit.category not in WORKPLACES or unit.area_m2 < CLASS_M2 / 2:
        return False
    if unit.category in TAUGHT_IN or CALLED.search(unit.name):
        return True
    plain = unit.category in {"room", "unspecified"} and unit.area_m2 >= CLASS_M2
    return plain and bool(SCHOOL.search(unit.level.venue.name.lower()))


def holds_courses(unit: Unit) -> bool:
    """Returns whether courses are held in a machine room: as many fit in as to a class."""
    return unit.area_m2 >= LEAST_M2


def machine_rooms(units: Sequence[Unit], count: int, rng: Random) -> list[Unit]:
    """Chooses rooms for machines.

    Named pools and laboratories first, then numbered rooms of a lab's size, then whatever people
    work in, the larger first. Levels take turns, so that machines stand on as many as possible.
    """
    able = [unit for unit in units if unit.category in WORKPLACES and not unit.unreached]
    chosen = [unit for unit in able if LAB.search(unit.name) and unit.area_m2 >= LEAST_M2][:count]

    def numbered(unit: Unit) -> bool:
        fits = LEAST_M2 <= unit.area_m2 <= GREATEST_M2 and NUMBERED.search(unit.rid)
        # A hall has a designation of its own beside its number: H14, Aula 2.
        hall = any(sign.isdigit() for sign in unit.name) and slug(unit.name) not in unit.rid
        return bool(fits) and not hall

    def any_size(unit: Unit) -> bool:
        return unit.area_m2 >= SMALLEST_M2

    for fits, order in ((numbered, rng.shuffle), (any_size, _smallest_first)):
        chosen += _in_turns(able, chosen, count - len(chosen), fits, order)
    return chosen


def _in_turns(
    able: Sequence[Unit],
    chosen: Sequence[Unit],
    count: int,
    fits: Callable[[Unit], bool],
    order: Callable[[list[Unit]], None],
) -> list[Unit]:
    """Returns up to `count` more rooms, a level at a time, each time the last in its order."""
    by_level: dict[str, list[Unit]] = defaultdict(list)
    for unit in able:
        if fits(unit) and unit not in chosen:
            by_level[unit.level_id].append(unit)
    for rooms in by_level.values():
        order(rooms)
    found: list[Unit] = []
    while len(found) < count and any(by_level.values()):
        for level in sorted(by_level):
            if by_level[level] and len(found) < count:
                found.append(by_level[level].pop())
    return found


def _smallest_first(rooms: list[Unit]) -> None:
    rooms.sort(key=lambda unit: (unit.area_m2, unit.rid))
