"""Machines: computers on desks, with names and software."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from django.db.models import Max
from shapely.geometry import MultiPolygon, Point, Polygon

from smartcis.importers.seed.desks import desk_seats
from smartcis.importers.walking_points import FIRST_SIMULATED_NODE
from smartcis.models import Desk, Machine, RoutingEdge, RoutingNode, SoftwareInstall, Unit

ON_EVERY_MACHINE = ("Firefox", "LibreOffice")
SOMETIMES = (  # software, share of rooms that have it, share of their machines
    ("LaTeX", 0.6, 0.9),
    ("Word", 0.6, 0.95),
    ("Matlab", 0.4, 0.85),
    ("R", 0.45, 0.9),
    ("Blender", 0.25, 0.8),
    ("Python", 0.7, 0.95),
    ("Mathematica", 0.2, 0.7),
    ("GIMP", 0.3, 0.8),
)
CPU_TYPES = ("Intel Core i5-13500", "Intel Core i7-12700", "AMD Ryzen 5 7600", "AMD Ryzen 7 5700G")
SQUARE_M_PER_DESK = 4.5
MOST_IN_A_ROOM = 16


def seed_machines(rooms: Sequence[Unit], wanted: int, rng: Random) -> int:
    """Puts machines into rooms that have none; returns how many were made.

    Args:
        rooms: in order of preference.
        wanted: machines in all rooms together.
        rng: seeded.
    """
    made = 0
    total_m2 = sum(room.area_m2 for room in rooms) or 1.0
    number = (
        RoutingNode.objects.filter(simulated=True).aggregate(highest=Max("node"))["highest"]
        or FIRST_SIMULATED_NODE
    )
    for room in rooms:
        # Drawn before looking whether the room is furnished: the stream must not depend on it.
        share = min(MOST_IN_A_ROOM, max(4, round(1.15 * wanted * room.area_m2 / total_m2)))
        software = [
            (name, part) for name, rooms_share, part in SOMETIMES if rng.random() < rooms_share
        ]
        cpu_type = rng.choice(CPU_TYPES)
        rolls = [[rng.random() for _ in software] for _ in range(MOST_IN_A_ROOM)]
        if room.machines.exists():
            continue
        count = min(share, int(room.area_m2 / SQUARE_M_PER_DESK), wanted - made)
        number = _furnish(room, count, number, cpu_type, software, rolls)
        made += room.machines.count()
    return made


def _furnish(
    room: Unit,
    count: int,
    number: int,
    cpu_type: str,
    software: Sequence[tuple[str, float]],
    rolls: Sequence[Sequence[float]],
) -> int:
    """Furnishes one room; returns the last walking point's number used."""
    nodes = list(room.nodes.filter(kind__in=("centre", "turn"), simulated=False))
    ground = MultiPolygon([Polygon(rings[0], rings[1:]) for rings in room.ground])
    seats = desk_seats(ground, [Point(node.x_m, node.y_m) for node in nodes], count)
    points, edges, desks, machines, installs = [], [], [], [], []
    for seat, (point, seen) in enumerate(seats, start=1):
        number += 1
        at = {"x_m": point.x, "y_m": point.y}
        node = RoutingNode(
            node=number, level_id=room.level_id, unit=room, kind="desk", simulated=True, **at
        )
        length_mm = max(1, round(1000 * point.distance(Point(nodes[seen].x_m, nodes[seen].y_m))))
        for src, dst in ((node, nodes[seen]), (nodes[seen], node)):
            edges.append(RoutingEdge(src=src, dst=dst, length_mm=length_mm, simulated=True))
        desk = Desk(desk_id=f"{room.rid}.desk{seat}", unit=room, node=node, **at)
        machine = Machine(
            mid=f"{room.rid}.pc{seat}",
            host=f"pc-{room.rid.lower()}-{seat:02d}",
            unit=room,
            node=node,
            desk=desk,
            cpu_type=cpu_type,
            **at,
        )
        wanted = [
            name
            for (name, part), roll in zip(software, rolls[seat - 1], strict=True)
            if roll < part
        ]
        installs += [
            SoftwareInstall(machine=machine, software=name) for name in (*ON_EVERY_MACHINE, *wanted)
        ]
        points.append(node)
        desks.append(desk)
        machines.append(machine)
    RoutingNode.objects.bulk_create(points)
    RoutingEdge.objects.bulk_create(edges)
    Desk.objects.bulk_create(desks)
    Machine.objects.bulk_create(machines)
    SoftwareInstall.objects.bulk_create(installs)
    return number
