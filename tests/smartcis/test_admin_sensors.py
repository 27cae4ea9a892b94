"""An operator adds a sensor, and its readings appear within seconds."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from aspen.log.entry import Transaction
from aspen.streamsql.statement import read_statement
from smartcis import composition
from smartcis.access.owner import SYSTEM
from smartcis.actions.register_query import register_query
from smartcis.actions.set_door_state import set_door_state
from smartcis.actions.unregister_query import unregister_query
from smartcis.ingest.readings import append_readings
from smartcis.models import Door, Machine, OutboxEntry, Sensor, Unit
from smartcis.simulation.deployment import wanted_streams
from smartcis.simulation.pacer import Pacer
from smartcis.simulation.world import world

pytestmark = [pytest.mark.database, pytest.mark.django_db]

NOW_S = 1_795_000_000.0


@pytest.fixture
def operator(client):
    client.force_login(get_user_model().objects.create_superuser("op", password="x"))
    return client


class Clock:
    def __init__(self):
        self.now_s = NOW_S

    def __call__(self):
        return self.now_s


class Running:
    """The simulator's process, its clock turned by hand, writing to a real log."""

    def __init__(self, **options):
        self.log = composition.log()
        self.clock = Clock()
        self.pacer = Pacer(world(), 2026, self._append, clock=self.clock, **options)

    def _append(self, readings, key):
        append_readings(self.log, readings, key=key, now_s=self.clock.now_s)

    def run(self, seconds, beat_s=0.25):
        """Let time pass; give the stream rows that reached the log."""
        before = self.log.head()
        for _ in range(round(seconds / beat_s)):
            self.clock.now_s += beat_s
            self.pacer.beat()
        return [
            (change.relation, change.row)
            for _, entry in self.log.read(before, self.log.head())
            if isinstance(entry, Transaction)
            for change in entry.changes
        ]


@pytest.fixture
def running(furnished, building):
    assert furnished
    assert building
    return Running()


def test_a_stream_is_sent_while_a_query_reads_it(furnished, building):
    assert furnished
    assert building
    running = Running(acquire=wanted_streams)
    assert running.run(20) == []
    query = register_query(
        read_statement(
            "SELECT s.mid FROM seat_reading [PARTITION BY mid ROWS 1] s WHERE s.weight_kg > 5"
        ),
        SYSTEM,
    )
    sent = {relation for relation, _ in running.run(20)}
    assert sent == {"seat_reading", "past_reading"}, "what comes is kept for an hour"
    unregister_query(query.id, SYSTEM)
    running.run(1)
    assert running.run(20) == []


def add(client, **fields):
    form = {
        "waveform": "constant",
        "parameters": "{}",
        "period_s": "5",
        "enabled": "on",
        "simulated": "on",
        "unit": "",
        "machine": "",
        **fields,
    }
    return client.post(reverse("admin:smartcis_sensor_add"), form)


def test_a_sensor_added_in_the_admin_reports_within_a_second(operator, running):
    running.run(5)
    room = Unit.objects.get(pk="O27-332")
    answer = add(operator, kind="light", unit=room.pk, parameters='{"value": 3}')
    assert answer.status_code == 302
    made = Sensor.objects.get(pk="O27-332.light")
    assert (made.level_id, made.simulated, made.parameters) == (
        "L3",
        True,
        {"value": 3.0, "noise": 0.0},
    )
    rows = running.run(1.0)
    assert ("light_reading", "O27-332", "O27-332.light", 3.0) in [
        (relation, *row[:3]) for relation, row in rows
    ]


def test_the_outbox_hears_of_a_new_sensor(operator, running):
    assert running
    before = OutboxEntry.objects.count()
    add(operator, kind="temperature", unit="O27-332", parameters='{"value": 21}')
    [entry] = OutboxEntry.objects.order_by("id")[before:]
    [change] = entry.body["changes"]
    assert change[:4] == ["sensor", 1, "O27-332.temperature", "temperature"]


def test_a_changed_waveform_is_sent_at_once(operator, running):
    running.run(20)
    machine = Machine.objects.order_by("mid").first()
    seat = machine.sensors.get(kind="seat")
    url = reverse("admin:smartcis_sensor_change", args=[seat.pk])
    form = {
        "kind": "seat",
        "machine": machine.pk,
        "unit": seat.unit_id,
        "waveform": "constant",
        "parameters": '{"value": 71}',
        "period_s": "60",
        "enabled": "on",
        "simulated": "on",
    }
    assert operator.post(url, form).status_code == 302
    rows = running.run(1.0)
    assert ("seat_reading", machine.pk, seat.pk, 71.0) in [
        (relation, *row[:3]) for relation, row in rows
    ]


