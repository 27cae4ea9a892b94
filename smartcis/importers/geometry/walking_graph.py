"""Walking graph: nodes and directed edges that people can follow, in metres and millimetres.

A door's node stands on the wall. Its edges into the inner space carry the door's id, so locking
the door cuts exactly those; its edges on the outer side belong to the corridor.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shapely.geometry import Point

from smartcis.importers.geometry.entrances import Entrance
from smartcis.importers.geometry.inside import net_inside
from smartcis.importers.geometry.passages import Passage
from smartcis.importers.geometry.spaces import WalkableSpace
from smartcis.importers.geometry.vertical import LIFT_WAIT_M, Climb

DOOR_M = 1.0  # walking equivalent of opening a door, so that rooms are no short cuts; own estimate


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A point one can stand on.

    Args:
        number: position in the graph, from 1.
        space: index of the space that owns it.
        kind: centre, turn, door, opening or entrance.
    """

    number: int
    space: int
    kind: str
    x_m: float
    y_m: float


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A straight way between two nodes; both directions are edges.

    Args:
        way: walk, door, stairs, lift or entrance.
        space: index of the space it runs through.
        length_mm: walking equivalent, at least 1.
        door_id: the door it leads through, empty for none.
    """

    src: int
    dst: int
    length_mm: int
    step_free: bool
    way: str
    space: int
    door_id: str = ""


@dataclass(frozen=True, slots=True)
class GraphDoor:
    """A door on the wall between two spaces.

    Args:
        inner: index of the space it closes.
        outer: index of the space it opens from.
        derived: concluded instead of drawn.
    """

    door_id: str
    inner: int
    outer: int
    x_m: float
    y_m: float
    derived: bool = True


@dataclass(frozen=True)
class WalkingGraph:
    """The whole building's graph."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    doors: tuple[GraphDoor, ...]
    centres: Mapping[int, int]


class _GraphBuilder:
    def __init__(self, spaces: Sequence[WalkableSpace]) -> None:
        self.spaces = spaces
        self.nodes: list[GraphNode] = []
        self.edges: list[GraphEdge] = []
        self.doors: list[GraphDoor] = []
        self.centres: dict[int, int] = {}
        # Per space: (node number, point, door it closes or empty)
        self.anchors: dict[int, list[tuple[int, Point, str]]] = defaultdict(list)

    def node(self, space: int, kind: str, point: Point) -> int:
        number = len(self.nodes) + 1
        self.nodes.append(GraphNode(number, space, kind, round(point.x, 3), round(point.y, 3)))
        return number

    def both_ways(
        self,
        one: int,
        other: int,
        length_m: float,
        space: int,
        way: str,
        door_id: str = "",
        *,
        step_free: bool = True,
    ) -> None:
        length_mm = max(1, round(length_m * 1000))
        self.edges.append(GraphEdge(one, other, length_mm, step_free, way, space, door_id))
        self.edges.append(GraphEdge(other, one, length_mm, step_free, way, space, door_id))


def walking_graph(
    spaces: Sequence[WalkableSpace],
    ways: Sequence[Passage],
    entrances: Sequence[Entrance],
    rises: Sequence[Climb],
) -> WalkingGraph:
    """Assembles the graph.

    Args:
        spaces: of all levels.
        ways: passages, indices into `spaces`.
        entrances: indices into `spaces`.
        rises: climbs, indices into `spaces`.
    """
    build = _GraphBuilder(spaces)
    _add_passages(build, ways)
    for entrance in entrances:
        number = build.node(entrance.space, "entrance", entrance.point)
        build.anchors[entrance.space].append((number, entrance.point, "entrance"))
    for index, space in enumerate(spaces):
        if not space.free.is_empty:
            _add_inside(build, index)
    for rise in rises:
        lower, upper = build.centres[rise.lower], build.centres[rise.upper]
        way = "lift" if rise.by_lift else "stairs"
        build.both_ways(lower, upper, rise.length_m, rise.lower, way, step_free=rise.by_lift)
    return WalkingGraph(
        tuple(build.nodes), tuple(build.edges), tuple(build.doors), dict(build.centres)
    )


def _add_passages(build: _GraphBuilder, ways: Sequence[Passage]) -> None:
    used: dict[str, int] = defaultdict(int)
    for way in ways:
        kind = "door" if way.is_door else "opening"
        number = build.node(way.outer, kind, way.point)
        door_id = ""
        if way.is_door:
            rid = build.spaces[way.inner].rid
            used[rid] += 1
            door_id = f"{rid}.d{used[rid]}"
            x_m, y_m = round(way.point.x, 3), round(way.point.y, 3)
            build.doors.append(GraphDoor(door_id, way.inner, way.outer, x_m, y_m, way.derived))
        build.anchors[way.inner].append((number, way.point, door_id))
        build.anchors[way.outer].append((number, way.point, ""))


def _add_inside(build: _GraphBuilder, index: int) -> None:
    space = build.spaces[index]
    anchors = build.anchors[index]
    net = net_inside(space, [point for _, point, _ in anchors])
    numbers = [number for number, _, _ in anchors]
    numbers += [
        build.node(index, "centre" if k == net.centre else "turn", net.points[k])
        for k in range(len(anchors), len(net.points))
    ]
    build.centres[index] = numbers[net.centre]
    for length_m, one, other in net.lines:
        closing = [
            anchors[end][2] for end in (one, other) if end < len(anchors) and anchors[end][2]
        ]
        door_id = next((mark for mark in closing if mark != "entrance"), "")
        way, extra_m = "walk", 0.0
        if door_id:
            way, extra_m = "door", DOOR_M
        elif closing:
            way = "entrance"
        elif space.is_lift and net.centre in (one, other):
            extra_m = LIFT_WAIT_M
        build.both_ways(numbers[one], numbers[other], length_m + extra_m, index, way, door_id)
