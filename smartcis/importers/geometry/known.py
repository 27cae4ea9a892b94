"""Known: what an earlier import called things, so that a changed drawing keeps their names.

Machines, sensors, bookings and the state of doors hang on these names.

Law: a drawing that has not changed gives every unit and door the name it has.
Source: own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from shapely import STRtree, hausdorff_distance
from shapely.geometry import Point
from shapely.geometry.base import BaseGeometry

from smartcis.importers.geometry.spaces import WalkableSpace

LEAST_SHARED = 0.5  # of the ground of both: less is another room
SAME_DOOR_M = 1.0
SAME_M = 0.002  # degrees come back as metres a fraction of a millimetre off
PREFIX_LENGTH = 15


@dataclass(frozen=True, slots=True)
class KnownUnit:
    """A unit that is there.

    Args:
        key: the file's identifier of it; empty for a derived one.
        outline: in metres.
    """

    rid: str
    key: str
    level: float
    name: str
    outline: BaseGeometry


@dataclass(frozen=True, slots=True)
class KnownDoor:
    """A door that is there, between two units."""

    door_id: str
    inner: str
    outer: str
    point: Point


@dataclass(frozen=True, slots=True)
class KnownBuilding:
    """The building that is there; nothing of it by default.

    Args:
        slug: of the venue.
        origin: longitude and latitude of x = y = 0; None lets the drawing decide.
        taken: ids of units of other drawings.
        prefix: of a unit whose id is taken.
    """

    slug: str = ""
    origin: tuple[float, float] | None = None
    units: tuple[KnownUnit, ...] = ()
    doors: tuple[KnownDoor, ...] = ()
    taken: frozenset[str] = frozenset()
    prefix: str = ""


def as_known(spaces: Sequence[WalkableSpace], known: KnownBuilding) -> list[WalkableSpace]:
    """Returns spaces under the ids they had: as stored, else by key, else name, else ground."""
    kept: dict[int, str] = {}
    left = {(one.level, one.rid): one for one in known.units}
    for pairs in (_as_stored, _by_key, _by_name, _by_ground):
        open_spaces = [(index, one) for index, one in enumerate(spaces) if index not in kept]
        for index, unit in pairs(open_spaces, list(left.values())):
            if index not in kept and left.pop((unit.level, unit.rid), None) is not None:
                kept[index] = unit.rid
    taken = {one.rid for one in known.units} | known.taken
    return [
        replace(one, rid=kept[index] if index in kept else _fresh(one.rid, taken, known.prefix))
        for index, one in enumerate(spaces)
    ]


def is_drawing_of(spaces: Sequence[WalkableSpace], known: KnownBuilding) -> bool:
    """Returns whether at least half of the drawn and of the known rooms lie where another does."""
    drawn = [(index, one) for index, one in enumerate(spaces) if one.feature_id]
    keyed = [one for one in known.units if one.key]
    pairs = list(_by_ground(drawn, keyed))
    both = min(len({index for index, _ in pairs}), len({unit.rid for _, unit in pairs}))
    return 2 * both >= max(len(drawn), len(keyed))


def same_ground(one: BaseGeometry, other: BaseGeometry) -> bool:
    """Returns whether two outlines are one, but for what degrees take from metres."""
    if one.is_empty or other.is_empty:
        return bool(one.is_empty and other.is_empty)
    return bool(hausdorff_distance(one.boundary, other.boundary) <= SAME_M)


class DoorNames:
    """Names doors of a graph in the making.

    Args:
        known: those that are there; a door within a metre of one between the same two units is it.
    """

    def __init__(self, known: Sequence[KnownDoor] = ()) -> None:
        self._left: dict[tuple[str, str], list[KnownDoor]] = defaultdict(list)
        for one in known:
            self._left[one.inner, one.outer].append(one)
        self._taken = {one.door_id for one in known}
        self._used: dict[str, int] = defaultdict(int)

    def name(self, inner: str, outer: str, point: Point) -> str:
        """Returns the id of a door: the one it had, else the inner unit's with a number."""
        there = self._left[inner, outer]
        nearest = min(there, key=lambda one: one.point.distance(point), default=None)
        if nearest is not None and nearest.point.distance(point) <= SAME_DOOR_M:
            there.remove(nearest)
            return nearest.door_id
        while True:
            self._used[inner] += 1
            door_id = f"{inner}.d{self._used[inner]}"
            if door_id not in self._taken:
                return door_id


Open = Sequence[tuple[int, WalkableSpace]]
Pairs = Iterator[tuple[int, KnownUnit]]


def _as_stored(spaces: Open, units: Sequence[KnownUnit]) -> Pairs:
    there = {(one.level, one.rid): one for one in units}
    for index, space in spaces:
        if space.stored and (unit := there.get((space.level, space.rid))) is not None:
            yield index, unit


def _by_key(spaces: Open, units: Sequence[KnownUnit]) -> Pairs:
    """A key may be no more than a position in the file: the ground or the name must agree."""
    keyed = {(one.level, one.key): one for one in units if one.key}
    for index, space in spaces:
        unit = keyed.get((space.level, space.feature_id))
        if unit is None:
            continue
        named = bool(space.name) and space.name == unit.name
        if named or _shared(space.polygon, unit.outline) > 0:
            yield index, unit


def _by_name(spaces: Open, units: Sequence[KnownUnit]) -> Pairs:
    named = {(one.level, one.rid, one.name): one for one in units if one.name}
    for index, space in spaces:
        unit = named.get((space.level, space.rid, space.name))
        if unit is not None:
            yield index, unit


def _by_ground(spaces: Open, units: Sequence[KnownUnit]) -> Pairs:
    tree = STRtree([one.outline for one in units])
    found = [
        (shared, index, unit)
        for index, space in spaces
        for unit in (units[int(near)] for near in tree.query(space.polygon))
        if unit.level == space.level and bool(unit.key) == bool(space.feature_id)
        if (shared := _shared(space.polygon, unit.outline)) >= LEAST_SHARED
    ]
    for _, index, unit in sorted(found, key=lambda one: -one[0]):
        yield index, unit


def _shared(one: BaseGeometry, other: BaseGeometry) -> float:
    """Returns how much of two grounds together both cover, 0 to 1."""
    both = one.intersection(other).area
    return both / (one.area + other.area - both) if both else 0.0


def _fresh(rid: str, taken: set[str], prefix: str) -> str:
    chosen, number = rid, 1
    if prefix and chosen in taken:
        chosen = rid = f"{prefix[:PREFIX_LENGTH]}-{rid}"
    while chosen in taken:
        number += 1
        chosen = f"{rid}-{number}"
    taken.add(chosen)
    return chosen
