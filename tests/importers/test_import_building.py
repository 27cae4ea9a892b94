"""Storing a building: all or nothing, twice is once, points keep their numbers."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.forms import model_to_dict

from smartcis.importers.errors import AnotherBuilding, StillUsed
from smartcis.importers.run import SHIPPED, run
from smartcis.importers.seed.run import seed
from smartcis.models import (
    Building,
    Door,
    Level,
    Machine,
    OutboxEntry,
    RoutingEdge,
    RoutingNode,
    Unit,
    Venue,
)
from smartcis.models.outbox import _Committed
from tests.bench.buildings import OURS
from tests.importers.conftest import entrance, opening, unit, write_archive

pytestmark = [pytest.mark.database, pytest.mark.django_db]

TABLES = (Venue, Building, Level, Unit, Door, RoutingNode, RoutingEdge)


@pytest.fixture(autouse=True)
def by_hand(monkeypatch):
    monkeypatch.setattr(_Committed, "listeners", ())


def everything():
    return {
        model.__name__: sorted(map(repr, map(model_to_dict, model.objects.all())))
        for model in TABLES
    }


def told():
    """The rows the outbox adds up to."""
    rows: dict[tuple[object, ...], int] = {}
    for body in OutboxEntry.objects.order_by("id").values_list("body", flat=True):
        for relation, weight, *row in body.get("changes", ()):
            key = (relation, *row)
            rows[key] = rows.get(key, 0) + weight
    return {key for key, weight in rows.items() if weight}


def test_importing_twice_changes_nothing():
    assert not run(SHIPPED).stored.nothing
    before, entries = everything(), OutboxEntry.objects.count()
    assert entries
    again = run(SHIPPED)
    assert again.stored.nothing
    assert (everything(), OutboxEntry.objects.count()) == (before, entries)


def test_the_report_says_what_was_taken_derived_and_dropped():
    out = StringIO()
    call_command("import_building", stdout=out, stderr=StringIO())
    report = out.getvalue()
    assert "554 units" in report
    assert "460 doors" in report
    assert "95.1%" in report
    assert "not L5-room-4 (level 5): no drawn space touches it" in report
    assert "dropped" in report


def test_a_broken_archive_imports_nothing(corridor_house):
    run(corridor_house)
    before, entries = everything(), OutboxEntry.objects.count()
    text = (corridor_house / "unit.json").read_text()
    (corridor_house / "unit.json").write_text(text[:-2])
    with pytest.raises(CommandError, match=r"nothing was imported[\s\S]*unit.json"):
        call_command("import_building", str(corridor_house), verbosity=0)
    assert (everything(), OutboxEntry.objects.count()) == (before, entries)


def test_a_fault_while_writing_leaves_nothing_behind(corridor_house, monkeypatch):
    def broken(*_args, **_kwargs):
        raise OSError("disk full")

    monkeypatch.setattr("smartcis.importers.store._edges", broken)
    with pytest.raises(OSError, match="disk full"):
        run(corridor_house)
    assert not any(everything().values())
    assert not OutboxEntry.objects.exists()


def test_the_outbox_tells_exactly_the_tables(corridor_house):
    run(corridor_house)
    rows = [
        (relation, *row)
        for model in (Level, Unit, Door, RoutingNode, RoutingEdge)
        for one in model.objects.all()
        for relation, row in one.rows()
    ]
    assert told() == set(rows)


def test_points_and_locks_stay_when_a_room_is_added(tmp_path):
    units = [unit("corridor", (0, 5, 20, 2), "walkway"), unit("a", (0, 7, 4, 5))]
    folder = write_archive(tmp_path / "house", units, [entrance(0, 6)])
    run(folder)
    before = {(n.unit_id, n.kind, n.x_m, n.y_m): n.node for n in RoutingNode.objects.all()}
    door = Door.objects.get()
    door.state = Door.LOCKED
    door.save()
    write_archive(folder, [*units, unit("b", (8, 7, 4, 5))], [entrance(0, 6)])
    report = run(folder)
    after = {(n.unit_id, n.kind, n.x_m, n.y_m): n.node for n in RoutingNode.objects.all()}
    kept = before.keys() & after.keys()
    assert len(kept) >= len(before) - 1
    assert all(before[point] == after[point] for point in kept)
    assert Door.objects.get(pk=door.pk).state == Door.LOCKED
    assert report.stored.created["doors"] == 1
    assert told() == {
        (relation, *row)
        for model in (Level, Unit, Door, RoutingNode, RoutingEdge)
        for one in model.objects.all()
        for relation, row in one.rows()
    }


def test_a_room_that_was_removed_takes_its_doors_and_points_along(tmp_path):
    units = [unit("corridor", (0, 5, 20, 2), "walkway"), unit("a", (0, 7, 4, 5))]
    folder = write_archive(tmp_path / "house", units, [entrance(0, 6)])
    run(folder)
    write_archive(folder, units[:1], [entrance(0, 6)])
    run(folder)
    assert set(Unit.objects.values_list("rid", flat=True)) == {"corridor"}
    assert not Door.objects.exists()
    assert not RoutingEdge.objects.exclude(door=None).exists()


def test_a_house_without_mapped_entrances_gets_concluded_ones(tmp_path):
    units = [unit("corridor", (0, 5, 20, 2), "walkway"), unit("a", (0, 7, 4, 5))]
    report = run(write_archive(tmp_path / "house", units))
    assert report.plan.entrances
    assert all(one.derived for one in report.plan.entrances)
    assert RoutingNode.objects.filter(kind="entrance", derived=True).exists()


def test_drawn_openings_are_taken_and_concluded_doors_keep_away(tmp_path):
    units = [
        unit("corridor", (0, 5, 20, 2), "walkway"),
        unit("hall", (0, 7, 8, 8)),
        unit("chamber", (0, 15, 4, 3)),
        unit("office", (8, 7, 8, 8)),
    ]
    drawn = [opening(2, 7), opening(6, 7), opening(2, 15), opening(40, 40)]
    folder = write_archive(tmp_path / "house", units, [entrance(0, 6)], openings=drawn)
    report = run(folder)
    doors = Door.objects.values_list("inner", "outer", "derived").order_by("door_id")
    assert sorted(doors) == [
        ("chamber", "hall", False),
        ("hall", "corridor", False),
        ("hall", "corridor", False),
        ("office", "corridor", True),
    ]
    assert report.reached == (4, 4)
    assert [one.where for one in report.plan.notes if one.what == "opening"] == ["opening-40-40"]


def test_a_self_crossing_room_is_repaired(tmp_path):
    crossed = unit("a", (0, 7, 4, 5))
    ring = crossed["geometry"]["coordinates"][0]
    ring.insert(1, [ring[2][0], ring[2][1]])
    corridor = unit("corridor", (0, 5, 20, 2), "walkway")
    report = run(write_archive(tmp_path / "house", [corridor, crossed], [entrance(0, 6)]))
    assert report.reached[1] == 2


def test_a_preview_writes_nothing_and_says_what_it_would(corridor_house):
    out = StringIO()
    call_command("import_building", str(corridor_house), preview=True, stdout=out, verbosity=0)
    assert "11 units" in out.getvalue()
    assert "created" in out.getvalue()
    assert "nothing was written" in out.getvalue()
    assert not any(everything().values())
    assert not OutboxEntry.objects.exists()


def test_another_building_stays_until_it_is_named(corridor_house, tmp_path):
    run(corridor_house)
    before = everything()
    call_command("import_building", verbosity=0)  # the shipped one comes into empty houses only
    other = write_archive(tmp_path / "shed", [unit("shed", (0, 0, 4, 4))])
    with pytest.raises(CommandError, match="--replace"):
        call_command("import_building", str(other), verbosity=0)
    call_command("import_building", str(other), preview=True, stdout=StringIO(), verbosity=0)
    assert everything() == before
    call_command("import_building", str(other), replace=True, verbosity=0)
    assert set(Venue.objects.values_list("slug", flat=True)) == {"shed"}
    assert set(Unit.objects.values_list("rid", flat=True)) == {"shed"}


def test_a_file_of_the_same_name_is_not_the_same_building(tmp_path):
    run(write_archive(tmp_path / "one" / "imdf", [unit("a", (0, 0, 4, 4))]))
    other = write_archive(tmp_path / "two" / "imdf", [unit("b", (0, 0, 4, 4))])
    with pytest.raises(AnotherBuilding):
        run(other)


def test_a_replaced_building_takes_its_machines_along(corridor_house, tmp_path):
    run(corridor_house)
    node = RoutingNode.objects.filter(unit="N0").first()
    at = {"x_m": node.x_m, "y_m": node.y_m}
    Machine.objects.create(mid="m", host="h", unit=node.unit, node=node, simulated=False, **at)
    corridor = [unit("corridor", (0, 5, 20, 2), "walkway")]
    write_archive(corridor_house, corridor, [entrance(0, 6)])
    with pytest.raises(StillUsed, match="things stand"):
        run(corridor_house)
    assert Machine.objects.exists()
    run(write_archive(tmp_path / "shed", [unit("shed", (0, 0, 4, 4))]), replace=True)
    assert not Machine.objects.exists()


def test_seeding_before_importing_says_what_to_do():
    with pytest.raises(CommandError, match="import_building"):
        call_command("seed_building", verbosity=0)


@pytest.mark.parametrize("name", ["amt.geojson", "clinic.ifc", "laboratory.gml", "workshop"])
def test_any_building_is_furnished(name):
    run(OURS / name)
    done = seed(7)
    assert done.machines >= 10
    assert done.sensors > 2 * done.machines
    assert done.kiosks >= 1
    assert Machine.objects.values("unit__level").distinct().count() == 2
    assert not any(vars(seed(7)).values())