def test_a_switched_off_sensor_falls_silent(operator, running):
    running.run(5)
    light = Sensor.objects.filter(kind="light").first()
    url = reverse("admin:smartcis_sensor_changelist")
    operator.post(url, {"action": "switch_off", "_selected_action": [light.pk]})
    running.run(1)
    assert light.pk not in {row[1] for _, row in running.run(40)}
    operator.post(url, {"action": "switch_on", "_selected_action": [light.pk]})
    assert light.pk in {row[1] for _, row in running.run(1)}


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"kind": "seat", "unit": "O27-332"}, "machine", "watches a machine"),
        ({"kind": "light"}, "unit", "choose a room"),
        (
            {"kind": "light", "unit": "O27-332", "parameters": '{"value": -4}'},
            "parameters",
            "at least 0",
        ),
        (
            {"kind": "light", "unit": "O27-332", "parameters": '{"lux": 4}'},
            "parameters",
            "no parameter",
        ),
        ({"kind": "light", "unit": "O27-332", "waveform": "people"}, "parameters", "cannot follow"),
        (
            {"kind": "light", "unit": "O27-332", "parameters": '{"value": 3}', "period_s": "0"},
            "period_s",
            "seconds",
        ),
    ],
)
def test_a_sensor_that_could_not_measure_is_refused_in_words(
    operator, furnished, fields, field, words
):
    assert furnished
    count = Sensor.objects.count()
    answer = add(operator, **fields)
    assert answer.status_code == 200
    assert words in " ".join(answer.context["adminform"].form.errors[field])
    assert Sensor.objects.count() == count


def test_the_add_page_explains_every_waveform(operator, furnished):
    assert furnished
    page = operator.get(reverse("admin:smartcis_sensor_add")).content.decode()
    for word in ("constant", "sine", "random_walk", "square", "replay", "people", "cycle_s"):
        assert word in page


def test_doors_are_locked_and_unlocked_by_action(operator, furnished):
    assert furnished
    door = Door.objects.first()
    url = reverse("admin:smartcis_door_changelist")
    before = OutboxEntry.objects.count()
    operator.post(url, {"action": "lock", "_selected_action": [door.pk]})
    door.refresh_from_db()
    assert door.state == "locked"
    [entry] = OutboxEntry.objects.order_by("id")[before:]
    assert [change[:4] for change in entry.body["changes"]] == [
        ["door", -1, door.pk, "open"],
        ["door", 1, door.pk, "locked"],
    ]
    operator.post(url, {"action": "unlock", "_selected_action": [door.pk]})
    door.refresh_from_db()
    assert door.state == "open"


def test_many_doors_are_locked_by_the_action_that_locks_one(operator, furnished, monkeypatch):
    assert furnished
    called = []

    def noted(door_id, state, owner):
        called.append((door_id, state, owner.staff))
        return set_door_state(door_id, state, owner)

    monkeypatch.setattr("smartcis.admin.building.set_door_state", noted)
    doors = list(Door.objects.values_list("pk", flat=True)[:3])
    Door.objects.filter(pk=doors[0]).update(state="locked")
    url = reverse("admin:smartcis_door_changelist")
    page = operator.post(url, {"action": "lock", "_selected_action": doors}, follow=True)
    assert "2 doors locked." in page.content.decode()
    assert called == [(pk, "locked", True) for pk in doors[1:]]
    assert Door.objects.filter(pk__in=doors, state="locked").count() == 3
    change = reverse("admin:smartcis_door_change", args=(doors[0],))
    operator.post(change, {"state": "open"})
    assert called[-1] == (doors[0], "open", True)
    assert Door.objects.get(pk=doors[0]).state == "open"


def test_every_page_opens_and_searches(operator, furnished):
    assert furnished
    for model in (
        "venue",
        "building",
        "level",
        "unit",
        "door",
        "routingnode",
        "routingedge",
        "machine",
        "softwareinstall",
        "desk",
        "kiosk",
        "reservation",
        "visitor",
        "sensor",
        "regionseed",
    ):
        url = reverse(f"admin:smartcis_{model}_changelist")
        assert operator.get(url).status_code == 200
    assert (
        "simulated" in operator.get(reverse("admin:smartcis_machine_changelist")).content.decode()
    )
    look_up = reverse("admin:autocomplete")
    query = {"term": "332", "app_label": "smartcis", "model_name": "sensor", "field_name": "unit"}
    found = json.loads(operator.get(look_up, query).content)["results"]
    assert "O27-332" in {one["id"] for one in found}


def test_a_reservation_must_end_after_it_begins(operator, furnished):
    assert furnished
    form = {
        "unit": "O27-332",
        "title": "Talk",
        "start_0": "2026-11-21",
        "start_1": "10:00",
        "end_0": "2026-11-21",
        "end_1": "09:00",
    }
    answer = operator.post(reverse("admin:smartcis_reservation_add"), form)
    assert "later" in " ".join(answer.context["adminform"].form.errors["end"])


def test_readings_wait_while_the_log_is_away_and_arrive_once(running, monkeypatch):
    running.run(3)
    sent = running.pacer.sent
    append = running.pacer._append
    keys = []

    def away(readings, key):
        keys.append(key)
        raise ConnectionError("no log")

    monkeypatch.setattr(running.pacer, "_append", away)
    assert running.run(2) == []
    assert len(set(keys)) == 1
    monkeypatch.setattr(running.pacer, "_append", append)
    rows = [one for one in running.run(2) if one[0] != "past_reading"]
    assert running.pacer.sent - sent == len(rows)
    assert min(row[-1] for _, row in rows) < NOW_S + 4


def test_a_removed_sensor_does_not_stop_the_others(operator, running):
    running.run(4)
    gone = Sensor.objects.filter(kind="cpu").first()
    gone.delete()
    rows = running.run(20)
    assert rows
    assert gone.pk not in {row[1] for _, row in rows if _ == "cpu_reading"}


def test_after_a_long_pause_time_jumps_instead_of_flooding(running):
    running.run(4)
    running.clock.now_s += 600
    assert len(running.run(1)) < 200
