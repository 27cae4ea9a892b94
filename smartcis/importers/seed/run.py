"""Run: furnish a building, once; again only for what is missing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

from django.db import transaction
from django.utils import timezone

from smartcis.importers.errors import ImportRefused
from smartcis.importers.geometry.naming import slug
from smartcis.importers.seed.calendar import seed_calendar
from smartcis.importers.seed.machines import seed_machines
from smartcis.importers.seed.missing import add_missing
from smartcis.importers.seed.rooms import WORKPLACES, holds_classes, holds_courses, machine_rooms
from smartcis.importers.seed.sensors import seed_regions, seed_sensors
from smartcis.importers.seed.spread import far_apart
from smartcis.models import (
    Desk,
    Kiosk,
    Machine,
    RegionSeed,
    Reservation,
    RoutingNode,
    Sensor,
    Unit,
    Visitor,
)

# Nobody is behind a simulated tag; the map shows all that people may choose between.
CONSENTS = (Visitor.EXACT, Visitor.EXACT, Visitor.ROOM, Visitor.EXACT, Visitor.ROOM)
ROOMS, MACHINES, VISITORS, REGIONS, KIOSKS = 14, 120, 15, 5, 4


class NoBuilding(ImportRefused, code="smartcis.import.no_building"):
    """There is nothing to furnish."""


@dataclass(frozen=True)
class Seeded:
    """How many of each are new."""

    machines: int
    sensors: int
    regions: int
    kiosks: int
    visitors: int
    reservations: int


@transaction.atomic
def seed(number: int) -> Seeded:
    """Furnishes the imported building.

    Args:
        number: decides everything that is left to chance.

    Raises:
        NoBuilding: nothing was imported yet.
    """
    units = list(Unit.objects.filter(derived=False).select_related("level__venue").order_by("rid"))
    if not units:
        raise NoBuilding(
            "there is no building to furnish",
            attempt="run manage.py import_building first",
        )
    rooms = machine_rooms(units, ROOMS, Random(f"{number}/rooms"))
    machines = seed_machines(rooms, MACHINES, Random(f"{number}/machines"))
    furnished = [room for room in rooms if room.machines.exists()]
    sensors = seed_sensors(furnished, Random(f"{number}/sensors"))
    halls = [unit for unit in units if unit not in rooms and holds_classes(unit)]
    courses = [room for room in furnished if holds_courses(room)] if halls else []
    return Seeded(
        machines=machines,
        sensors=sensors,
        regions=seed_regions(REGIONS),
        kiosks=_seed_kiosks(),
        visitors=_seed_visitors(number),
        reservations=seed_calendar(courses, halls, timezone.localdate(), number),
    )


@transaction.atomic
def forget() -> None:
    """Removes everything simulated."""
    # In an order that leaves no protected reference behind.
    for model in (RegionSeed, Sensor, Machine, Desk, Kiosk, Visitor, Reservation):
        model.objects.filter(simulated=True).delete()
    # Staff may have put a machine or a kiosk at one.
    free = RoutingNode.objects.filter(simulated=True, machines=None, kiosks=None)
    RoutingNode.objects.filter(pk__in=list(free.values_list("pk", flat=True))).delete()


def _seed_kiosks() -> int:
    entrances = RoutingNode.objects.filter(kind="entrance").select_related("level", "unit")
    # Named entrances first: far_apart starts from the first.
    ordered = sorted(entrances, key=lambda node: (not node.name, node.node))
    wanted = []
    for number, node in enumerate(far_apart(ordered, KIOSKS), start=1):
        kiosk_id = slug(node.name).lower() or f"kiosk-{number}"
        near = _landmark(node)
        name = node.name or (f"Entrance near {near}" if near else f"Entrance {number}")
        wanted.append(Kiosk(kiosk_id=kiosk_id, name=f"{name}, {node.level.name}", node=node))
    return add_missing(Kiosk, wanted)


def _landmark(node: RoutingNode) -> str:
    """Returns the name of the nearest room that has one, empty where none has."""
    rooms = Unit.objects.filter(level_id=node.level_id, category__in=WORKPLACES, derived=False)
    named = rooms.exclude(name="")
    nearest = min(
        named,
        key=lambda room: math.hypot(room.label_x_m - node.x_m, room.label_y_m - node.y_m),
        default=None,
    )
    return nearest.name if nearest else ""


def _seed_visitors(number: int) -> int:
    rng = Random(f"{number}/visitors")
    wanted = [
        Visitor(
            tag=f"tag-{rng.getrandbits(32):08x}",
            speed_m_s=round(rng.uniform(0.9, 1.5), 2),
            consent=CONSENTS[number % len(CONSENTS)],
        )
        for number in range(VISITORS)
    ]
    return add_missing(Visitor, wanted)
