"""An operator adds a kind of sensor as a row: its readings are taken, kept, found, and missed."""

from __future__ import annotations

import json
import time

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from smartcis import composition
from smartcis.ingest.readings import append_readings
from smartcis.models import Sensor, SensorKind
from smartcis.readings.errors import BadReading, BadUnit, ImpossibleValue
from smartcis.readings.units import converted

pytestmark = [pytest.mark.database, pytest.mark.django_db]


@pytest.fixture
def staff(client):
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.fixture
def radon(house) -> SensorKind:
    kind = SensorKind(kind="radon", name="Radon", unit="Bq/m³", least=0, greatest=1e6, period_s=900)
    kind.full_clean()
    kind.save()
    return kind


def placed(kind: str, sid: str, **more) -> Sensor:
    sensor = Sensor(sid=sid, kind=kind, unit_id="A", simulated=False, **more)
    sensor.clean()
    sensor.save()
    return sensor


def test_a_kind_and_its_sensor_are_added_in_the_admin_and_read_over_http(staff, home):
    form = {"kind": "radon", "name": "Radon", "unit": "Bq/m³", "least": "0", "greatest": "1e6"}
    added = staff.post("/admin/smartcis/sensorkind/add/", {**form, "period_s": "900"})
    assert added.status_code == 302
    page = staff.get("/admin/smartcis/sensor/add/").content.decode()
    assert "Radon (Bq/m³)" in page
    sensor = {"kind": "radon", "unit": "A", "waveform": "constant", "parameters": "{}"}
    added = staff.post(
        "/admin/smartcis/sensor/add/", {**sensor, "period_s": "900", "enabled": "on"}
    )
    assert added.status_code == 302, added.content.decode()
    assert [row[:2] for row in home.rows("silent_sensor")] == [("A.radon", "A")]
    # The server's clock is the real one: the engine's follows it.
    home.now_s = time.time()
    reading = {"sid": "A.radon", "value": 48, "unit": "Bq/m³", "at_s": home.now_s}
    pushed = staff.post("/api/v1/readings/", json.dumps([reading]), "application/json")
    assert pushed.status_code == 201, pushed.content
    ((sid, rid, mid, kind, name, value, unit, _),) = home.rows("newest_reading")
    assert (sid, rid, mid, kind, name) == ("A.radon", "A", None, "radon", "Radon")
    assert (value, unit) == (48.0, "Bq/m³")
    assert home.rows("silent_sensor") == []


def test_what_counts_as_silent_follows_from_the_sensors_interval(home, radon):
    placed("radon", "slow", period_s=900.0)
    placed("radon", "fast", period_s=0.05)
    readings = [
        {"sid": sid, "value": 7, "unit": "Bq/m³", "at_s": home.now_s} for sid in ("slow", "fast")
    ]
    append_readings(composition.log(), readings, now_s=home.now_s)
    assert [row[0] for row in home.rows("newest_reading")] == ["fast", "slow"]
    home.later(120.0)
    assert [row[0] for row in home.rows("newest_reading")] == ["slow"]
    assert [row[0] for row in home.rows("silent_sensor")] == ["fast"]
    home.later(3_600.0)
    assert home.rows("newest_reading") == []
    assert [row[0] for row in home.rows("silent_sensor")] == ["fast", "slow"]
    Sensor.objects.filter(sid="slow").update(period_s=86_400.0)
    assert [row[0] for row in home.rows("newest_reading")] == ["slow"]
    Sensor.objects.filter(sid="slow").update(enabled=False)
    assert [row[0] for row in home.rows("silent_sensor")] == ["fast"]
    assert home.rows("newest_reading") == []


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"unit": "pCi/L"}, BadUnit),
        ({"value": -1}, ImpossibleValue),
        ({"value": 2e6}, ImpossibleValue),
        ({"tag": "x"}, BadReading),
    ],
)
def test_what_is_outside_the_rows_range_or_unit_is_refused(building, radon, change, refusal):
    placed("radon", "r")
    reading = {"sid": "r", "value": 7, "unit": "Bq/m³", "at_s": 1_000.0} | change
    with pytest.raises(refusal):
        append_readings(composition.log(), [reading], now_s=1_000.0)


def test_a_common_quantity_becomes_a_row_with_its_first_sensor(building, house):
    assert not SensorKind.objects.exists()
    placed("co2", "c")
    assert [one.unit for one in SensorKind.objects.all()] == ["ppm"]
    placed("co2", "d")
    assert SensorKind.objects.count() == 1


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "seat"},
        {"least": 5.0, "greatest": 5.0},
        {"greatest": float("inf")},
        {"period_s": 0.01},
    ],
)
def test_a_kind_that_is_none_is_refused(house, fault):
    row = {"kind": "k", "name": "K", "unit": "", "least": 0.0, "greatest": 1.0} | fault
    with pytest.raises(ValidationError):
        SensorKind(**row).full_clean()


def test_a_kind_in_use_keeps_its_unit_and_stays(staff, building, radon):
    placed("radon", "r")
    radon.unit = "pCi/L"
    with pytest.raises(ValidationError, match="Bq/m³"):
        radon.full_clean()
    page = staff.post("/admin/smartcis/sensorkind/radon/delete/", {"post": "yes"})
    assert "sensor r" in page.content.decode()
    assert SensorKind.objects.filter(pk="radon").exists()


@pytest.mark.parametrize(("period_s", "fits"), [(0.05, True), (86_400.0, True), (0.01, False)])
def test_intervals_reach_from_fifty_milliseconds_to_a_day(house, radon, period_s, fits):
    sensor = Sensor(kind="radon", unit_id="A", simulated=False, period_s=period_s)
    if fits:
        sensor.clean()
    else:
        with pytest.raises(ValidationError, match="period_s"):
            sensor.clean()


def test_nothing_simulates_a_kind_of_an_operator(house, radon):
    with pytest.raises(ValidationError, match="simulate"):
        Sensor(kind="radon", unit_id="A", simulated=True).clean()


@pytest.mark.parametrize(
    ("value", "unit", "wanted", "found"),
    [
        (212.0, "°F", "°C", 100.0),
        (300.0, "K", "°C", 26.85),
        (0.5, "fraction", "%", 50.0),
        (101.3, "kPa", "hPa", 1013.0),
        (1.5, "kW", "W", 1500.0),
        (3.0, "", "ppm", 3.0),
        (40.0, "lux", "lx", 40.0),
    ],
)
def test_units_are_converted(value, unit, wanted, found):
    assert converted(value, unit, wanted) == pytest.approx(found)


def test_a_unit_of_something_else_is_refused():
    with pytest.raises(BadUnit, match="cannot be converted"):
        converted(1.0, "°C", "hPa")
