"""Walking graph: nodes and directed edges that people can follow, in metres and millimetres.

A door's node stands on the wall. Its edges into the inner space carry the door's id, so locking
the door cuts exactly those; its edges on the outer side belong to the corridor.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from shapely.geometry import Point

from smartcis.importers.geometry.entrances import Entrance
from smartcis.importers.geometry.inside import net_inside
from smartcis.importers.geometry.known import DoorNames
from smartcis.importers.geometry.passages import Passage
from smartcis.importers.geometry.spaces import WalkableSpace
from smartcis.importers.geometry.vertical import LIFT_WAIT_M, Climb, Riser

Anchor = tuple[int, Point, str]
"""Node number, point, and the door it closes or empty."""
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


@dataclass
class WalkingGraph:
    """The whole building's graph, while and after it is assembled.

    Args:
        centres: by space, the node that stands for it.
    """

    nodes: list[GraphNode] = field(default_factory=list)
    edges: list[GraphEdge] = field(default_factory=list)
    doors: list[GraphDoor] = field(default_factory=list)
    centres: dict[int, int] = field(default_factory=dict)

    def add_node(self, space: int, kind: str, point: Point) -> int:
        """Returns the number of a new node."""
        number = len(self.nodes) + 1
        self.nodes.append(GraphNode(number, space, kind, round(point.x, 3), round(point.y, 3)))
        return number

    def add_both_ways(
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
        """Adds the edges between two nodes."""
        length_mm = max(1, round(length_m * 1000))
        self.edges.append(GraphEdge(one, other, length_mm, step_free, way, space, door_id))
        self.edges.append(GraphEdge(other, one, length_mm, step_free, way, space, door_id))


def walking_graph(
    spaces: Sequence[WalkableSpace],
    ways: Sequence[Passage],
    entrances: Sequence[Entrance],
    rises: Sequence[Climb],
    risers: Sequence[Riser] = (),
    names: DoorNames | None = None,
) -> WalkingGraph:
    """Assembles the graph.

    Args:
        spaces: of all levels.
        ways: passages, indices into `spaces`.
        entrances: indices into `spaces`.
        rises: climbs, indices into `spaces`.
        risers: drawn ways between levels, indices into `spaces`.
        names: of doors.
    """
    graph = WalkingGraph()
    anchors = _add_passages(graph, spaces, ways, names or DoorNames())
    for entrance in entrances:
        number = graph.add_node(entrance.space, "entrance", entrance.point)
        anchors[entrance.space].append((number, entrance.point, "entrance"))
    ends = []
    for riser in risers:
        numbers = []
        for index, point in (riser.lower, riser.upper):
            numbers.append(graph.add_node(index, "turn", point))
            anchors[index].append((numbers[-1], point, ""))
        ends.append(numbers)
    for index, space in enumerate(spaces):
        if not space.free.is_empty:
            _add_inside(graph, index, space, anchors[index])
    for rise in rises:
        lower, upper = graph.centres[rise.lower], graph.centres[rise.upper]
        way = "lift" if rise.by_lift else "stairs"
        graph.add_both_ways(lower, upper, rise.length_m, rise.lower, way, step_free=rise.step_free)
    for riser, (lower, upper) in zip(risers, ends, strict=True):
        way = "lift" if riser.by_lift else "stairs"
        length_m = riser.length_m + (2 * LIFT_WAIT_M if riser.by_lift else 0.0)
        step_free = not riser.steps
        graph.add_both_ways(lower, upper, length_m, riser.lower[0], way, step_free=step_free)
    return graph


def _add_passages(
    graph: WalkingGraph,
    spaces: Sequence[WalkableSpace],
    ways: Sequence[Passage],
    names: DoorNames,
) -> dict[int, list[Anchor]]:
    """Adds doors and openings; returns them by the spaces they belong to."""
    anchors: dict[int, list[Anchor]] = defaultdict(list)
    for way in ways:
        kind = "door" if way.is_door else "opening"
        number = graph.add_node(way.outer, kind, way.point)
        door_id = ""
        if way.is_door:
            door_id = names.name(spaces[way.inner].rid, spaces[way.outer].rid, way.point)
            x_m, y_m = round(way.point.x, 3), round(way.point.y, 3)
            graph.doors.append(GraphDoor(door_id, way.inner, way.outer, x_m, y_m, way.derived))
        anchors[way.inner].append((number, way.point, door_id))
        anchors[way.outer].append((number, way.point, ""))
    return anchors


def _add_inside(
    graph: WalkingGraph, index: int, space: WalkableSpace, anchors: Sequence[Anchor]
) -> None:
    net = net_inside(space, [point for _, point, _ in anchors])
    numbers = [number for number, _, _ in anchors]
    numbers += [
        graph.add_node(index, "centre" if k == net.centre else "turn", net.points[k])
        for k in range(len(anchors), len(net.points))
    ]
    graph.centres[index] = numbers[net.centre]
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
        graph.add_both_ways(numbers[one], numbers[other], length_m + extra_m, index, way, door_id)
