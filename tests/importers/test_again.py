"""A changed drawing of the same building: what people rely on stays, and all can be undone."""

from __future__ import annotations

import json
import random

import pytest
from django.apps import apps
from django.db import models
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from smartcis.access.owner import Owner
from smartcis.actions.change_room import change_room
from smartcis.actions.rename_level import rename_level
from smartcis.importers.changes import Changes, recorded, tables, undo
from smartcis.importers.errors import StillUsed
from smartcis.importers.run import run
from smartcis.models import (
    BuildingImport,
    Door,
    Kiosk,
    Level,
    Machine,
    Reservation,
    RoutingNode,
    SeenDevice,
    Sensor,
    Source,
    Unit,
    Venue,
)
from smartcis.models.outbox import _Committed
from tests.importers.conftest import entrance, unit, write_archive

pytestmark = [pytest.mark.database, pytest.mark.django_db]
ROOMS = [(f"N{k}", (4 * k, 7, 4, 5)) for k in range(5)] + [
    (f"S{k}", (4 * k, 0, 4, 5)) for k in range(5)
]


@pytest.fixture(autouse=True)
def by_hand(monkeypatch):
    monkeypatch.setattr(_Committed, "listeners", ())


def house(folder, rooms=ROOMS, shift=0.0, category="room"):
    units = [unit("corridor", (shift, 5, 20, 2), "walkway")]
    units += [unit(name, (x + shift, y, w, h), category) for name, (x, y, w, h) in rooms]
    return write_archive(folder, units, [entrance(shift, 6)])


def nameless(path):
    """Takes names and ids away: nothing is left to know rooms by but their ground."""
    file = path / "unit.json"
    said = json.loads(file.read_text())
    random.Random(3).shuffle(said["features"])
    for number, one in enumerate(said["features"]):
        one["id"] = f"feature-{number}"
        one["properties"]["name"] = None
    file.write_text(json.dumps(said))
    return path


def every_row():
    return {
        model.__name__: sorted(
            model.objects.values_list(*(one.attname for one in model._meta.concrete_fields)),
            key=repr,
        )
        for model in tables()
    }


def furnish(rid):
    node = RoutingNode.objects.filter(unit_id=rid, kind="centre").get()
    machine = Machine.objects.create(
        mid=f"{rid}-pc", host="pc", unit_id=rid, node=node, x_m=node.x_m, y_m=node.y_m
    )
    Sensor.objects.create(sid=f"{rid}-light", kind="light", unit_id=rid, simulated=False)
    Kiosk.objects.create(kiosk_id="hall", name="Hall", node=node)
    Reservation.objects.create(
        unit_id=rid, start="2030-02-01T10:00Z", end="2030-02-01T11:00Z", title="Exam"
    )
    return machine


def test_a_new_room_renames_nothing(tmp_path):
    run(nameless(house(tmp_path / "a")))
    before = {one.rid: (one.label_x_m, one.label_y_m) for one in Unit.objects.filter(derived=False)}
    doors = {one.door_id: (one.x_m, one.y_m) for one in Door.objects.all()}
    Door.objects.filter(inner__rid__in=before).update(state=Door.LOCKED)
    report = run(nameless(house(tmp_path / "b", [("W", (-4, 5, 4, 2)), *ROOMS])))
    after = {one.rid: (one.label_x_m, one.label_y_m) for one in Unit.objects.all()}
    assert len(report.rooms.added) == 1
    assert not report.rooms.removed
    assert {rid: after[rid] for rid in before} == before
    kept = {one.door_id: (one.x_m, one.y_m) for one in Door.objects.filter(state=Door.LOCKED)}
    assert {one: pytest.approx(kept[one], abs=0.1) for one in kept} == doors


def test_what_stands_in_a_room_stays_when_it_is_drawn_differently(tmp_path):
    run(house(tmp_path / "a"))
    machine = furnish("N4")
    wider = [(name, (x, y, w + (3 if name == "N4" else 0), h)) for name, (x, y, w, h) in ROOMS]
    report = run(house(tmp_path / "b", wider))
    assert report.rooms.moved == ("N4",)
    machine.refresh_from_db()
    assert machine.node.unit_id == "N4"
    sensor = Sensor.objects.get(sid="N4-light")
    assert sensor.node.unit_id == sensor.unit_id == "N4"
    assert Kiosk.objects.get().node.unit_id == "N4"
    assert Reservation.objects.get().unit_id == "N4"


