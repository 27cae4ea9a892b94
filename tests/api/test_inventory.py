"""Inventories: one table, by REST, admin and command; what it says, and what it cannot say."""

from __future__ import annotations

import csv
import io
import re

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import transaction
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smartcis.access.owner import SYSTEM, Owner
from smartcis.actions.import_inventory import InventoryOutcome, import_inventory
from smartcis.errors import Invalid, Refused
from smartcis.importers.changes import tables
from smartcis.importers.errors import BrokenFile, ImportTooLarge, UnknownFormat
from smartcis.importers.inventory.columns import COLUMNS
from smartcis.importers.inventory.table import MOST_ROWS
from smartcis.models import Machine, OutboxEntry, SeenDevice, Sensor, Source, Unit

pytestmark = [pytest.mark.database, pytest.mark.django_db]
MACHINES = "mid,host,room,x_m,y_m,cpu_type,software\n"


def everything():
    return {model.__name__: list(model.objects.order_by("pk").values()) for model in tables()}


def done(text: str | bytes, **options):
    data = text.encode() if isinstance(text, str) else text
    return import_inventory(data, SYSTEM, **options)


def outcomes(report):
    return [(row.number, row.key, row.outcome.value) for row in report.rows]


def only(report):
    (row,) = report.rows
    return row


@pytest.fixture
def operator(house, building) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("root", password="p"))
    return client


def test_machines_are_added_changed_and_left_as_they_are(house):
    report = done(
        MACHINES
        + 'm1,host-m1,A,,,Zen,"LaTeX; R"\n'
        + "m2,host-m2,B,,,,LaTeX\n"
        + "m3,new,room b,,,,\n"
        + "m4,,A,4,2,,-\n"
    )
    assert outcomes(report) == [
        (2, "m1", "changed"),
        (3, "m2", "unchanged"),
        (4, "m3", "added"),
        (5, "m4", "added"),
    ]
    assert report.rows[0].changes == {"cpu_type": ("", "Zen"), "software": ("LaTeX", "LaTeX; R")}
    third, fourth = Machine.objects.get(pk="m3"), Machine.objects.get(pk="m4")
    assert (third.unit_id, third.node_id, third.simulated) == ("B", 3, False)
    assert (fourth.host, fourth.x_m, fourth.node.kind) == ("m4", 4.0, "desk")


def test_a_preview_says_the_same_and_writes_nothing(house):
    text = MACHINES + "m1,other,B,,,,R\nm9,h,A,4,2,,\nm8,h,nowhere,,,,\n"
    before, entries = everything(), OutboxEntry.objects.count()
    shown = done(text, preview=True, remove=False)
    assert (everything(), OutboxEntry.objects.count()) == (before, entries)
    assert shown.rows == done(text).rows
    assert everything() != before


def test_what_a_row_cannot_say_is_refused_alone_with_column_and_nearest_names(house):
    report = done(
        "Rechner;Host;Raum;X;Y\n"
        "m3;h;Room Q;;\n"  # no such room
        "m4;h;A;four;2\n"
        "m5;h;A;99;2\n"  # outside
        "m6;h;;;\n"
        "m 7;h;A;;\n"
        ";h;A;;\n"
        "m8;h;A;;;surplus\n"
        "m9;h;A;;\n"
        "m9;h;B;;\n"
        f"{'m' * 71};h;A;;\n"
    )
    said = [(row.number, row.column, row.outcome.value) for row in report.rows]
    assert said == [
        (2, "Raum", "refused"),
        (3, "X", "refused"),
        (4, "", "refused"),
        (5, "Raum", "refused"),
        (6, "Rechner", "refused"),
        (7, "Rechner", "refused"),
        (8, "", "refused"),
        (9, "", "added"),
        (10, "", "refused"),
        (11, "Rechner", "refused"),
    ]
    assert report.rows[0].refusal["exists"][0] in {"room a", "room b"}
    assert set(Machine.objects.values_list("pk", flat=True)) == {"m1", "m2", "m9"}


def test_rooms_are_found_by_name_unless_two_are_called_so(house):
    Unit.objects.filter(pk__in=("A", "B")).update(name="Lab")
    row = only(done("mid,room\nm3,lab\n"))
    assert (row.outcome, row.column) == (InventoryOutcome.REFUSED, "room")
    assert sorted(row.refusal["exists"]) == ["A", "B"]


