"""Passages: which shared walls people can get through, and whether a door stands there.

Walkways, stairs and lifts are open to each other. A room has one door to each walkway it shares a
wall with; to a gap corridor only if no drawn walkway touches it. A door between two rooms is
concluded only where a room would otherwise be cut off. Where the data has drawn openings, these are
taken, and the rooms they lead into get no concluded doors beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import shapely
from networkx.utils import UnionFind
from shapely.geometry import Point
from shapely.geometry.base import BaseGeometry

from smartcis.importers.geometry.contact import SpaceContact, crossing_point
from smartcis.importers.geometry.opposite import DRAWN_WALL_M, opposite_sides
from smartcis.importers.geometry.spaces import WalkableSpace

OPENING_EVERY_M = 6.0  # a long open border gets a crossing about every so often
WIDE_M = 2.0  # further stretches of the same border count from this length on


@dataclass(frozen=True)
class OneSide:
    """An opening with one space at it.

    Args:
        space: index of that space.
        point: in the wall, in metres.
    """

    space: int
    point: Point


@dataclass(frozen=True)
class Passage:
    """A way from one space to a neighbour.

    Args:
        inner: index of the space one goes into.
        outer: index of the space one comes from.
        point: on the shared wall, in metres.
        is_door: a door can be locked; an opening cannot.
        derived: concluded instead of drawn.
    """

    inner: int
    outer: int
    point: Point
    is_door: bool
    derived: bool = True


def drawn_opening(
    spaces: Sequence[WalkableSpace],
    tree: shapely.STRtree,
    drawn: BaseGeometry,
    middle: Point,
    named: Sequence[int] = (),
) -> Passage | OneSide | str:
    """Returns the passage at a drawn opening, the one side it has, or why there is none.

    Args:
        spaces: one level's.
        tree: of their grounds.
        drawn: a point, a line or an area in the wall's hole, in metres.
        middle: of it.
        named: indices of the spaces it joins, where the file says.
    """
    sides = [index for index in dict.fromkeys(named) if spaces[index].parts]
    if len(sides) < 2:  # noqa: PLR2004  # a door has two sides
        hits = [int(hit) for hit in tree.query(drawn, predicate="dwithin", distance=DRAWN_WALL_M)]
        near = {hit: spaces[hit].free for hit in hits if spaces[hit].parts}
        sides += [index for index in opposite_sides(near, drawn, middle) if index not in sides]
    if not sides:
        return "fewer than two spaces lie at it"
    if len(sides) == 1:
        border = spaces[sides[0]].free.boundary
        return OneSide(sides[0], Point(shapely.shortest_line(border, middle).coords[0]))
    one, other = sides[:2]
    inner, outer = (one, other) if spaces[one].is_room else (other, one)
    is_door = spaces[one].is_room or spaces[other].is_room
    rooms = spaces[inner].is_room and spaces[outer].is_room
    if rooms and spaces[outer].polygon.area < spaces[inner].polygon.area:
        inner, outer = outer, inner  # one enters the smaller from the greater
    return Passage(inner, outer, Point(middle), is_door, derived=False)


def passages(
    spaces: Sequence[WalkableSpace],
    walls: Sequence[SpaceContact],
    entered: frozenset[int] = frozenset(),
    drawn: Sequence[Passage] = (),
) -> list[Passage]:
    """Chooses the passages of one level.

    Args:
        spaces: one level's.
        walls: their contacts.
        entered: indices of spaces with an entrance of their own.
        drawn: openings the data has.
    """
    drawn_walkway = {
        index
        for wall in walls
        for index, neighbour in ((wall.one, wall.other), (wall.other, wall.one))
        if spaces[neighbour].is_walkway and not spaces[neighbour].derived
    }
    groups: UnionFind[int] = UnionFind()
    chosen: list[Passage] = list(drawn)
    later: list[SpaceContact] = []
    for way in drawn:
        groups.union(way.inner, way.outer)
    known = {frozenset((way.inner, way.outer)) for way in drawn}
    furnished = {way.inner for way in drawn} | {way.outer for way in drawn}
    for wall in walls:
        if {wall.one, wall.other} in known:
            continue
        one, other = spaces[wall.one], spaces[wall.other]
        if not one.is_room and not other.is_room:
            if _open(one, other):
                chosen += _openings(spaces, wall)
                groups.union(wall.one, wall.other)
            continue
        if one.is_room and other.is_room:
            later.append(wall)
            continue
        room, walkway = (wall.one, wall.other) if one.is_room else (wall.other, wall.one)
        doubtful = spaces[walkway].derived and room in drawn_walkway
        if not spaces[walkway].is_walkway or doubtful or room in furnished:
            later.append(wall)
            continue
        chosen.append(_door(spaces, wall, inner=room, outer=walkway))
        groups.union(room, walkway)
    # First everything that drawn walkways and entrances can reach, lifts inside core rooms
    # included; then what hangs on a staircase or lift alone, on levels drawn only around it.
    for lives in (_on_foot, _by_lift_or_stairs):
        reached = {
            groups[index] for index, space in enumerate(spaces) if index in entered or lives(space)
        }
        chosen += _rescue(spaces, later, groups, reached)
    return chosen


def _on_foot(space: WalkableSpace) -> bool:
    return space.is_walkway and not space.derived


def _by_lift_or_stairs(space: WalkableSpace) -> bool:
    return _on_foot(space) or space.is_stairs or space.is_lift


def _open(one: WalkableSpace, other: WalkableSpace) -> bool:
    """Returns whether two spaces without doors are open to each other; two lift shafts are not."""
    return one.is_walkway or other.is_walkway or (one.is_stairs and other.is_stairs)


def _rescue(
    spaces: Sequence[WalkableSpace],
    walls: Sequence[SpaceContact],
    groups: UnionFind[int],
    reached: set[int],
) -> list[Passage]:
    """Returns cut-off rooms a door to a neighbour, through the longest shared wall first."""
    chosen: list[Passage] = []
    open_walls = sorted(walls, key=lambda wall: (-wall.length_m, wall.one, wall.other))
    grew = True
    while grew:
        grew = False
        for wall in open_walls:
            one, other = groups[wall.one], groups[wall.other]
            if (one in reached) == (other in reached):
                continue
            inner, outer = (wall.other, wall.one) if one in reached else (wall.one, wall.other)
            chosen.append(_door(spaces, wall, inner=inner, outer=outer))
            groups.union(wall.one, wall.other)
            reached.add(groups[wall.one])
            grew = True
            break
    return chosen


def _openings(spaces: Sequence[WalkableSpace], wall: SpaceContact) -> list[Passage]:
    ground = spaces[wall.other].free
    found = []
    for index, stretch in enumerate(wall.stretches):
        if index and stretch.length < WIDE_M:
            break
        count = max(1, round(stretch.length / OPENING_EVERY_M))
        for k in range(count):
            point = crossing_point(stretch, (k + 0.5) / count, ground)
            found.append(Passage(wall.one, wall.other, point, is_door=False))
    return found


def _door(spaces: Sequence[WalkableSpace], wall: SpaceContact, inner: int, outer: int) -> Passage:
    point = crossing_point(wall.stretches[0], 0.5, spaces[wall.other].free)
    return Passage(inner, outer, point, is_door=True)