def test_a_room_with_real_things_does_not_go(tmp_path):
    run(house(tmp_path / "a"))
    Sensor.objects.create(sid="N4-light", kind="light", unit_id="N4", simulated=False)
    before = every_row()
    with pytest.raises(StillUsed) as refused:
        run(house(tmp_path / "b", [one for one in ROOMS if one[0] != "N4"]))
    assert "N4-light" in refused.value.found
    assert every_row() == before


def test_a_preview_changes_nothing_and_says_what_would_change(tmp_path):
    run(house(tmp_path / "a"))
    before, imports = every_row(), BuildingImport.objects.count()
    report = run(house(tmp_path / "b", ROOMS[1:]), preview=True)
    assert report.rooms.removed == ("N0",)
    assert (every_row(), BuildingImport.objects.count()) == (before, imports)


def test_replacing_a_building_and_undoing_it_restores_every_table(tmp_path):
    run(house(tmp_path / "a"))
    furnish("S2")
    source = Source.objects.create(source="broker", kind="mqtt", config={})
    SeenDevice.objects.create(
        source=source, device="d", name="d", first_s=0.0, heard_s=0.0, unit_id="S2"
    )
    before = every_row()
    other = write_archive(tmp_path / "other", [unit("X", (0, 0, 9, 9))], [entrance(0, 4)])
    venue = json.loads((other / "venue.json").read_text())
    venue["features"][0]["properties"]["name"]["en"] = "Another house"
    (other / "venue.json").write_text(json.dumps(venue))
    run(other, replace=True)
    assert not Machine.objects.exists()
    undo(Changes.unpacked(bytes(BuildingImport.objects.latest("pk").changes)))
    assert every_row() == before


def test_undoing_is_refused_while_something_newer_stands_there(tmp_path):
    run(house(tmp_path / "a"))
    furnish("S2")
    after = every_row()
    with pytest.raises(StillUsed) as refused:
        undo(Changes.unpacked(bytes(BuildingImport.objects.latest("pk").changes)))
    assert "S2" in refused.value.found
    assert every_row() == after


def test_what_people_changed_since_stays(tmp_path):
    run(house(tmp_path / "a"))
    path = house(tmp_path / "b", [*ROOMS[:-1], ("S4", (16, 0, 6, 5))])
    run(path)
    Unit.objects.filter(rid="S4").update(label_x_m=17.5)
    undo(Changes.unpacked(bytes(BuildingImport.objects.latest("pk").changes)))
    there = Unit.objects.get(rid="S4")
    assert there.label_x_m == 17.5
    assert there.area_m2 == pytest.approx(20, rel=0.01)


def test_every_table_that_refers_to_the_building_is_covered():
    covered = set(tables())
    referring = {
        model
        for model in apps.get_app_config("smartcis").get_models()
        for one in model._meta.concrete_fields
        if isinstance(one, models.ForeignKey) and one.related_model in covered
    }
    assert referring <= covered
    assert Venue in covered


@settings(deadline=None, max_examples=12, phases=[Phase.explicit, Phase.generate])
@given(
    drawn=st.lists(st.sets(st.integers(0, 9), min_size=1), min_size=1, max_size=4),
    shifts=st.lists(st.sampled_from([0.0, 0.4, 3.0]), min_size=4, max_size=4),
)
def test_any_sequence_of_drawings_is_undone_step_by_step(drawn, shifts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("drawn")
    steps = []
    before_all = every_row()
    for rooms, shift in zip(drawn, shifts, strict=False):
        before = every_row()
        with recorded() as changes:
            run(house(folder / "house", [ROOMS[k] for k in sorted(rooms)], shift))
        steps.append((before, changes.packed()))
    for before, packed in reversed(steps):
        undo(Changes.unpacked(packed))
        assert every_row() == before
    assert every_row() == before_all


def test_what_people_call_a_room_stays_until_they_give_it_back(tmp_path):
    run(house(tmp_path / "a"))
    staff = Owner(staff=True)
    change_room("N1", {"name": "Library", "category": "classroom"}, staff)
    rename_level("L0", {"name": "Garden floor"}, staff)
    again = run(house(tmp_path / "a"))
    assert again.stored.nothing
    room = Unit.objects.get(rid="N1")
    assert (room.name, room.category) == ("Library", "classroom")
    assert Level.objects.get().name == "Garden floor"
    change_room("N1", {"name": ""}, staff)
    run(house(tmp_path / "a"))
    room.refresh_from_db()
    assert (room.name, room.category) == ("N1", "classroom")
