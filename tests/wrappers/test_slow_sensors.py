"""A temperature, humidity or light counts as long as its sensor's interval allows, up to a day."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps
from django.core.exceptions import ValidationError
from wrappers.conftest import House, source_of

from aspen.motes.kinds import device_kind
from smartcis import composition
from smartcis.access.owner import SYSTEM
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.actions.place_device import place_device
from smartcis.ingest.readings import append_readings
from smartcis.models import MaintainedView, OutboxEntry, SeenDevice, Sensor
from smartcis.queries import standing_queries

pytestmark = [pytest.mark.database, pytest.mark.django_db]

SLOW_S = 900.0
LIMIT_S = 4 * SLOW_S + 3.0
VALUES = {"temperature": (31.0, "°C"), "humidity": (40.0, "%"), "light": (20.0, "lx")}
OF_SENSOR = {"temperature": "room_climate", "humidity": "newest_humidity", "light": "room_light"}
OF_ROOM = {"temperature": "newest_temperature", "light": "newest_light"}


def placed(device: str, rid: str, longest_s: float) -> list[Sensor]:
    """A device that measures all three, as it was heard, with a sensor for each in a room."""
    seen = SeenDevice.objects.create(
        source_id="b",
        device=device,
        quantities={kind: {"sid": f"{device}.{kind}"} for kind in VALUES},
        first_s=0.0,
        heard_s=0.0,
        longest_s=longest_s,
    )
    return place_device(seen, SYSTEM, rid=rid)


def report(home: House, device: str, **values: float) -> None:
    """The device sends now."""
    readings = [
        {"sid": f"{device}.{kind}", "value": values.get(kind, usual), "unit": unit}
        for kind, (usual, unit) in VALUES.items()
    ]
    at_s = {"at_s": home.now_s}
    append_readings(composition.log(), [one | at_s for one in readings], now_s=home.now_s)


def current(home: House, kind: str) -> list[str]:
    """The devices whose last value of a kind counts."""
    columns = MaintainedView.objects.get(name=OF_SENSOR[kind]).columns
    place = [name for name, *_ in columns].index("sid")
    return sorted(row[place].partition(".")[0] for row in home.rows(OF_SENSOR[kind]))


@pytest.fixture
def both(home) -> House:
    """A device that sends every 15 minutes in room A, and one every ten seconds in room B."""
    source_of()
    assert {one.period_s for one in placed("slow", "A", SLOW_S)} == {SLOW_S}
    assert {one.period_s for one in placed("fast", "B", 10.0)} == {10.0}
    report(home, "slow")
    report(home, "fast")
    return home


@pytest.mark.parametrize("kind", VALUES)
def test_the_fast_one_is_silent_after_minutes_and_the_slow_one_after_its_limit(both, kind):
    kept_s = device_kind(kind).kept_s
    both.later(kept_s - 1.0)
    assert current(both, kind) == ["fast", "slow"]
    both.later(2.0)
    assert current(both, kind) == ["slow"]
    both.later(14 * 60.0 - kept_s - 1.0)
    assert current(both, kind) == ["slow"]
    both.later(LIMIT_S - 14 * 60.0)
    assert current(both, kind) == ["slow"]
    both.later(1.0)
    assert current(both, kind) == []
    report(both, "slow")
    assert current(both, kind) == ["slow"]


@pytest.mark.parametrize("kind", OF_ROOM)
def test_a_room_shows_the_last_value_of_any_of_its_sensors(both, kind):
    sent_s = both.now_s
    both.later(14 * 60.0)
    assert both.rows(OF_ROOM[kind]) == [("A", VALUES[kind][0], sent_s)]
    placed("near", "A", 10.0)
    report(both, "near", temperature=20.0, light=300.0)
    assert both.rows(OF_ROOM[kind]) == [
        ("A", {"temperature": 20.0, "light": 300.0}[kind], both.now_s)
    ]
    both.later(301.0)
    assert both.rows(OF_ROOM[kind]) == [("A", VALUES[kind][0], sent_s)]


def test_a_room_with_a_slow_light_sensor_is_dark_until_that_is_silent(both):
    assert both.rows("dark_room") == [("A",), ("B",)]
    assert both.rows("silent_room") == []
    both.later(14 * 60.0)
    assert both.rows("dark_room") == [("A",)]
    assert both.rows("silent_room") == [("B",)]
    both.later(LIMIT_S)
    assert both.rows("dark_room") == []
    assert both.rows("closed_room") == [("A", "no data"), ("B", "no data")]


@pytest.mark.parametrize("kind", VALUES)
def test_a_view_that_begins_anew_knows_what_was_sent(both, kind):
    both.later(14 * 60.0)
    assert current(both, kind) == ["slow"]
    texts = standing_queries()
    kept = {f"{one}.streamsql" for one in MaintainedView.objects.values_list("name", flat=True)}
    without = kept - {f"{OF_SENSOR[one]}.streamsql" for one in VALUES}
    without -= {f"{one}.streamsql" for one in (*OF_ROOM.values(), "dark_room", "silent_room")}
    deploy_standing_queries({one: texts[one] for one in without - {"closed_room.streamsql"}})
    assert both.rows("source_status")
    deploy_standing_queries({one: texts[one] for one in kept})
    assert current(both, kind) == ["slow"]


@pytest.mark.parametrize("kind", VALUES)
def test_a_sensor_switched_off_or_made_fast_has_no_longer_limit(both, kind):
    both.later(14 * 60.0)
    slow = Sensor.objects.filter(sid=f"slow.{kind}")
    slow.update(enabled=False)
    assert current(both, kind) == []
    slow.update(enabled=True)
    assert current(both, kind) == ["slow"]
    slow.update(period_s=10.0)
    assert current(both, kind) == []


@pytest.mark.parametrize("kind", VALUES)
def test_an_interval_is_up_to_a_day(house, kind):
    Sensor(kind=kind, unit_id="A", simulated=False, period_s=86_400.0).clean()
    with pytest.raises(ValidationError, match=r"between 0\.2 and 86400 seconds"):
        Sensor(kind=kind, unit_id="A", simulated=False, period_s=86_401.0).clean()


@pytest.mark.parametrize("kind", VALUES)
def test_the_windows_are_as_long_as_the_kind_says(kind):
    text = standing_queries()[f"{OF_SENSOR[kind]}.streamsql"]
    assert f"ROWS 1 RANGE {device_kind(kind).kept_s:g} SECONDS]" in text


def test_an_older_database_tells_the_log_what_it_has_not_told(both):
    OutboxEntry.objects.all().delete()
    tell = import_module("smartcis.migrations.0017_intervals_of_slow_sensors").tell_intervals
    tell(apps, None)
    (entry,) = OutboxEntry.objects.all()
    rows = [row for one in Sensor.objects.order_by("sid") for row in one.rows()]
    told = [[name, 1, *row] for name, row in rows if name == "sensor_interval"]
    assert entry.body == {"changes": told}
    assert len(told) == len(VALUES)
