"""The furnished building: plausible, reproducible, marked."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from shapely.geometry import LineString, MultiPolygon, Point, Polygon

from smartcis.importers.run import SHIPPED, run
from smartcis.importers.seed.rooms import holds_classes
from smartcis.importers.seed.run import forget, seed
from smartcis.models import (
    Desk,
    Kiosk,
    Level,
    Machine,
    OutboxEntry,
    RegionSeed,
    Reservation,
    RoutingEdge,
    RoutingNode,
    Sensor,
    SoftwareInstall,
    Unit,
    Venue,
    Visitor,
)

pytestmark = [pytest.mark.database, pytest.mark.django_db]

SIMULATED = (Desk, Machine, SoftwareInstall, Sensor, RegionSeed, Kiosk, Visitor, Reservation)


def ground_of(unit):
    return MultiPolygon([Polygon(rings[0], rings[1:]) for rings in unit.ground])


def test_the_building_is_furnished(furnished):
    assert 100 <= furnished.machines <= 120
    machines = Machine.objects.select_related("unit")
    assert 12 <= machines.values("unit").distinct().count() <= 15
    assert machines.values("unit__level").distinct().count() >= 4
    software = set(SoftwareInstall.objects.values_list("software", flat=True))
    assert {"LaTeX", "Word", "Matlab", "R", "Blender"} <= software
    with_latex = SoftwareInstall.objects.filter(software="LaTeX").count()
    assert 20 <= with_latex <= 100
    assert Visitor.objects.count() == 15
    assert RegionSeed.objects.count() == 5
    assert 3 <= Kiosk.objects.filter(node__kind="entrance").count() == Kiosk.objects.count()
    assert Reservation.objects.count() > 10


def test_everything_made_up_is_marked_simulated(furnished):
    assert furnished
    for model in SIMULATED:
        assert model.objects.exists()
        assert not model.objects.exclude(simulated=True).exists()
    assert set(RoutingNode.objects.filter(simulated=True).values_list("kind", flat=True)) == {
        "desk"
    }


def test_desks_stand_in_their_room_and_their_step_crosses_no_other(furnished):
    assert furnished
    for desk in Desk.objects.select_related("unit", "node"):
        ground = ground_of(desk.unit)
        at = Point(desk.x_m, desk.y_m)
        assert ground.contains(at)
        assert ground.boundary.distance(at) >= 0.5
        edges = list(RoutingEdge.objects.filter(src=desk.node).select_related("dst"))
        assert len(edges) == 1
        [edge] = edges
        assert edge.dst.unit_id == desk.unit_id
        line = LineString([at, (edge.dst.x_m, edge.dst.y_m)])
        assert ground.buffer(0.01).covers(line)
        assert abs(edge.length_mm - 1000 * line.length) <= 1
        assert RoutingEdge.objects.filter(src=edge.dst, dst=desk.node).count() == 1


def test_no_two_desks_stand_in_each_other(furnished):
    assert furnished
    desks = list(Desk.objects.values_list("unit_id", "x_m", "y_m"))
    for place, (unit, x, y) in enumerate(desks):
        for other, ox, oy in desks[:place]:
            assert unit != other or math.hypot(x - ox, y - oy) >= 1.0


def test_every_machine_has_seat_and_cpu_and_its_room_light_and_temperature(furnished):
    assert furnished
    for machine in Machine.objects.all():
        kinds = sorted(machine.sensors.values_list("kind", flat=True))
        assert kinds == ["cpu", "energy", "seat"]
    for unit in Machine.objects.values_list("unit", flat=True).distinct():
        kinds = set(Sensor.objects.filter(unit=unit, machine=None).values_list("kind", flat=True))
        assert {"light", "temperature"} <= kinds


def test_regions_can_grow_from_each_seed(furnished):
    # k = 20 m on one level, as in the standing views.
    assert furnished
    sensors = list(Sensor.objects.filter(kind="temperature"))
    for one in RegionSeed.objects.select_related("sensor"):
        reached, fresh = {one.sensor_id}, [one.sensor]
        while fresh:
            here = fresh.pop()
            for other in sensors:
                if (
                    other.sid not in reached
                    and other.level_id == here.level_id
                    and math.hypot(other.x_m - here.x_m, other.y_m - here.y_m) < 20
                ):
                    reached.add(other.sid)
                    fresh.append(other)
        assert len(reached) >= 4, one


def test_seeding_twice_changes_nothing(furnished):
    before = {model: sorted(map(str, model.objects.values_list("pk"))) for model in SIMULATED}
    entries = OutboxEntry.objects.count()
    again = seed(2026)
    assert not any(vars(again).values())
    assert before == {
        model: sorted(map(str, model.objects.values_list("pk"))) for model in SIMULATED
    }
    assert OutboxEntry.objects.count() == entries
    assert furnished.machines


def test_the_same_seed_furnishes_alike(furnished):
    def picture():
        return (
            list(Machine.objects.values_list("mid", "host", "x_m", "y_m", "node", "cpu_type")),
            sorted(SoftwareInstall.objects.values_list("machine", "software")),
            list(Sensor.objects.values_list("sid", "waveform", "x_m", "y_m")),
            list(Visitor.objects.values_list("tag", "speed_m_s")),
        )

    assert furnished
    before = picture()
    forget()
    assert not Machine.objects.exists()
    assert not RoutingNode.objects.filter(simulated=True).exists()
    seed(2026)
    assert picture() == before


def test_importing_again_leaves_the_furniture_alone(furnished):
    assert run(SHIPPED).stored.nothing
    assert Machine.objects.count() == furnished.machines


def room(name, category="room", area_m2=80.0, venue="House", **more):
    level = Level(venue=Venue(name=venue))
    return Unit(rid="r", name=name, category=category, area_m2=area_m2, level=level, **more)


def test_lectures_are_held_where_rooms_are_made_for_them():
    assert holds_classes(room("Hörsaal 3"))
    assert holds_classes(room("", "classroom"))
    assert holds_classes(room("2.14", venue="Universität Ulm"))
    assert not holds_classes(room("2.14", venue="St. Mary Clinic"))
    assert not holds_classes(room("Ward 3", "office", venue="Universität Ulm"))
    assert not holds_classes(room("Seminar", area_m2=12.0))
    assert not holds_classes(room("Hörsaal 3", unreached="walled in"))


def test_a_clinic_has_no_lectures_and_its_kiosks_no_internal_names():
    run(Path(__file__).parent / "buildings" / "clinic.ifc", replace=True)
    Unit.objects.filter(derived=False).update(name="")
    seed(7)
    assert Kiosk.objects.exists()
    assert not Reservation.objects.exists()
    rids = set(Unit.objects.values_list("rid", flat=True))
    for name in Kiosk.objects.values_list("name", flat=True):
        assert not any(rid in name for rid in rids), name
