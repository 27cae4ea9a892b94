"""Gateways that push: rows and readings, told apart by their tokens, silent ones marked."""

from __future__ import annotations

import json
import time

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from knox.models import AuthToken
from wrappers.conftest import changes_of

from smartcis import composition
from smartcis.ingest.relay import relay
from smartcis.models import Source


def caller(name: str) -> Client:
    user = User.objects.create_user(name, is_staff=True)
    _, token = AuthToken.objects.create(user)
    return Client(headers={"authorization": f"Token {token}"})


def post(client: Client, path: str, body: object, **headers):
    return client.post(
        f"/api/v1/{path}", json.dumps(body), content_type="application/json", headers=headers
    )


def heartbeats() -> list[tuple]:
    return [row for _, row in changes_of("source_heartbeat")]


def load(**more) -> dict:
    return {
        "host": "mill",
        "cpu_pct": 12,
        "memory_pct": 40.5,
        "users": 1,
        "jobs": 2,
        "at_s": time.time(),
    } | more


@pytest.fixture
def gateway(house, building) -> Client:
    relay(composition.log())
    Source.objects.create(
        source="gate", kind="push", config={"account": "gate-1"}, period_s=10.0, machine_id="m1"
    )
    return caller("gate-1")


@pytest.mark.django_db
def test_rows_are_appended_once_and_are_a_sign_of_life(gateway):
    body = {"relation": "host_load", "rows": [load()]}
    for _ in range(2):
        answer = post(gateway, "feeds/gate/rows/", body, idempotency_key="a1")
        assert (answer.status_code, answer.json()) == (201, {"accepted": 1})
    ((_, row),) = changes_of("host_load")
    assert row[:6] == ("mill", 12, 40.5, 1, 2, None)
    ((source, since_s, heard_s, reason, _),) = heartbeats()
    assert (source, reason) == ("gate", "")
    assert since_s == heard_s == pytest.approx(time.time(), abs=60)


@pytest.mark.django_db
def test_readings_are_a_sign_of_life_too_and_bad_ones_are_named(gateway):
    good = {"sid": "m1.cpu", "value": 5, "unit": "%", "at_s": time.time()}
    assert post(gateway, "readings/", [good]).status_code == 201
    assert post(gateway, "readings/", [good | {"unit": "W"}]).status_code == 400
    assert post(caller("somebody-else"), "readings/", [good]).status_code == 201
    told = [reason for _, _, _, reason, _ in heartbeats()]
    assert told == [
        "",
        "smartcis.ingest.bad_unit: reading 0: cpu sensors report in %",
    ]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"relation": "seat_reading", "rows": [{}]}, "smartcis.api.invalid"),
        ({"relation": "host_load", "rows": []}, "smartcis.wrappers.bad_row"),
        ({"relation": "host_load", "rows": [load(colour="red")]}, "smartcis.wrappers.bad_row"),
        ({"relation": "host_load", "rows": [load(), {"host": "x"}]}, "smartcis.wrappers.bad_row"),
        ({"relation": "host_load", "rows": [load(users="many")]}, "smartcis.wrappers.bad_row"),
        ({"relation": "host_load", "rows": [load(at_s=1e12)]}, "smartcis.ingest.bad_time"),
        ({"relation": "host_load", "rows": [load(at_s=5)]}, "smartcis.ingest.bad_time"),
    ],
)
def test_what_does_not_fit_is_refused_whole(gateway, body, code):
    answer = post(gateway, "feeds/gate/rows/", body)
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert changes_of("host_load") == []


@pytest.mark.django_db
def test_only_its_own_account_speaks_for_a_source(gateway):
    body = {"relation": "host_load", "rows": [load()]}
    assert post(Client(), "feeds/gate/rows/", body).status_code == 401
    assert post(caller("gate-2"), "feeds/gate/rows/", body).status_code == 403
    assert post(gateway, "feeds/gates/rows/", body).status_code == 404
    assert changes_of("host_load") == []
    (feed,) = Client().get("/api/v1/feeds/").json()
    assert (feed["id"], feed["state"], feed["rid"], feed["mid"]) == ("gate", "unknown", "A", "m1")
    assert feed["capabilities"] == ["push"]
    assert {"host_load", "seat_reading"} < set(feed["relations"])


@pytest.mark.django_db(transaction=True)
def test_the_daemon_reports_a_real_machine(gateway, live_server, monkeypatch):
    """psutil's own figures, over real HTTP, into rows and the machine's own sensor."""
    _, token = AuthToken.objects.create(User.objects.get(username="gate-1"))
    monkeypatch.setenv("SMARTCIS_TOKEN", token)
    call_command(
        "soft_sensors",
        *("--url", live_server.url, "--source", "gate", "--host", "mill", "--sid", "m1.cpu"),
        *("--polls", "1"),
    )
    ((_, row),) = changes_of("host_load")
    assert row[0] == "mill"
    assert 0 <= row[1] <= 100
    assert 0 < row[2] <= 100
    processes = [one for _, one in changes_of("host_process")]
    assert [place for _, place, *_ in processes] == [1, 2, 3]
    loads = [cpu_pct for *_, cpu_pct, _, _ in processes]
    assert loads == sorted(loads, reverse=True)
    ((_, reading),) = changes_of("cpu_reading")
    assert (reading[0], reading[2]) == ("m1", row[1])
