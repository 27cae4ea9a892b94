"""Between: ways outdoors that join the buildings of different files, kept as the tables need them.

They follow from the entrances and footprints that are there, whichever file was imported last: so
they are concluded anew by every import, and stand in no export.

Law: called twice, it writes nothing the second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import networkx as nx
import shapely
from django.db.models import F, Q
from shapely.geometry import LineString, MultiPolygon, Point
from shapely.geometry.base import BaseGeometry

from smartcis.importers.drawing import Finding, LevelPoint, Note
from smartcis.importers.geometry.outdoors import LONGEST_M, OutdoorWay, outdoor_ways
from smartcis.importers.geometry.spaces import polygons
from smartcis.importers.held import polygon_of
from smartcis.importers.store import Stored, areas
from smartcis.models import Building, Level, RoutingEdge, RoutingNode, Unit
from smartcis.models.building import OUTDOORS
from smartcis.models.equal import Fields, make_equal

HALF_WIDTH_M = 0.75  # of a way, as the map draws it
NAME = "Outdoors"


def join_buildings(done: Stored) -> list[Note]:
    """Makes the ways outdoors those that entrances and footprints ask for.

    Args:
        done: receives what was written.

    Returns:
        What was concluded.
    """
    units: dict[str, Fields] = {}
    nodes: dict[int, Fields] = {}
    edges: dict[tuple[int, int], Fields] = {}
    notes: list[Note] = []
    drawings = set(Unit.objects.exclude(drawing=OUTDOORS).values_list("drawing", flat=True))
    if len(drawings) > 1:
        numbers = _Numbers()
        for level in Level.objects.all():
            doors, ways, grounds = _ways(level)
            if ways:
                rid = _rid(level)
                units[rid] = _unit(level, ways, grounds)
                _steps(level, rid, doors, ways, numbers, nodes, edges)
                notes += [_note(level, doors, way) for way in ways]
    own = {"drawing": OUTDOORS}
    done.note(Unit, make_equal(Unit.objects.filter(**own), units))
    there = RoutingNode.objects.filter(unit__drawing=OUTDOORS, simulated=False)
    done.note(RoutingNode, make_equal(there, nodes))
    apart = ~Q(src__unit__drawing=F("dst__unit__drawing")) | Q(src__unit__drawing=OUTDOORS)
    steps = RoutingEdge.objects.filter(apart, simulated=False)
    done.note(RoutingEdge, make_equal(steps, edges, "src_id", "dst_id"))
    return notes


class _Numbers:
    """Numbers of points: the one that a point at the same place has, else a fresh one."""

    def __init__(self) -> None:
        stored = RoutingNode.objects.filter(simulated=False)
        self._there = {
            (one.unit_id, one.x_m, one.y_m): one.node
            for one in stored.filter(unit__drawing=OUTDOORS)
        }
        self._highest = max(stored.values_list("node", flat=True), default=0)

    def number(self, rid: str, at: Point) -> int:
        """Returns the number of a point."""
        key = (rid, at.x, at.y)
        if key not in self._there:
            self._highest += 1
            self._there[key] = self._highest
        return self._there[key]


def _ways(level: Level) -> tuple[list[RoutingNode], list[OutdoorWay], list[BaseGeometry]]:
    """Returns the entrances of a level, the ways between them, and the ground they go around."""
    entrances = RoutingNode.objects.filter(level=level, kind="entrance").select_related("unit")
    doors = list(entrances.order_by("unit__drawing", "x_m", "y_m"))
    here = Unit.objects.filter(level=level).exclude(drawing=OUTDOORS)
    grounds = [polygon_of(one.polygon) for one in here]
    for building in Building.objects.all():
        grounds += [polygon_of(rings) for rings in building.footprint]
    named = [(one.unit.drawing, Point(one.x_m, one.y_m)) for one in doors]
    return doors, outdoor_ways(grounds, named, _indoors_m(doors)), grounds


def _indoors_m(doors: Sequence[RoutingNode]) -> dict[tuple[int, int], float]:
    """Returns how far it is through buildings from entrance to entrance."""
    graph: nx.Graph[int] = nx.Graph()
    steps = RoutingEdge.objects.filter(simulated=False).exclude(src__unit__drawing=OUTDOORS)
    for src, dst, length_mm in steps.exclude(dst__unit__drawing=OUTDOORS).values_list(
        "src_id", "dst_id", "length_mm"
    ):
        graph.add_edge(src, dst, weight=length_mm / 1000)
    index = {one.node: k for k, one in enumerate(doors)}
    found: dict[tuple[int, int], float] = {}
    for one in doors:
        if one.node not in graph:
            continue
        lengths = nx.single_source_dijkstra_path_length(graph, one.node, cutoff=2 * LONGEST_M)
        for node in lengths.keys() & index.keys() - {one.node}:
            found[index[one.node], index[node]] = lengths[node]
    return found


def _rid(level: Level) -> str:
    """Returns the id of a level's ways, which no drawn unit has."""
    rid = f"{level.level_id}-outdoors"
    taken = set(Unit.objects.exclude(drawing=OUTDOORS).values_list("rid", flat=True))
    return next(one for k in range(len(taken) + 1) if (one := rid + "-x" * k) not in taken)