def test_sensors_by_room_machine_and_device(house):
    Sensor.objects.update(simulated=False)
    source = Source.objects.create(source="gate", kind="push", config={"account": "x"})
    SeenDevice.objects.create(
        source=source,
        device="d1",
        first_s=0,
        heard_s=0,
        quantities={"temperature": {"sid": "heard-1", "value": 20, "unit": "", "at_s": 0}},
    )
    text = (
        "Sensor;Art;Raum;Maschine;Intervall (s);Quelle;Gerät\n"
        "t1;Temperature;B;;60;;\n"
        "m1.seat;;;m2;;;\n"
        ";temperature;A;;;gate;d1\n"
        ";light;A;;;gate;d2\n"
        "t2;light;A;m2;;;\n"
        "t3;light;A;;0,001;;\n"
    )
    report = done(text.encode("cp1252"))
    assert outcomes(report)[:4] == [
        (2, "t1", "added"),
        (3, "m1.seat", "changed"),
        (4, "heard-1", "added"),
        (5, "gate:d2:light", "added"),
    ]
    first = Sensor.objects.get(pk="t1")
    assert (first.kind, first.unit_id, first.period_s, first.simulated) == (
        *("temperature", "B"),
        *(60.0, False),
    )
    assert Sensor.objects.get(pk="m1.seat").unit_id == "B"
    assert [(row.outcome.value, row.column) for row in report.rows[4:]] == [
        ("refused", "Raum"),
        ("refused", "Intervall (s)"),
    ]
    assert done(text.encode("cp1252")).counts["unchanged"] == 4


def test_rooms_are_called_and_used_as_the_table_says(house):
    report = done("Raum\tBezeichnung\tNutzung\nA\tBüro Süd\tBüro\nhall\t\televator\nC\tx\t\n")
    assert [(row.outcome.value, row.column) for row in report.rows] == [
        ("changed", ""),
        ("refused", ""),
        ("refused", "Raum"),
    ]
    room = Unit.objects.get(pk="A")
    assert (room.name, room.category, room.edited) == ("Büro Süd", "office", ["category", "name"])
    with pytest.raises(Invalid):
        done("rid,name\nA,x\n", remove=True)


def test_only_a_choice_removes_and_not_while_a_row_is_refused(house):
    assert done("mid\nm1\n").counts["removed"] == 0
    held = done("mid\nm1\nm 2\n", remove=True)
    assert outcomes(held)[2:] == [(0, "m2", "refused")]
    assert Machine.objects.count() == 2
    assert outcomes(done("mid\nm1\n", remove=True))[1:] == [(0, "m2", "removed")]
    assert [one.pk for one in Machine.objects.all()] == ["m1"]


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"colour,size\nred,1\n", UnknownFormat),
        (b"", UnknownFormat),
        (b"mid,machine\nm1,m1\n", UnknownFormat),
        ("mid,room\nm1,A\n".encode("utf-16"), BrokenFile),
        (b"mid,room\nm\x81,A\n", BrokenFile),
        (b'mid,room\n"m1,' + b"A" * 140_000, BrokenFile),
        (b"mid,room\n" + b"m1,A\n" * (MOST_ROWS + 1), ImportTooLarge),
        (b"mid,room\n" + b"m" * 600_000, ImportTooLarge),
    ],
)
def test_what_is_no_table_is_refused_whole(house, data, fault):
    before = everything()
    with pytest.raises(fault):
        done(data)
    assert everything() == before


def test_only_staff_import(house):
    with pytest.raises(Refused):
        import_inventory(b"mid\nm1\n", Owner())


