"""Imports by REST and in the admin: bring, look, accept, undo; big files from staff alone."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from asgiref.sync import sync_to_async
from celery import current_app
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from smartcis import tasks
from smartcis.actions.issue_token import issue_token
from smartcis.importers.run import run
from smartcis.models import BuildingImport, Sensor, Unit, Venue
from smartcis.models.outbox import _Committed
from smartcis.uploads import allowed_bytes
from tests.importers.conftest import entrance, unit, write_archive

pytestmark = [pytest.mark.database, pytest.mark.django_db]
State = BuildingImport.State


@pytest.fixture
def staff(monkeypatch, settings, tmp_path, django_capture_on_commit_callbacks):
    """A staff member's browser; what workers are asked for is done after each request."""
    monkeypatch.setattr(_Committed, "listeners", ())
    settings.VAR = tmp_path
    asked = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args: asked.append((name, args)))
    client = Client()
    client.force_login(User.objects.create_superuser("root", password="p"))

    def send(method, path, *args, **kwargs):
        with django_capture_on_commit_callbacks(execute=True):
            answer = getattr(client, method)(path, *args, **kwargs)
        with django_capture_on_commit_callbacks(execute=True):
            for name, arguments in asked:
                getattr(tasks, name.removeprefix("smartcis."))(*arguments)
            asked.clear()
        return answer

    return send


def archive(folder, rooms=("A", "B")):
    units = [unit("corridor", (0, 5, 20, 2), "walkway")]
    units += [unit(name, (4 * k, 7, 4, 5)) for k, name in enumerate(rooms)]
    return zipped(write_archive(folder, units, [entrance(0, 6)]))


def zipped(path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for one in path.iterdir():
            file.write(one, one.name)
    return SimpleUploadedFile("house.zip", packed.getvalue())


def brought(staff, file):
    answer = staff("post", "/api/v1/imports/", {"file": file})
    assert answer.status_code == 202, answer.content
    return f"/api/v1/imports/{answer.json()['id']}/"


def decide(staff, path, **body):
    return staff("post", path, json.dumps(body), content_type="application/json")


def test_a_file_is_read_accepted_and_undone(staff, tmp_path):
    path = brought(staff, archive(tmp_path / "a"))
    ready = staff("get", path).json()
    assert (ready["state"], ready["report"]["units"]) == ("ready", 3)
    assert not Venue.objects.exists()
    assert decide(staff, f"{path}accept/").status_code == 202
    accepted = staff("get", path).json()
    assert (accepted["state"], accepted["undoable"]) == ("accepted", True)
    assert set(Unit.objects.values_list("rid", flat=True)) == {"A", "B", "corridor"}
    assert not BuildingImport.objects.get().folder.exists()
    assert decide(staff, f"{path}undo/").status_code == 202
    assert staff("get", path).json()["state"] == "undone"
    assert not Venue.objects.exists()


def test_a_body_with_something_else_is_refused(staff, tmp_path):
    answer = staff("post", "/api/v1/imports/", {"file": archive(tmp_path / "a"), "colour": "red"})
    assert (answer.status_code, answer.json()["found"]) == (400, "colour")
    assert staff("post", "/api/v1/imports/", {}).status_code == 400


def test_a_full_disk_is_said_and_leaves_nothing(staff, tmp_path, settings):
    (tmp_path / "file").write_text("where a folder should be")
    settings.VAR = tmp_path / "file"
    answer = staff("post", "/api/v1/imports/", {"file": archive(tmp_path / "a")})
    assert answer.status_code == 503
    assert not BuildingImport.objects.exists()


def test_what_a_lost_transaction_left_does_no_harm(staff, tmp_path):
    for _ in range(2):
        path = brought(staff, archive(tmp_path / "a"))
        assert staff("get", path).json()["state"] == "ready"
        BuildingImport.objects.all().delete()  # its file stays
    assert any((tmp_path / "imports").iterdir())


def test_only_the_newest_is_undone(staff, tmp_path):
    paths = []
    for rooms in (("A",), ("A", "B")):
        paths.append(brought(staff, archive(tmp_path / "a", rooms)))
        decide(staff, f"{paths[-1]}accept/")
    assert decide(staff, f"{paths[0]}undo/").status_code == 409
    for path in reversed(paths):
        assert decide(staff, f"{path}undo/").status_code == 202
    assert not Unit.objects.exists()


def test_what_cannot_be_read_is_refused_with_a_reason(staff):
    path = brought(staff, SimpleUploadedFile("plan.dwg", b"AC1027"))
    said = staff("get", path).json()
    assert said["state"] == "refused"
    assert said["refusal"]["code"] == "smartcis.import.unknown_format"
    assert any("IMDF" in one for one in said["refusal"]["exists"])
    assert decide(staff, f"{path}accept/").status_code == 409
    assert staff("delete", path).status_code == 204


def test_another_building_goes_only_when_that_is_said(staff, tmp_path):
    decide(staff, f"{brought(staff, archive(tmp_path / 'a'))}accept/")
    other = write_archive(tmp_path / "b", [unit("X", (500, 500, 9, 9))], [entrance(500, 504)])
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as zipped:
        for one in other.iterdir():
            zipped.write(one, one.name)
    path = brought(staff, SimpleUploadedFile("other.zip", file.getvalue()))
    assert "Test house" in staff("get", path).json()["report"]["replaces"]
    refused = decide(staff, f"{path}accept/")
    assert (refused.status_code, refused.json()["code"]) == (409, "smartcis.actions.conflict")
    decide(staff, f"{path}accept/", replace=True)
    assert [one.slug for one in Venue.objects.all()] == ["other"]


def test_the_page_takes_a_file_shows_it_and_takes_the_decision(staff, tmp_path):
    home = "/admin/smartcis/buildingimport/"
    answer = staff("post", f"{home}add/", {"file": archive(tmp_path / "a")})
    assert answer.status_code == 302
    page = staff("get", answer["Location"]).content.decode()
    assert 'aria-label="Plan of Level 0"' in page
    assert "3, of which 3 can be reached" in page
    assert "none is drawn between these neighbours" in page
    staff("post", answer["Location"], {"accept": "Accept"})
    assert Venue.objects.exists()
    assert 'name="undo"' in staff("get", answer["Location"]).content.decode()
    staff("post", answer["Location"], {"undo": "Undo"})
    assert not Venue.objects.exists()
    staff("post", answer["Location"], {"remove": "Remove this file"})
    assert not BuildingImport.objects.exists()


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "a/b.zip", "\x00.zip"])
def test_no_name_leads_out_of_its_folder(staff, name):
    file = SimpleUploadedFile("x", b"nothing")
    file._name = name
    answer = staff("post", "/api/v1/imports/", {"file": file})
    if answer.status_code == 202:
        one = BuildingImport.objects.get()
        assert one.file.parent == one.folder