def _unit(level: Level, ways: Iterable[OutdoorWay], grounds: Sequence[BaseGeometry]) -> Fields:
    lines = [LineString(way.points) for way in ways]
    strips = shapely.union_all(lines).buffer(HALF_WIDTH_M, join_style="mitre")
    ground = MultiPolygon(polygons(strips.difference(shapely.union_all(list(grounds))) or strips))
    largest = polygons(ground)[0]
    label = shapely.maximum_inscribed_circle(largest, tolerance=0.1).coords[0]
    return {
        "level_id": level.level_id,
        "feature_id": "",
        "name": NAME,
        "category": "walkway",
        "polygon": areas(largest)[0],
        "ground": areas(ground),
        "label_x_m": round(label[0], 3),
        "label_y_m": round(label[1], 3),
        "area_m2": round(ground.area, 2),
        "derived": True,
        "unreached": "",
        "drawing": OUTDOORS,
    }


def _steps(
    level: Level,
    rid: str,
    doors: Sequence[RoutingNode],
    ways: Iterable[OutdoorWay],
    numbers: _Numbers,
    nodes: dict[int, Fields],
    edges: dict[tuple[int, int], Fields],
) -> None:
    """Adds the points and steps of a level's ways; where ways meet, they share them."""
    for way in ways:
        line = []
        for point in way.points[1:-1]:
            number = numbers.number(rid, point)
            nodes[number] = {
                "level_id": level.level_id,
                "unit_id": rid,
                "kind": "turn",
                "name": "",
                "x_m": point.x,
                "y_m": point.y,
                "derived": True,
                "simulated": False,
            }
            line.append(number)
        stops = [doors[way.one].node, *line, doors[way.other].node]
        for k, (src, dst) in enumerate(pairwise(stops)):
            length_m = way.points[k].distance(way.points[k + 1])
            said = {
                "length_mm": max(1, round(1000 * length_m)),
                "step_free": True,
                "way": RoutingEdge.WALK,
                "door_id": None,
            }
            edges[src, dst] = edges[dst, src] = said


def _note(level: Level, doors: Sequence[RoutingNode], way: OutdoorWay) -> Note:
    both = " and ".join(
        f"{one.name or 'entrance'} ({one.unit_id})" for one in (doors[way.one], doors[way.other])
    )
    at = way.points[len(way.points) // 2]
    why = f"{way.length_m:.0f} m in the open, around the buildings between them"
    return Note(Finding.CONCLUDED, "way outdoors", both, why, LevelPoint(level.ordinal, at.x, at.y))
