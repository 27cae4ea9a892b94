"""Outdoors: ways between doors of different buildings, around whatever stands between them.

Shortest paths in the visibility graph of doors and corners; of these, shortest first, those
without which the ways taken so far, in the open and through buildings, would be a detour.

Law: between every two doors of different buildings that a path of at most `LONGEST_M` joins, the
ways taken lead with at most `DETOUR` times its length.
Source: T. Lozano-Pérez, M. Wesley, An algorithm for planning collision-free paths among polyhedral
obstacles, 1979 (visibility graph); `spanner.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np
import shapely
from shapely.geometry import Point, Polygon, box
from shapely.geometry.base import BaseGeometry

from smartcis.importers.geometry.sight import sight_lines
from smartcis.importers.geometry.spaces import polygons

LONGEST_M = 300.0  # further apart, two buildings are no neighbours; own estimate
DETOUR = 1.5
CLEARANCE_M = 1.0  # from a building's wall
CORNER_M = 0.5  # what is smaller at a wall is walked past
STEP_OUT_M = 5.0  # how deep in a footprint a door may lie
MOST_POINTS = 600  # of one visibility graph


@dataclass(frozen=True, slots=True)
class OutdoorWay:
    """A way in the open.

    Args:
        one, other: indices of the doors it joins.
        points: in metres, from door to door.
        length_m: of the line through them.
    """

    one: int
    other: int
    points: tuple[Point, ...]
    length_m: float


def outdoor_ways(
    grounds: Sequence[BaseGeometry],
    doors: Sequence[tuple[str, Point]],
    indoors_m: Mapping[tuple[int, int], float],
) -> list[OutdoorWay]:
    """Finds the ways of one level.

    Args:
        grounds: what buildings cover.
        doors: name of the building and point of each, in metres.
        indoors_m: walking distance through buildings by indices of two doors.
    """
    if len({building for building, _ in doors}) < 2:  # noqa: PLR2004  # two buildings
        return []
    blocked = shapely.union_all(list(grounds)).buffer(CLEARANCE_M, join_style="mitre")
    blocked = blocked.simplify(CORNER_M)
    near = [(index, out) for index, (_, door) in enumerate(doors) if (out := _out(door, blocked))]
    points = [out for _, out in near]
    points += _corners(blocked, shapely.multipoints(points), MOST_POINTS - len(points))
    seen: nx.Graph[int] = nx.Graph()
    around = box(*shapely.geometrycollections([blocked, *points]).bounds).buffer(LONGEST_M)
    for length_m, one, other in sight_lines(around.difference(blocked), points):
        if length_m <= LONGEST_M:
            seen.add_edge(one, other, weight=length_m)
    found = []
    for at, (index, out) in enumerate(near):
        if at not in seen:
            continue
        lengths: dict[int, float] = nx.single_source_dijkstra_path_length(
            seen, at, cutoff=LONGEST_M
        )
        ways: dict[int, list[int]] = nx.single_source_dijkstra_path(seen, at, cutoff=LONGEST_M)
        for to in range(at + 1, len(near)):
            other, end = near[to]
            if to in ways and doors[index][0] != doors[other][0]:
                line = [doors[index][1], *(points[one] for one in ways[to]), doors[other][1]]
                steps_m = doors[index][1].distance(out) + end.distance(doors[other][1])
                found.append(OutdoorWay(index, other, _once(line), lengths[to] + steps_m))
    return _needed(found, indoors_m)


def _out(door: Point, blocked: BaseGeometry) -> Point | None:
    """Returns where one stands in front of a door; None where it leads to no open ground."""
    if not blocked.covers(door):
        return door
    outer = shapely.union_all([Polygon(piece.exterior).boundary for piece in polygons(blocked)])
    out = Point(shapely.shortest_line(outer, door).coords[0])
    return out if out.distance(door) <= STEP_OUT_M else None


def _corners(blocked: BaseGeometry, doors: BaseGeometry, most: int) -> list[Point]:
    """Returns corners that a shortest path may turn at, those nearest to the doors if many."""
    found = []
    for piece in polygons(shapely.orient_polygons(blocked)):
        ring = np.array(piece.exterior.coords)[:-1]
        into, onward = ring - np.roll(ring, 1, axis=0), np.roll(ring, -1, axis=0) - ring
        turns = into[:, 0] * onward[:, 1] - into[:, 1] * onward[:, 0]
        found += [Point(corner) for corner, turn in zip(ring, turns, strict=True) if turn > 0]
    return sorted(found, key=doors.distance)[: max(0, most)]


def _once(line: Sequence[Point]) -> tuple[Point, ...]:
    """Returns points to the millimetre, without one that stands twice in a row."""
    rounded = [Point(round(one.x, 3), round(one.y, 3)) for one in line]
    return tuple(one for k, one in enumerate(rounded) if k == 0 or not one.equals(rounded[k - 1]))


def _needed(
    ways: Sequence[OutdoorWay], indoors_m: Mapping[tuple[int, int], float]
) -> list[OutdoorWay]:
    joined: nx.Graph[int] = nx.Graph()
    for (one, other), length_m in indoors_m.items():
        joined.add_edge(one, other, weight=length_m)
    kept = []
    for way in sorted(ways, key=lambda one: (one.length_m, one.one, one.other)):
        if way.one in joined:
            reach_m = DETOUR * way.length_m
            if way.other in nx.single_source_dijkstra_path_length(joined, way.one, cutoff=reach_m):
                continue
        kept.append(way)
        joined.add_edge(way.one, way.other, weight=way.length_m)
    return kept
