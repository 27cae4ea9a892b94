"""Stand: the walking point a machine stands at, and the desk that is put where there is none."""

from __future__ import annotations

from dataclasses import dataclass

import shapely
from django.db.models import Max
from shapely.geometry import MultiPolygon, Point, Polygon

from smartcis.errors import Invalid
from smartcis.importers.seed.desks import nearest_seen
from smartcis.importers.walking_points import FIRST_SIMULATED_NODE
from smartcis.models import Desk, Machine, RoutingEdge, RoutingNode, Unit
from smartcis.models.turns import take_turn

POINTS = "walking points"
NAMED_AT_MOST = 8
SIGHT_M = 0.002  # two millimetres of rounding


@dataclass(frozen=True, slots=True)
class Stand:
    """Where a machine can stand.

    Args:
        node: at this walking point, or at a desk that is reached from it.
        desk: whether a desk has to be put there.
    """

    x_m: float
    y_m: float
    node: RoutingNode
    desk: bool = False


def stand_of(unit: Unit, node: RoutingNode | None, x_m: float | None, y_m: float | None) -> Stand:
    """Returns where a machine stands: at a point, at a position, or in the middle of its room.

    Raises:
        Invalid: the point is of another room, or nobody can walk to the position.
    """
    if (x_m is None) is not (y_m is None):
        raise Invalid("a position has x_m and y_m", found=f"x_m {x_m}, y_m {y_m}")
    if node is not None and node.unit_id != unit.pk:
        there = unit.nodes.order_by("node").values_list("node", flat=True)[:NAMED_AT_MOST]
        raise Invalid(
            f"point {node.pk} is not in {unit.pk}",
            found=str(node.pk),
            exists=[str(one) for one in there],
        )
    if x_m is not None and y_m is not None:
        if node is not None:
            return Stand(x_m, y_m, node)
        return Stand(x_m, y_m, _seen_from(unit, x_m, y_m), desk=True)
    node = node or unit.nodes.filter(kind="centre").first()
    if node is None:
        raise Invalid(f"{unit.pk} has no walking point", found=unit.pk)
    return Stand(node.x_m, node.y_m, node)


def put(machine: Machine, stand: Stand) -> None:
    """Puts a machine there, not saved yet, with its desk; must run inside a transaction."""
    machine.x_m, machine.y_m, machine.desk = stand.x_m, stand.y_m, None
    if not stand.desk:
        machine.node = stand.node
        return
    take_turn(POINTS)
    highest = RoutingNode.objects.filter(simulated=True).aggregate(highest=Max("node"))["highest"]
    seen, at = stand.node, {"x_m": stand.x_m, "y_m": stand.y_m}
    # No drawing has it: an import leaves what is marked so alone.
    point = RoutingNode.objects.create(
        node=(highest or FIRST_SIMULATED_NODE) + 1,
        level_id=machine.unit.level_id,
        unit=machine.unit,
        kind="desk",
        simulated=True,
        **at,
    )
    length_mm = max(1, round(1000 * Point(seen.x_m, seen.y_m).distance(Point(*at.values()))))
    for src, dst in ((point, seen), (seen, point)):
        RoutingEdge.objects.create(src=src, dst=dst, length_mm=length_mm, simulated=True)
    machine.node = point
    machine.desk = Desk.objects.create(
        desk_id=f"{machine.unit_id[:50]}.desk{point.pk}",
        unit=machine.unit,
        node=point,
        simulated=machine.simulated,
        **at,
    )


def clear_away(desk: Desk | None) -> None:
    """Removes a desk that no machine stands on, and its walking point where it is only that."""
    if desk is None or Machine.objects.filter(desk=desk).exists():
        return
    point = desk.node
    desk.delete()
    used = point.machines.exists() or point.kiosks.exists() or point.desks.exists()
    if point.simulated and point.kind == "desk" and not used and not point.sensors.exists():
        point.delete()


def _seen_from(unit: Unit, x_m: float, y_m: float) -> RoutingNode:
    """Returns the nearest walking point in sight of a position.

    Raises:
        Invalid: the position is outside the room's ground, or nobody sees it.
    """
    pieces = unit.ground or [unit.polygon]
    ground = MultiPolygon([Polygon(rings[0], rings[1:]) for rings in pieces if rings])
    nodes = list(unit.nodes.exclude(kind="desk").order_by("node"))
    seat = Point(x_m, y_m)
    sight = ground.buffer(SIGHT_M)
    shapely.prepare(sight)
    near = nearest_seen(seat, [Point(one.x_m, one.y_m) for one in nodes], sight)
    if near is None:
        west, south, east, north = sight.bounds
        raise Invalid(
            f"nobody can walk to this position in {unit.pk}",
            found=f"{x_m}, {y_m}",
            exists=[f"x_m from {west:.1f} to {east:.1f}, y_m from {south:.1f} to {north:.1f}"],
            attempt="choose a position on the room's ground",
        )
    return nodes[near]