@pytest.mark.asyncio
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("who", "path", "told", "wanted"),
    [
        ("staff", "/api/v1/imports/", b"5000", 9_000),
        ("staff", "/api/v1/readings/", b"5000", 1_000),
        ("staff", "/api/v1/imports/", b"", 1_000),
        ("visitor", "/api/v1/imports/", b"5000", 1_000),
        ("unknown", "/api/v1/imports/", b"5000", 1_000),
    ],
)
async def test_large_bodies_are_taken_from_staff_alone(who, path, told, wanted):
    def token():
        user = User.objects.create_user("ann", password="p", is_staff=who == "staff")
        return issue_token("script", scope="account", user=user)[1]

    key = "0" * 40 if who == "unknown" else await sync_to_async(token)()
    headers = [(b"authorization", f"Bearer {key}".encode())]
    headers += [(b"content-length", told)] if told else []
    scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
    scope |= {"query_string": b"", "scheme": "http", "server": ("localhost", 80)}
    assert await allowed_bytes(scope, 1_000, 9_000) == wanted


def test_one_that_is_removed_while_it_is_read_stays_removed(staff, tmp_path, monkeypatch):
    def removed(*args, **kwargs):
        BuildingImport.objects.all().delete()
        return run(*args, **kwargs)

    monkeypatch.setattr("smartcis.actions.read_import.run", removed)
    answer = staff("post", "/api/v1/imports/", {"file": archive(tmp_path / "a")})
    assert answer.status_code == 202
    assert not BuildingImport.objects.exists()
    assert not Venue.objects.exists()


def test_a_building_is_added_beside_the_one_that_is_there(staff, tmp_path):
    first = zipped(write_archive(tmp_path / "a", [unit("hall", (9, 5, 20, 9), "lobby")]))
    decide(staff, brought(staff, first) + "accept/")
    hut = write_archive(tmp_path / "b", [unit("hut", (60, 5, 20, 9), "lobby")], [entrance(60, 6)])
    (hut / "smartcis.json").write_text('{"slug": "hut", "name": "Hut"}')
    made = staff("post", "/api/v1/imports/", {"file": zipped(hut), "add": True}).json()
    path = f"/api/v1/imports/{made['id']}/"
    ready = staff("get", path).json()
    said = (ready["state"], ready["add"], ready["report"]["adds"], ready["report"]["replaces"])
    assert said == ("ready", True, "hut", "")
    page = staff("get", f"/admin/smartcis/buildingimport/{made['id']}/change/").content.decode()
    assert "beside what is there" in page
    decide(staff, f"{path}accept/")
    assert set(Unit.objects.filter(derived=False).values_list("rid", "drawing")) == {
        ("hall", ""),
        ("hut", "hut"),
    }
    form = staff("get", "/admin/smartcis/buildingimport/add/").content.decode()
    assert 'name="add"' in form
    staff("post", "/admin/smartcis/buildingimport/add/", {"file": zipped(hut), "add": "on"})
    assert BuildingImport.objects.first().add


def test_the_command_undoes_by_the_action(staff, tmp_path, capsys):
    decide(staff, brought(staff, archive(tmp_path / "a")) + "accept/")
    call_command("import_building", "--undo")
    assert "undone" in capsys.readouterr().out
    assert not Venue.objects.exists()
    assert BuildingImport.objects.get().state == "undone"
    with pytest.raises(CommandError, match="no import can be undone"):
        call_command("import_building", "--undo")


def test_the_command_says_why_nothing_was_undone(staff, tmp_path):
    decide(staff, brought(staff, archive(tmp_path / "a")) + "accept/")
    Sensor.objects.create(sid="s", kind="light", unit_id="A", simulated=False)
    with pytest.raises(CommandError, match="came since"):
        call_command("import_building", "--undo")
    assert BuildingImport.objects.get().state == "accepted"
    BuildingImport.objects.update(state="undoing", step_at=timezone.now())
    with pytest.raises(CommandError, match="cannot be undone"):
        call_command("import_building", "--undo")
