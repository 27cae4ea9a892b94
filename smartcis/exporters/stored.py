"""Stored: the building in the tables as a drawing, in metres, under the names it has there.

Law: deriving this drawing gives the units, doors and reach it was read from.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import networkx as nx
import shapely
from shapely.geometry import MultiPolygon, Point, Polygon
from shapely.geometry.base import BaseGeometry

from smartcis.errors import NotFound
from smartcis.importers.drawing import (
    LEVEL_HEIGHT_M,
    Drawing,
    DrawnBuilding,
    DrawnEntrance,
    DrawnFixture,
    DrawnLevel,
    DrawnOpening,
    DrawnRiser,
    DrawnSpace,
    RiserKind,
    StoredAs,
)
from smartcis.importers.geometry.spaces import stored_key
from smartcis.importers.geometry.vertical import LIFT_WAIT_M, STAIR_SLOPE_DEG
from smartcis.importers.held import polygon_of
from smartcis.models import Building, Door, Kiosk, Level, RoutingEdge, RoutingNode, Unit, Venue
from smartcis.models.building import OUTDOORS

AT_WALL_M = 0.6  # how far from an opening the ground on its other side may begin


def stored_drawing() -> Drawing:
    """Returns the building that is there.

    Raises:
        NotFound: none is.
    """
    venue = Venue.objects.first()
    if venue is None:
        raise NotFound(
            "no building is there to export", attempt="import one: manage.py import_building PATH"
        )
    ordinals = dict(Level.objects.values_list("level_id", "ordinal"))
    # Ways between buildings are concluded again from these.
    units = list(Unit.objects.exclude(drawing=OUTDOORS).order_by("level__ordinal", "rid"))
    drawn = RoutingNode.objects.filter(simulated=False).exclude(unit__drawing=OUTDOORS)
    nodes = {one.node: one for one in drawn}
    rises = [
        edge
        for edge in RoutingEdge.objects.filter(simulated=False, way__in=("stairs", "lift"))
        if ordinals[nodes[edge.src_id].level_id] < ordinals[nodes[edge.dst_id].level_id]
    ]
    heights = _heights_m(rises, nodes, ordinals)
    shafts, risers = _rises(rises, nodes, ordinals)
    origin = (venue.origin_lon_deg, venue.origin_lat_deg)
    return Drawing(
        format="",
        slug=venue.slug,
        name=venue.name,
        attribution=venue.attribution,
        origin=origin,
        anchor=origin,
        levels=tuple(
            DrawnLevel(
                one.level_id,
                one.ordinal,
                {"en": one.name},
                one.short_name,
                _areas(one.outline),
                heights[one.level_id],
                one.feature_id,
            )
            for one in Level.objects.all()
        ),
        spaces=tuple(
            DrawnSpace(
                one.rid,
                ordinals[one.level_id],
                _outline(one),
                one.category,
                {"en": one.name} if one.name else {},
                stored=StoredAs(one.rid, one.feature_id, one.derived, one.drawing),
            )
            for one in units
        ),
        openings=(*_doors(ordinals), *_openings(nodes, units, ordinals)),
        entrances=tuple(
            DrawnEntrance(
                f"entrance-{one.node}",
                ordinals[one.level_id],
                Point(one.x_m, one.y_m),
                one.name,
                space=stored_key(one.unit_id),
                derived=one.derived,
            )
            for one in nodes.values()
            if one.kind == "entrance"
        ),
        risers=tuple(risers),
        shafts=tuple(shafts),
        fixtures=tuple(
            DrawnFixture(
                f"kiosk-{one.kiosk_id}",
                ordinals[one.node.level_id],
                Point(one.node.x_m, one.node.y_m),
                one.name,
                one.bearing_deg,
            )
            for one in Kiosk.objects.select_related("node")
        ),
        buildings=tuple(
            DrawnBuilding(
                *(one.feature_id, one.name, _areas(one.footprint), True),
                *(one.drawing, one.attribution),
            )
            for one in Building.objects.all()
        ),
    )


def _areas(stored: Sequence[Sequence[Sequence[Sequence[float]]]]) -> BaseGeometry | None:
    """Returns stored polygons as one shape, None for none."""
    pieces = [Polygon(rings[0], rings[1:]) for rings in stored]
    if not pieces:
        return None
    return pieces[0] if len(pieces) == 1 else MultiPolygon(pieces)


def _outline(unit: Unit) -> BaseGeometry:
    """Returns what is drawn of a unit: its largest piece, and pieces of its ground beside it."""
    largest = Polygon(unit.polygon[0], unit.polygon[1:])
    known = polygon_of(unit.polygon)
    beside = [
        piece for rings in unit.ground if not shapely.intersects(known, piece := polygon_of(rings))
    ]
    return largest if not beside else MultiPolygon([largest, *beside])


def _doors(ordinals: Mapping[str, float]) -> Iterator[DrawnOpening]:
    for one in Door.objects.all():
        between = (stored_key(one.inner_id), stored_key(one.outer_id))
        at = Point(one.x_m, one.y_m)
        yield DrawnOpening(
            one.door_id, ordinals[one.level_id], at, between, one.door_id, one.derived, door=True
        )


def _openings(
    nodes: Mapping[int, RoutingNode], units: Sequence[Unit], ordinals: Mapping[str, float]
) -> Iterator[DrawnOpening]:
    """Returns openings without a door; which unit lies behind one, its steps tell, or the ground.

    An opening's own unit is one of its sides.
    """
    grounds = {
        one.rid: shapely.union_all([polygon_of(rings) for rings in one.ground]) for one in units
    }
    beside: dict[int, set[str]] = defaultdict(set)
    steps = RoutingEdge.objects.filter(simulated=False).exclude(way__in=("stairs", "lift"))
    for src, dst in steps.values_list("src_id", "dst_id"):
        if src in nodes and dst in nodes:
            beside[src].add(nodes[dst].unit_id)
    on_level: dict[str, list[str]] = defaultdict(list)
    for unit in units:
        on_level[unit.level_id].append(unit.rid)
    for one in nodes.values():
        if one.kind != "opening":
            continue
        at = Point(one.x_m, one.y_m)
        near = [
            (rid not in beside[one.node], round(float(grounds[rid].distance(at)), 3), rid)
            for rid in on_level[one.level_id]
            if rid != one.unit_id and grounds[rid].distance(at) <= AT_WALL_M
        ]
        if near:
            between = (stored_key(min(near)[2]), stored_key(one.unit_id))
            key = f"opening-{one.node}"
            yield DrawnOpening(key, ordinals[one.level_id], at, between, derived=True, door=False)


def _heights_m(
    rises: Sequence[RoutingEdge], nodes: Mapping[int, RoutingNode], ordinals: Mapping[str, float]
) -> dict[str, float]:
    """Returns how high each level lies, as the ways between levels are long."""
    joined: nx.Graph[str] = nx.Graph()
    joined.add_nodes_from(ordinals)
    for edge in rises:
        lower, upper = nodes[edge.src_id], nodes[edge.dst_id]
        length_m = edge.length_mm / 1000
        if edge.way == RoutingEdge.STAIRS:
            rise_m = length_m * math.sin(math.radians(STAIR_SLOPE_DEG))
        else:
            rise_m = length_m - (2 * LIFT_WAIT_M if lower.kind == "turn" else 0.0)
        joined.add_edge(lower.level_id, upper.level_id, low=lower.level_id, rise_m=rise_m)
    heights: dict[str, float] = {}
    for start in sorted(ordinals, key=lambda level: ordinals[level]):
        if start in heights:
            continue
        heights[start] = ordinals[start] * LEVEL_HEIGHT_M
        for one, other in nx.bfs_edges(joined, start):
            step = joined.edges[one, other]
            sign = 1 if step["low"] == one else -1
            heights[other] = round(heights[one] + sign * step["rise_m"], 4)
    return heights


def _rises(
    rises: Sequence[RoutingEdge], nodes: Mapping[int, RoutingNode], ordinals: Mapping[str, float]
) -> tuple[list[tuple[str, str]], list[DrawnRiser]]:
    """Returns the ways between levels: pairs of units of one shaft, and lines between points."""
    shafts, risers = [], []
    for edge in rises:
        lower, upper = nodes[edge.src_id], nodes[edge.dst_id]
        if lower.kind == upper.kind == "centre":
            shafts.append((stored_key(lower.unit_id), stored_key(upper.unit_id)))
            continue
        kind = RiserKind.LIFT if edge.way == RoutingEdge.LIFT else RiserKind.STAIRS
        if kind is RiserKind.STAIRS and edge.step_free:
            kind = RiserKind.RAMP
        stops = tuple((ordinals[one.level_id], Point(one.x_m, one.y_m)) for one in (lower, upper))
        risers.append(DrawnRiser(f"riser-{edge.src_id}-{edge.dst_id}", kind, stops))
    return shafts, risers