WORDS = {"mid": ["mid", "Machine ID", "RECHNER", "Inventar-Nr."], "rid": ["Room", "raum", "Ort"]}
cells = st.fixed_dictionaries(
    {
        "mid": st.sampled_from(["m1", "m2", "m3", "m4", "Ü-5", "m 6", ""]),
        "host": st.text(st.characters(codec="cp1252", exclude_categories=("C",)), max_size=8),
        "rid": st.sampled_from(["A", "b", "room a", "hall", "ROOM B", "?", ""]),
        "x_m": st.sampled_from(["", "4", "2,5", "99"]),
        "y_m": st.sampled_from(["", "4", "2.25"]),
        "software": st.sampled_from(["", "-", "R", "R; LaTeX;R", " Octave ;", "ß;ü", "x" * 130]),
        "simulated": st.sampled_from(["", "yes", "nein", "?"]),
    }
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(cells, max_size=5),
    columns=st.sets(st.sampled_from(sorted(set(COLUMNS["machines"]) - {"cpu_type"}))),
    delimiter=st.sampled_from(",;\t"),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "cp1252"]),
    told=st.booleans(),
    mid=st.sampled_from(WORDS["mid"]),
    rid=st.sampled_from(WORDS["rid"]),
)
def test_the_same_table_twice_changes_nothing(
    house, rows, columns, delimiter, encoding, told, mid, rid
):
    names = ["mid", *sorted(columns - {"mid"})]
    written = io.StringIO()
    writer = csv.writer(written, delimiter=delimiter)
    writer.writerow([{"mid": mid, "rid": rid}.get(name, name) for name in names])
    writer.writerows([row[name] for name in names] for row in rows)
    head = f"sep={delimiter}\r\n" if told else ""
    data = (head + written.getvalue()).encode(encoding, errors="replace")
    with transaction.atomic():
        first = done(data)
        after, entries = everything(), OutboxEntry.objects.count()
        again = done(data)
        assert again.counts["added"] == again.counts["changed"] == 0
        assert (everything(), OutboxEntry.objects.count()) == (after, entries)
        refused = [row.key for row in first.rows if row.outcome is InventoryOutcome.REFUSED]
        assert refused == [row.key for row in again.rows if row.outcome is InventoryOutcome.REFUSED]
        transaction.set_rollback(True)


def test_rest_previews_unless_told(operator):
    def send(**more):
        file = SimpleUploadedFile("machines.csv", b"mid,room\nm3,A\nm4,Z\n")
        return operator.post("/api/v1/inventory/", {"file": file, **more})

    shown = send().json()
    assert (shown["thing"], shown["preview"], shown["counts"]["added"]) == ("machines", True, 1)
    assert not Machine.objects.filter(pk="m3").exists()
    written = send(preview=False).json()
    assert written["rows"] == shown["rows"]
    assert written["rows"][1]["refusal"]["code"] == "smartcis.actions.not_found"
    assert Machine.objects.filter(pk="m3").exists()
    assert send(colour="red").json()["code"] == "smartcis.api.unknown_field"
    broken = operator.post("/api/v1/inventory/", {"file": SimpleUploadedFile("a.csv", b"\0")})
    assert broken.status_code == 400
    assert broken.json()["code"] == "smartcis.import.broken_file"


def test_the_admin_shows_then_writes(operator):
    page = reverse("admin:smartcis_inventory")
    for model in ("machine", "sensor", "unit"):
        lists = operator.get(reverse(f"admin:smartcis_{model}_changelist")).content.decode()
        assert page in lists
    file = SimpleUploadedFile("machines.csv", b"mid,room\nm1,B\nm4,<b>\n")
    shown = operator.post(page, {"file": file}).content.decode()
    assert "1 changed" in shown
    assert "rid: A → B" in shown
    assert "&lt;b&gt;" in shown
    assert "<b>&#x27;" not in shown
    assert Machine.objects.get(pk="m1").unit_id == "A"
    table = re.search(r'name="table" value="([^"]+)"', shown)[1]
    written = operator.post(page, {"table": table, "accept": "1"}).content.decode()
    assert "Machines: 1 changed, 1 refused." in written
    assert Machine.objects.get(pk="m1").unit_id == "B"
    assert "Upload the table again" in operator.post(page, {"accept": "1"}).content.decode()
    no_table = SimpleUploadedFile("machines.csv", b"\0")
    assert "no plain text" in operator.post(page, {"file": no_table}).content.decode()


def test_the_command_previews_and_writes(house, tmp_path):
    path, out = tmp_path / "m.csv", io.StringIO()
    path.write_bytes(b"mid,room,colour\nm1,B,red\nm3,Q,red\n")
    call_command("import_inventory", path, "--preview", stdout=out)
    said = out.getvalue()
    assert "line 2     changed   m1 rid A → B" in said
    assert "room: there is no room 'Q'" in said
    assert "not read: colour" in said
    assert "preview: nothing was written" in said
    assert Machine.objects.get(pk="m1").unit_id == "A"
    call_command("import_inventory", path, stdout=out)
    assert Machine.objects.get(pk="m1").unit_id == "B"
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("import_inventory", tmp_path / "none.csv")
    path.write_bytes(b"\0")
    with pytest.raises(CommandError, match="broken_file"):
        call_command("import_inventory", path)
