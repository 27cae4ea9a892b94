"""Detour: steps that cut the inside of a third space are led around it, or left out.

Real drawings miss each other by centimetres; one such step must not cost the whole building.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import networkx as nx
import shapely
from shapely.geometry import Point, Polygon
from shapely.geometry.base import BaseGeometry

from smartcis.importers.drawing import Finding, Note
from smartcis.importers.geometry.check import INSIDE_M, Trespass, trespasses
from smartcis.importers.geometry.sight import sight_lines
from smartcis.importers.geometry.spaces import WalkableSpace, polygons
from smartcis.importers.geometry.walking_graph import GraphEdge, WalkingGraph

CORNER_M = 0.02  # how far off a corner a bent step keeps
MOST_CORNERS = 120


def without_trespass(spaces: Sequence[WalkableSpace], graph: WalkingGraph) -> list[Note]:
    """Mends a graph so that no edge crosses a space it does not belong to; says what was done.

    Law: afterwards `trespasses` finds nothing.
    """
    notes = []
    found = {(one.src, one.dst): one for one in trespasses(spaces, graph)}
    for trespass in found.values():
        edge = next(
            one for one in graph.edges if (one.src, one.dst) == (trespass.src, trespass.dst)
        )
        bent = _bent(spaces, graph, edge)
        _remove(graph, edge)
        if bent is not None:
            _add(graph, edge, bent)
        notes.append(_note(spaces, edge, trespass, bent=bent is not None))
    for trespass in trespasses(spaces, graph):  # what was bent may cut a corner of another space
        edge = next(
            one for one in graph.edges if (one.src, one.dst) == (trespass.src, trespass.dst)
        )
        _remove(graph, edge)
        notes.append(_note(spaces, edge, trespass, bent=False))
    return notes


def _note(
    spaces: Sequence[WalkableSpace], edge: GraphEdge, trespass: Trespass, *, bent: bool
) -> Note:
    cut = f"it cuts {trespass.rid} by {trespass.length_m:.2f} m"
    if bent:
        return Note(Finding.REPAIRED, "step", spaces[edge.space].rid, f"{cut}: led around it")
    return Note(Finding.DROPPED, "step", spaces[edge.space].rid, cut)


def _remove(graph: WalkingGraph, edge: GraphEdge) -> None:
    pair = {(edge.src, edge.dst), (edge.dst, edge.src)}
    graph.edges[:] = [one for one in graph.edges if (one.src, one.dst) not in pair]


def _add(graph: WalkingGraph, edge: GraphEdge, points: Sequence[Point]) -> None:
    """Puts a bent line in a step's place; the door, if any, stays at its first or last piece."""
    straight_m = points[0].distance(points[-1])
    extra_m = edge.length_mm / 1000 - straight_m
    numbers = [edge.src]
    numbers += [graph.add_node(edge.space, "turn", point) for point in points[1:-1]]
    numbers.append(edge.dst)
    doors = {node.number for node in graph.nodes if node.kind in {"door", "entrance"}}
    pieces = list(pairwise(range(len(points))))
    marked = 0 if edge.src in doors else len(pieces) - 1
    for place, (one, other) in enumerate(pieces):
        length_m = points[one].distance(points[other]) + (extra_m if place == marked else 0.0)
        way, door_id = (edge.way, edge.door_id) if place == marked else ("walk", "")
        graph.add_both_ways(
            numbers[one],
            numbers[other],
            max(length_m, 0.001),
            edge.space,
            way,
            door_id,
            step_free=edge.step_free,
        )


def _bent(
    spaces: Sequence[WalkableSpace], graph: WalkingGraph, edge: GraphEdge
) -> list[Point] | None:
    """Returns the shortest line between a step's ends that stays off all other spaces."""
    nodes = graph.nodes
    ends = [Point(nodes[n - 1].x_m, nodes[n - 1].y_m) for n in (edge.src, edge.dst)]
    own = spaces[edge.space]
    stubs = [shapely.shortest_line(end, own.free).buffer(CORNER_M * 2) for end in ends]
    reach = shapely.union_all([own.free.buffer(CORNER_M), *stubs])
    others = [
        space.free.buffer(-INSIDE_M)
        for index, space in enumerate(spaces)
        if index != edge.space and space.level == own.level and space.free.intersects(reach)
    ]
    free = shapely.difference(reach, shapely.union_all(others)) if others else reach
    piece = next(
        (one for one in polygons(free) if all(one.distance(end) < CORNER_M for end in ends)), None
    )
    if piece is None:
        return None
    points = [*ends, *_corners(piece)]
    lines: nx.Graph[int] = nx.Graph()
    lines.add_weighted_edges_from(
        (one, other, length) for length, one, other in sight_lines(piece.buffer(0.001), points)
    )
    if not (0 in lines and 1 in lines and nx.has_path(lines, 0, 1)):
        return None
    way = nx.dijkstra_path(lines, 0, 1)
    line = [points[index] for index in way]
    return line if len(line) > 2 and math.isfinite(_length(line)) else None  # noqa: PLR2004  # a bend


def _corners(piece: Polygon) -> list[Point]:
    shrunk: BaseGeometry = piece.buffer(-CORNER_M / 2, join_style="mitre")
    coordinates = shapely.get_coordinates(shrunk if not shrunk.is_empty else piece)
    step = max(1, len(coordinates) // MOST_CORNERS)
    return [Point(x, y) for x, y in coordinates[::step]]


def _length(line: Sequence[Point]) -> float:
    return float(sum(one.distance(other) for one, other in pairwise(line)))
