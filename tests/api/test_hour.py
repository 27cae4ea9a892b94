"""A sensor's last hour over REST: what the engine keeps of it, in its unit."""

from __future__ import annotations

import pytest
from api.test_api import refused
from api.test_why import now_s, running, visitor  # noqa: F401 - fixtures

from smartcis import composition
from smartcis.ingest import readings
from smartcis.ingest.hour import Sampling
from smartcis.ingest.readings import append_readings

pytestmark = pytest.mark.django_db


def test_the_last_hour_has_a_reading_of_each_minute(visitor, engine, now_s, monkeypatch):  # noqa: F811
    monkeypatch.setattr(readings, "_SAMPLING", Sampling())
    start_s = (now_s - 300.0) // 60 * 60
    measured = {start_s + after: 20.0 + after for after in (1, 5, 61, 62, 130)}
    for at_s, value in measured.items():
        one = {"sid": "m1.seat", "value": value, "unit": "kg", "at_s": at_s}
        append_readings(composition.log(), [one], now_s=at_s)
    engine()
    with running(engine):
        body = visitor("GET", "sensors/m1.seat/hour/").json()
    assert [(one["at_s"], one["value"]) for one in body["samples"][:3]] == [
        (start_s + after, 20.0 + after) for after in (1, 61, 130)
    ]
    assert (body["name"], body["unit"], body["simulated"]) == ("Seat", "kg", True)
    assert body["at_s"] - body["since_s"] == pytest.approx(3_600)


def test_a_sensor_that_there_is_not_has_no_hour(visitor):  # noqa: F811
    refused(visitor("GET", "sensors/nothing/hour/"), 404, "smartcis.actions.not_found")
