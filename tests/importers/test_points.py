"""Brick models and Haystack tags: understood, proposed, doubted, and placed at one click."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.errors import AspenError
from smartcis.access.owner import Owner
from smartcis.actions.accept_proposals import accept_proposals
from smartcis.actions.describe_points import describe_points
from smartcis.errors import Refused
from smartcis.importers.errors import BrokenFile, ImportTooLarge, NothingDrawn
from smartcis.importers.points.brick import read_brick
from smartcis.importers.points.haystack import read_haystack
from smartcis.models import DescribedPoint, SeenDevice, Sensor, Source
from smartcis.sources.proposed import proposed_places

FOLDER = Path(__file__).with_name("points")
BRICK, HAYSTACK = ((FOLDER / name).read_bytes() for name in ("small.ttl", "small.json"))
HOUSE = "http://example.org/house#"
STAFF = Owner(account="root", staff=True)


@pytest.fixture
def source(house) -> Source:
    return Source.objects.create(source="ahu", name="AHU", kind="bacnet", config={"host": "h"})


def heard(source: Source, device: str, name: str = "", **units: str) -> SeenDevice:
    """Notes a device with a value of 1 for each quantity, in its unit."""
    quantities = {
        kind: {"sid": f"ahu:{device}:{kind}", "value": 1.0, "unit": unit, "at_s": 0.0}
        for kind, unit in units.items()
    }
    return SeenDevice.objects.create(
        source=source, device=device, name=name, quantities=quantities, first_s=0.0, heard_s=0.0
    )


def described(report) -> dict[str, tuple]:
    return {
        one.thing.point.rpartition("#")[2]: (one.thing.kind, one.thing.unit, one.rid)
        for one in report.points
    }


def test_a_brick_model_is_read_with_kinds_units_and_rooms(source):
    report = describe_points("ahu", BRICK, STAFF)
    assert described(report) == {
        "t_b": ("temperature", "°F", "B"),
        "co2": ("co2", "ppm", "A"),
        "lux": ("light", "", "A"),
        "motion": ("presence", "", "B"),
        "duct_b": ("temperature", "", ""),
        "damp": ("humidity", "", ""),
        "both": ("presence", "", ""),
    }
    doubts = {one.thing.point.rpartition("#")[2]: one.doubt for one in report.points if one.doubt}
    assert doubts == {
        "duct_b": "no place is said",
        "damp": "no room is called cellar",
        "both": "several rooms: A, B",
    }
    assert [one.partition(":")[0] for one in report.strange] == [
        "Fan_Status (1)",
        "Zone_Air_Temperature_Setpoint (1)",
    ]
    (air,) = [one.thing for one in report.points if one.thing.title == "Zone B air"]
    assert {f"{HOUSE}t_b", "t_b", "Zone B air", "analog-input,4"} == set(air.names)
    assert air.equipment == "vav_1"
    assert DescribedPoint.objects.count() == 0  # it was a look


def test_haystack_tags_of_both_versions_are_read(source):
    report = describe_points("ahu", HAYSTACK, STAFF)
    assert described(report) == {
        "t1": ("temperature", "°F", "B"),
        "c1": ("co2", "", "A"),
        "m1": ("presence", "", ""),
    }
    assert [one.partition(":")[0] for one in report.strange] == ["sp temp (1)"]
    (air,) = [one.thing for one in report.points if one.thing.point == "t1"]
    assert air.names == ("t1", "Zone B air", "analog-input,4")
    assert air.equipment == "Coil"


def test_what_is_accepted_replaces_what_was(source):
    describe_points("ahu", BRICK, STAFF, preview=False)
    assert DescribedPoint.objects.count() == 7
    describe_points("ahu", HAYSTACK, STAFF, preview=False)
    assert DescribedPoint.objects.count() == 3


def test_devices_are_proposed_a_room_and_doubts_are_told(source):
    describe_points("ahu", BRICK, STAFF, preview=False)
    devices = {
        "by its address": heard(source, "analog-input,4", temperature="°F"),
        "by its name": heard(source, "x7", "LUX", light="lx"),
        "of another kind": heard(source, "co2", temperature="°C"),
        "without its unit": heard(source, "t_b", temperature=""),
        "without a room": heard(source, "damp", humidity="%"),
        "in two rooms": heard(source, "both", presence=""),
        "unknown": heard(source, "toaster", temperature="°C"),
    }
    found = proposed_places(devices.values())
    told = {
        what: (found[one.pk].rid, found[one.pk].doubt)
        for what, one in devices.items()
        if one.pk in found
    }
    assert told == {
        "by its address": ("B", ""),
        "by its name": ("A", ""),
        "of another kind": ("A", "it does not measure co2"),
        "without its unit": ("B", "it should be in °F, and says no unit"),
        "without a room": ("", "no room is known"),
        "in two rooms": ("", "no room is known"),
    }
    DescribedPoint.objects.filter(rid="A").update(rid="A2")  # as a drawing may call it otherwise
    again = proposed_places(devices.values())
    assert again[devices["by its name"].pk].doubt == "the room A2 has gone"


def test_several_points_of_one_name_are_one_device_or_a_doubt(source):
    for number, (kind, rid) in enumerate([("temperature", "A"), ("humidity", "A"), ("co2", "B")]):
        names = ["one", "two"] if kind != "co2" else ["two"]
        DescribedPoint.objects.create(
            source=source, point=str(number), names=names, title=kind, kind=kind, rid=rid
        )
    DescribedPoint.objects.create(
        source=source, point="9", names=["Three"], title="x", kind="light", rid="A"
    )
    DescribedPoint.objects.create(
        source=source, point="10", names=["three"], title="y", kind="light", rid="A"
    )
    one = heard(source, "one", temperature="°C", humidity="%", battery="%")
    two = heard(source, "two", temperature="°C", humidity="%", co2="ppm")
    three = heard(source, "three", light="lx")
    found = proposed_places([one, two, three])
    assert (found[one.pk].rid, found[one.pk].doubt) == ("A", "")
    assert found[one.pk].kinds == ("temperature", "humidity")
    assert found[two.pk].doubt == "its points are in several rooms"
    assert found[three.pk].doubt == "2 points have its name"


def test_one_click_places_what_leaves_no_doubt_and_nothing_else(source):
    describe_points("ahu", BRICK, STAFF, preview=False)
    clear = heard(source, "analog-input,4", temperature="°F")
    heard(source, "co2", temperature="°C")
    placed = heard(source, "lux", light="lx")
    SeenDevice.objects.filter(pk=placed.pk).update(unit="B")
    done = accept_proposals(SeenDevice.objects.all(), STAFF)
    assert (done.placed, done.doubts) == (1, ("co2 is not placed: it does not measure co2",))
    clear.refresh_from_db()
    assert clear.unit_id == "B"
    assert [(one.sid, one.unit_id) for one in Sensor.objects.filter(sid__startswith="ahu:")] == [
        ("ahu:analog-input,4:temperature", "B")
    ]
    assert accept_proposals(SeenDevice.objects.all(), STAFF).placed == 0
    for act in (
        lambda owner: accept_proposals([], owner),
        lambda owner: describe_points("ahu", BRICK, owner),
    ):
        with pytest.raises(Refused):
            act(Owner(account="visitor"))


def test_the_admin_shows_before_it_keeps_and_places_at_one_click(client, source):
    client.force_login(User.objects.create_superuser("root"))
    heard(source, "analog-input,4", temperature="°F")
    heard(source, "co2", temperature="°C")
    path = "/admin/smartcis/source/ahu/points/"
    assert "points/" in client.get("/admin/smartcis/source/ahu/change/").content.decode()
    page = client.post(path, {"file": SimpleUploadedFile("m.ttl", BRICK)})
    shown = page.content.decode()
    assert "7 points were understood, 4 of them with a room" in shown
    assert "Zone_Air_Temperature_Setpoint (1)" in shown
    assert DescribedPoint.objects.count() == 0
    shown = client.post(path, {"accept": "1", "text": page.context["text"]}).content.decode()
    assert "7 points are kept" in shown
    assert "Place 1 device" in shown
    listed = client.get("/admin/smartcis/seendevice/").content.decode()
    assert "temperature in B" in listed
    assert "co2 in A (it does not measure co2)" in listed
    shown = client.post(path, {"place": "1"}).content.decode()
    assert "1 device is placed" in shown
    assert "it does not measure co2" in shown
    assert Sensor.objects.get(sid="ahu:analog-input,4:temperature").unit_id == "B"
    assert "7 points are forgotten" in client.post(path, {"forget": "1"}).content.decode()
    assert DescribedPoint.objects.count() == 0
    chosen = {"action": "place_as_proposed", "_selected_action": [SeenDevice.objects.last().pk]}
    listed = client.post("/admin/smartcis/seendevice/", chosen, follow=True).content.decode()
    assert "0 devices are placed" in listed
    for wrong in ({"accept": "1", "text": "!"}, {"accept": "1"}, {}):
        assert client.post(path, wrong).status_code == 200
    refused = client.post(path, {"file": SimpleUploadedFile("m.ttl", b"<oh no")})
    assert "no Turtle" in refused.content.decode()
    client.force_login(User.objects.create_user("guard", is_staff=True))
    assert client.get(path).status_code == 403


def test_programs_describe_look_place_and_forget(client, source):
    client.force_login(User.objects.create_superuser("root"))
    heard(source, "analog-input,4", temperature="°F")
    heard(source, "co2", temperature="°C")
    path = "/api/v1/feeds/ahu/points/"

    def bring(data, **fields):
        return client.post(path, {"file": SimpleUploadedFile("m", data), **fields})

    report = bring(BRICK).json()
    assert len(report["points"]) == 7
    assert [one["doubt"] for one in report["points"] if one["title"] == "damp"] == [
        "no room is called cellar"
    ]
    assert len(report["strange"]) == 2
    assert client.get(path).json()["count"] == 0  # it was a look
    assert bring(BRICK, preview="false").json() == report
    listed = client.get(f"{path}?page_size=3").json()
    assert (listed["count"], len(listed["results"])) == (7, 3)
    (air,) = [one for one in client.get(path).json()["results"] if one["title"] == "Zone B air"]
    assert "analog-input,4" in air.pop("names")
    assert air == {
        "point": f"{HOUSE}t_b",
        "title": "Zone B air",
        "kind": "temperature",
        "unit": "°F",
        "rid": "B",
        "equipment": "vav_1",
    }
    placed = client.post(f"{path}place/", {}, "application/json").json()
    assert placed == {"placed": 1, "doubts": ["co2 is not placed: it does not measure co2"]}
    assert Sensor.objects.get(sid="ahu:analog-input,4:temperature").unit_id == "B"
    refused = bring(b"<oh no", preview="false")
    assert (refused.status_code, DescribedPoint.objects.count()) == (400, 7)
    for wrong in (client.post(path), client.post(path, {"file": "text"})):
        assert (wrong.status_code, wrong.json()["code"]) == (400, "smartcis.api.invalid")
    assert client.delete(path).status_code == 204
    assert client.get(path).json()["count"] == 0
    assert client.post(f"{path}place/", {}, "application/json").json() == {
        "placed": 0,
        "doubts": [],
    }
    assert Sensor.objects.filter(sid="ahu:analog-input,4:temperature").exists()
    elsewhere = path.replace("ahu", "toaster")
    brought = {"file": SimpleUploadedFile("m", BRICK), "preview": "false"}
    for nowhere in (
        *(client.get(elsewhere), client.post(elsewhere, brought), client.delete(elsewhere)),
        client.post(f"{elsewhere}place/", {}, "application/json"),
    ):
        assert (nowhere.status_code, nowhere.json()["found"]) == (404, "toaster")


@pytest.mark.parametrize(
    ("data", "refusal"),
    [
        (b"", NothingDrawn),
        (b"\xff\xfe", BrokenFile),
        (b"@prefix : <x> . :a :b", BrokenFile),
        (b"(" * 100_000, BrokenFile),
        (b"<a> <b> <c> .", NothingDrawn),
        (b"{", BrokenFile),
        (b"[1]", BrokenFile),
        (b"[" * 9_000, BrokenFile),
        (b'{"rows": 5}', BrokenFile),
        (b'{"rows": [{"id": 5, "point": "m:"}]}', NothingDrawn),
        (b" " * 700_001, ImportTooLarge),
    ],
)
def test_what_is_no_description_is_refused(source, data, refusal):
    with pytest.raises(refusal):
        describe_points("ahu", data, STAFF)


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_read_or_refused(data):
    for read in (read_haystack, lambda some: read_brick(some.decode(errors="replace"))):
        with suppress(AspenError):
            assert read(data).things
