"""Ways to an export: the command and the download."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from smartcis.importers.run import run
from smartcis.models import Unit
from smartcis.models.outbox import _Committed
from tests.importers.conftest import corridor_house

__all__ = ["corridor_house"]
pytestmark = [pytest.mark.database, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def house(monkeypatch, corridor_house):
    monkeypatch.setattr(_Committed, "listeners", ())
    run(corridor_house)


@pytest.fixture
def staff():
    client = Client()
    client.force_login(User.objects.create_superuser("root", password="p"))
    return client


@pytest.mark.parametrize("name", ["a.zip", "a.IMDF", "a.geojson"])
def test_the_ending_says_the_format_and_no_file_is_overwritten(name, tmp_path):
    path = tmp_path / name
    call_command("export_building", str(path), verbosity=0)
    written = path.read_bytes()
    assert run(path).stored.nothing
    path.write_text("mine")
    with pytest.raises(CommandError, match="--force"):
        call_command("export_building", str(path), verbosity=0)
    assert path.read_text() == "mine"
    call_command("export_building", str(path), force=True, verbosity=0)
    assert path.read_bytes() == written


def test_other_endings_are_refused_by_name(tmp_path):
    with pytest.raises(CommandError, match=r"a\.dwg[\s\S]*\.geojson"):
        call_command("export_building", str(tmp_path / "a.dwg"), verbosity=0)
    assert not list(tmp_path.glob("a.*"))


@pytest.mark.parametrize(("name", "ending"), [("imdf", ".zip"), ("geojson", ".geojson")])
def test_staff_downloads_what_imports_again(name, ending, staff, tmp_path):
    answer = staff.get(f"/api/v1/building/export/?format={name}")
    assert answer.status_code == 200
    assert answer["Content-Disposition"].endswith(f'{ending}"')
    path = tmp_path / f"got{ending}"
    path.write_bytes(b"".join(answer.streaming_content))
    assert run(path).stored.nothing


def test_nobody_else_does(staff):
    assert Client().get("/api/v1/building/export/?format=imdf").status_code in {401, 403}
    refused = staff.get("/api/v1/building/export/?format=dwg")
    assert refused.status_code == 404
    assert refused["Content-Type"].startswith("application/problem+json")


def test_the_admin_links_both_formats(staff):
    page = staff.get("/admin/smartcis/buildingimport/").content.decode()
    assert "/api/v1/building/export/?format=imdf" in page
    assert "/api/v1/building/export/?format=geojson" in page


def test_a_renamed_room_is_all_that_changes(staff, tmp_path):
    file = json.loads(staff.get("/api/v1/building/export/?format=geojson").getvalue())
    room = next(one for one in file["features"] if one["properties"].get("ref") == "N2")
    room["properties"]["name"] = "Library"
    path = tmp_path / "edited.geojson"
    path.write_text(json.dumps(file))
    report = run(path)
    assert report.rooms.renamed == (("N2", "N2", "Library"),)
    assert Unit.objects.get(rid="N2").name == "Library"


def test_a_room_drawn_into_it_gets_a_door(staff, tmp_path):
    file = json.loads(staff.get("/api/v1/building/export/?format=geojson").getvalue())
    room = next(one for one in file["features"] if one["properties"].get("ref") == "N4")
    fresh = json.loads(json.dumps(room))
    fresh["id"] = "new"
    fresh["properties"] = {"kind": "office", "name": "N5", "level": 0}
    width = room["geometry"]["coordinates"][0]
    span = max(x for x, _ in width) - min(x for x, _ in width)
    fresh["geometry"]["coordinates"][0] = [[x + span, y] for x, y in width]
    file["features"].append(fresh)
    path = tmp_path / "edited.geojson"
    path.write_text(json.dumps(file))
    report = run(path)
    assert report.rooms.added == ("N5",)
    assert not report.rooms.removed
    assert Unit.objects.get(rid="N5").doors.exists()
