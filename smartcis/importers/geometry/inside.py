"""Inside: walking lines within one space, from every door and opening to every other.

Doors do not join each other along the wall: each is approached at right angles, and the approach
points, the space's centre and its inner corners are joined by a thin net of straight lines that
stay on the space's own ground, with elbow room where there is some.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import shapely
from networkx.utils import UnionFind
from shapely.geometry import LineString, Point, Polygon

from smartcis.importers.geometry.sight import sight_lines
from smartcis.importers.geometry.spaces import WalkableSpace
from smartcis.importers.geometry.spanner import Line, spanner

APPROACH_M = 1.6  # how far into a wide hall a door is approached
LEAST_CHORD_M = 0.5  # too narrow to step into
STEP_M = 0.1  # how far into a narrow place a door is approached
MERGE_M = 0.7  # approach points closer than this are one
ELBOW_M = 0.35  # walking lines keep this from walls where they can
CORNER_M = (0.8, 0.4, 0.15)  # distance at which inner corners are rounded, widest that works
SMALL_M2 = 45.0  # rooms below this are crossed from the door straight to the middle
STRETCH = 1.3  # greatest detour of the net


@dataclass(frozen=True)
class Net:
    """Walking lines within one space.

    Args:
        points: the anchors first, in the order given; then what was added.
        lines: (length in metres, index, index).
        centre: index of the point that stands for the space itself.
    """

    points: tuple[Point, ...]
    lines: tuple[Line, ...]
    centre: int


def centre_of(ground: Polygon) -> Point:
    """Returns a point well inside: the middle of the largest circle that fits."""
    circle = shapely.maximum_inscribed_circle(ground, tolerance=0.1)
    return Point(circle.coords[0])


def net_inside(space: WalkableSpace, anchors: Sequence[Point]) -> Net:
    """Joins the anchors of a space.

    Args:
        space: with its own ground settled.
        anchors: doors and openings on its border, within a wall's thickness of its ground.
    """
    points: list[Point] = list(anchors)
    lines: list[Line] = []
    centre = -1
    pieces = space.parts
    for number, piece in enumerate(pieces):
        here = [index for index, anchor in enumerate(anchors) if _nearest(pieces, anchor) == number]
        if not here and number:
            continue
        middle = _join_piece(piece, here, points, lines, passed=space.is_walkway)
        if number == 0:
            centre = middle
    return Net(tuple(points), tuple(lines), centre)


def _nearest(pieces: Sequence[Polygon], anchor: Point) -> int:
    return min(range(len(pieces)), key=lambda k: (round(pieces[k].distance(anchor), 3), k))


def _join_piece(
    piece: Polygon, anchors: Sequence[int], points: list[Point], lines: list[Line], *, passed: bool
) -> int:
    """Joins the anchors of one connected piece; returns the index of its centre."""
    before = len(points), len(lines)
    middle = _join(piece, anchors, points, lines, direct=not passed and piece.area < SMALL_M2)
    if not _all_joined(middle, anchors, lines):
        # Doors in the middle of thick walls see only straight ahead: step in before turning.
        del points[before[0] :], lines[before[1] :]
        middle = _join(piece, anchors, points, lines, direct=False)
    return middle


def _join(
    piece: Polygon, anchors: Sequence[int], points: list[Point], lines: list[Line], *, direct: bool
) -> int:
    hubs: list[int] = []

    def add(point: Point) -> int:
        points.append(point)
        hubs.append(len(points) - 1)
        return hubs[-1]

    middle = add(centre_of(piece))
    for anchor in anchors:
        wanted = None if direct else _approach(piece, points[anchor])
        if wanted is None and not direct and not piece.buffer(0.01).covers(points[anchor]):
            wanted = _just_inside(piece, points[anchor])
        hub = _existing(piece, points[anchor], wanted, hubs, points) if wanted else None
        if hub is None:
            hub = add(wanted) if wanted else anchor
        if hub != anchor:
            lines.append((points[anchor].distance(points[hub]), anchor, hub))
        else:
            hubs.append(anchor)
    _connect(piece, hubs, points, lines)
    return middle


def _all_joined(middle: int, anchors: Sequence[int], lines: Sequence[Line]) -> bool:
    groups: UnionFind[int] = UnionFind()
    for _, one, other in lines:
        groups.union(one, other)
    return all(groups[anchor] == groups[middle] for anchor in anchors)


def _just_inside(piece: Polygon, door: Point) -> Point:
    """Returns the point of a piece nearest to a door, off its wall where there is room."""
    shrunk = piece.buffer(-STEP_M)
    ground = piece if shrunk.is_empty else shrunk
    return Point(shapely.shortest_line(ground, door).coords[0])


def _approach(piece: Polygon, door: Point) -> Point | None:
    """Returns the point before a door, half-way across a corridor or a step into a hall.

    None where there is no room for a step.
    """
    on_wall = Point(shapely.shortest_line(piece.boundary, door).coords[0])
    inward = _inward(piece, on_wall)
    if inward is None:
        return None
    dx, dy = inward
    far = LineString(
        [(on_wall.x + dx * 0.02, on_wall.y + dy * 0.02), (on_wall.x + dx * 40, on_wall.y + dy * 40)]
    )
    chord = shapely.intersection(far, piece)
    first = min(
        (part for part in shapely.get_parts(chord) if isinstance(part, LineString)),
        key=lambda part: part.distance(on_wall),
        default=None,
    )
    if first is None or first.length < LEAST_CHORD_M:
        return None
    step = min(first.length / 2, APPROACH_M)
    return Point(on_wall.x + dx * step, on_wall.y + dy * step)


def _inward(piece: Polygon, on_wall: Point) -> tuple[float, float] | None:
    """Returns the unit vector that points from a wall into the piece."""
    for ring in (piece.exterior, *piece.interiors):
        if ring.distance(on_wall) > 0.01:  # noqa: PLR2004  # one centimetre: on this ring
            continue
        along = shapely.line_locate_point(ring, on_wall)
        before = ring.interpolate(max(0.0, along - 0.05))
        after = ring.interpolate(min(ring.length, along + 0.05))
        length = before.distance(after)
        if length == 0:
            return None
        dx, dy = -(after.y - before.y) / length, (after.x - before.x) / length
        for side in (1.0, -1.0):
            if piece.contains(Point(on_wall.x + side * dx * 0.1, on_wall.y + side * dy * 0.1)):
                return side * dx, side * dy
    return None


def _existing(
    piece: Polygon, door: Point, wanted: Point, hubs: Sequence[int], points: Sequence[Point]
) -> int | None:
    """Returns a hub close enough to stand in for the wanted approach point."""
    ground = piece.union(LineString([door, wanted]).buffer(0.05))
    for hub in hubs:
        if points[hub].distance(wanted) < MERGE_M and shapely.covers(
            ground.buffer(0.01), LineString([door, points[hub]])
        ):
            return hub
    return None


def _connect(piece: Polygon, hubs: list[int], points: list[Point], lines: list[Line]) -> None:
    """Joins the hubs of a piece by a thin net, adding inner corners where needed."""
    needed = len(hubs)
    corners: list[Point] = []
    for distance_m in CORNER_M:
        corners = _inner_corners(piece, distance_m)
        if _is_joined([points[h] for h in hubs] + corners, piece):
            break
    else:
        corners = _triangle_sides(piece)
    candidates = [*(points[hub] for hub in hubs), *corners]
    roomy = sight_lines(piece, candidates, ELBOW_M)
    chosen = spanner(roomy, STRETCH)
    chosen += _bridges(sight_lines(_with_stubs(piece, candidates), candidates), chosen)
    chosen = _pruned(chosen, needed)
    indices = list(hubs)
    for corner in range(needed, len(candidates)):
        if any(corner in line[1:] for line in chosen):
            points.append(candidates[corner])
            indices.append(len(points) - 1)
        else:
            indices.append(-1)
    lines += [(length, indices[one], indices[other]) for length, one, other in chosen]


def _with_stubs(piece: Polygon, candidates: Sequence[Point]) -> Polygon:
    """Returns the ground plus the thickness of wall between it and a door without approach."""
    outside = [p for p in candidates if piece.distance(p) > 0]
    if not outside:
        return piece
    stubs = [shapely.shortest_line(p, piece).buffer(0.05) for p in outside]
    return shapely.union_all([piece, *stubs])


def _is_joined(candidates: Sequence[Point], piece: Polygon) -> bool:
    seen = sight_lines(_with_stubs(piece, candidates), candidates)
    return len(_bridges(seen, [])) == len(candidates) - 1


def _bridges(lines: Sequence[Line], taken: Sequence[Line]) -> list[Line]:
    """Returns the shortest lines that join what `taken` leaves apart."""
    groups: UnionFind[int] = UnionFind()
    for _, one, other in taken:
        groups.union(one, other)
    added = []
    for line in lines:
        if groups[line[1]] != groups[line[2]]:
            groups.union(line[1], line[2])
            added.append(line)
    return added


def _pruned(lines: Sequence[Line], needed: int) -> list[Line]:
    """Drops added points that lead nowhere."""
    kept = list(lines)
    while True:
        degree: dict[int, int] = {}
        for _, one, other in kept:
            degree[one] = degree.get(one, 0) + 1
            degree[other] = degree.get(other, 0) + 1
        dead = {point for point, count in degree.items() if count == 1 and point >= needed}
        if not dead:
            return kept
        kept = [line for line in kept if line[1] not in dead and line[2] not in dead]


def _inner_corners(piece: Polygon, distance_m: float) -> list[Point]:
    """Returns the points around which shortest ways bend, at a distance from the wall."""
    found: list[Point] = []
    shrunk = piece.buffer(-distance_m, join_style="mitre").simplify(distance_m / 4)
    for part in shapely.get_parts(shrunk):
        if not isinstance(part, Polygon) or part.is_empty:
            continue
        outline = shapely.orient_polygons(part)
        for ring in (outline.exterior, *outline.interiors):
            corners = list(ring.coords)[:-1]
            for index, here in enumerate(corners):
                before, after = corners[index - 1], corners[(index + 1) % len(corners)]
                turn = (here[0] - before[0]) * (after[1] - here[1]) - (here[1] - before[1]) * (
                    after[0] - here[0]
                )
                # Counter-clockwise shells: a turn to the right is a corner that stands inward.
                if turn < -0.05 and all(p.distance(Point(here)) > MERGE_M for p in found):  # noqa: PLR2004
                    found.append(Point(here))
    return found


def _triangle_sides(piece: Polygon) -> list[Point]:
    """The middles of the sides shared by triangles: neighbours among them see each other."""
    triangles = shapely.get_parts(shapely.constrained_delaunay_triangles(piece))
    seen: dict[tuple[tuple[float, ...], ...], int] = {}
    for triangle in triangles:
        ring = list(triangle.exterior.coords)
        for one, other in pairwise(ring):
            side = tuple(sorted((one, other)))
            seen[side] = seen.get(side, 0) + 1
    return [
        Point((one[0] + other[0]) / 2, (one[1] + other[1]) / 2)
        for (one, other), count in sorted(seen.items())
        if count > 1
    ]
