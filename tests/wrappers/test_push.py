"""Gateways that push: rows and readings, told apart by their tokens, silent ones marked."""

from __future__ import annotations

import json
import re
import time
from datetime import timedelta
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone
from wrappers.conftest import changes_of

from smartcis import composition
from smartcis.actions.issue_token import issue_token
from smartcis.ingest.relay import relay
from smartcis.models import AccessToken, Door, Source
from smartcis.models.tokens import digest_of


def caller(*sources: str, scheme: str = "Bearer", **more) -> Client:
    _, token = issue_token("gate", sources=sources, **more)
    return Client(headers={"authorization": f"{scheme} {token}"})


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
    Source.objects.create(source="gate", kind="push", period_s=10.0, machine_id="m1")
    return caller("gate")


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
    assert post(caller(), "readings/", [good]).status_code == 201
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
def test_only_its_own_token_speaks_for_a_source(gateway):
    Source.objects.create(source="other", kind="push", period_s=10.0)
    body = {"relation": "host_load", "rows": [load()]}
    assert post(Client(), "feeds/gate/rows/", body).status_code == 401
    assert post(caller("other"), "feeds/gate/rows/", body).status_code == 403
    assert post(caller(), "feeds/gate/rows/", body).status_code == 403
    assert post(gateway, "feeds/gates/rows/", body).status_code == 404
    assert changes_of("host_load") == []
    feed, _ = Client().get("/api/v1/feeds/").json()["results"]
    assert (feed["id"], feed["state"], feed["rid"], feed["mid"]) == ("gate", "unknown", "A", "m1")
    assert feed["capabilities"] == ["push"]
    assert {"host_load", "seat_reading"} < set(feed["relations"])


@pytest.mark.django_db
@pytest.mark.parametrize("scheme", ["Bearer", "Token", "bearer"])
def test_a_gateways_token_does_nothing_but_push(gateway, scheme):
    """It was a staff token: it locked doors and read tags."""
    client = caller("gate", scheme=scheme)
    door = client.patch(
        "/api/v1/doors/A.d1/", json.dumps({"state": "locked"}), content_type="application/json"
    )
    asked = post(client, "queries/", {"sql": "ONCE SELECT tag FROM visitor"})
    for answer in (door, asked, client.get("/api/v1/me/"), client.get("/api/v1/queries/")):
        assert answer.status_code == 403
        assert "nothing else" in answer.json()["message"]
    assert Door.objects.get().state == "open"


@pytest.mark.django_db
def test_a_token_pushes_readings_of_the_place_its_sources_stand_for(gateway):
    far = {"sid": "m2.cpu", "value": 5, "unit": "%", "at_s": time.time()}
    refused = post(gateway, "readings/", [far | {"sid": "m1.cpu"}, far])
    assert (refused.status_code, refused.json()["found"]) == (403, "m2.cpu")
    assert changes_of("cpu_reading") == []
    Source.objects.create(source="anywhere", kind="push", period_s=10.0)
    assert post(caller("gate", "anywhere"), "readings/", [far]).status_code == 201
    Source.objects.filter(source="gate").update(enabled=False)
    assert post(gateway, "readings/", [far | {"sid": "m1.cpu"}]).status_code == 403


@pytest.mark.django_db
def test_a_token_that_ended_was_revoked_or_misspelt_opens_nothing(gateway):
    reading = {"sid": "m1.cpu", "value": 5, "unit": "%", "at_s": time.time()}
    assert AccessToken.objects.get().used_at is None
    assert post(gateway, "readings/", [reading]).status_code == 201
    assert AccessToken.objects.get().used_at is not None
    AccessToken.objects.update(expires_at=timezone.now())
    ended = post(gateway, "readings/", [reading])
    assert (ended.status_code, ended.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert "ended on" in ended.json()["message"]
    AccessToken.objects.all().delete()
    assert "revoked" in post(gateway, "readings/", [reading]).json()["message"]
    for wrong in ("Bearer", "Bearer a b", "Bearer \xff"):
        client = Client(headers={"authorization": wrong})
        assert post(client, "readings/", [reading]).status_code == 401


@pytest.mark.django_db
def test_staff_make_a_token_that_is_shown_once(gateway, admin_client):
    form = {
        "name": "mill",
        "scope": "push",
        "sources": ["gate"],
        "expires_at_0": f"{timezone.now() + timedelta(5):%Y-%m-%d}",
        "expires_at_1": "12:00:00",
    }
    pages = "/admin/smartcis/accesstoken/"
    shown = admin_client.post(f"{pages}add/", form, follow=True).content.decode()
    (text,) = re.findall(r"<code>(smartcis-[\w-]+)</code>", shown)
    assert AccessToken.objects.filter(digest=digest_of(text)).get().sources == ["gate"]
    listed = admin_client.get(pages).content.decode()
    assert "mill" in listed
    assert text not in listed
    reading = {"sid": "m1.cpu", "value": 5, "unit": "%", "at_s": time.time()}
    client = Client(headers={"authorization": f"Bearer {text}"})
    assert post(client, "readings/", [reading]).status_code == 201
    token = AccessToken.objects.get(name="mill")
    admin_client.post(f"{pages}{token.pk}/delete/", {"post": "yes"})
    assert post(client, "readings/", [reading]).status_code == 401


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"expires_at_0": "1999-01-01"}, "expires_at"),
        ({"expires_at_0": "2999-01-01"}, "expires_at"),
        ({"scope": "metrics"}, "sources"),
        ({"sources": ["nobody"]}, "sources"),
    ],
)
def test_a_token_that_makes_no_sense_is_refused(gateway, admin_client, wrong, field):
    form = {
        "name": "mill",
        "scope": "push",
        "sources": ["gate"],
        "expires_at_0": f"{timezone.now() + timedelta(5):%Y-%m-%d}",
        "expires_at_1": "12:00:00",
    }
    answer = admin_client.post("/admin/smartcis/accesstoken/add/", form | wrong)
    assert field in answer.context["adminform"].errors
    assert AccessToken.objects.count() == 1


@pytest.mark.django_db
def test_the_command_issues_what_it_is_asked_for(gateway, capsys):
    call_command("issue_token", "g", "--source", "gate")
    call_command("issue_token", "prometheus", "--metrics", "--days", "2")
    call_command("issue_token", "script", "--account", "robot")
    texts = capsys.readouterr().out.split()
    made = [AccessToken.objects.get(digest=digest_of(text)) for text in texts]
    assert [(one.scope, one.sources) for one in made] == [
        ("push", ["gate"]),
        ("metrics", []),
        ("account", []),
    ]
    assert made[2].user.username == "robot"
    client = Client(headers={"authorization": f"Bearer {texts[2]}"})
    assert client.get("/api/v1/me/").json()["username"] == "robot"
    with pytest.raises(CommandError, match="no pushing source: nobody; there are gate"):
        call_command("issue_token", "g", "--source", "nobody")


@pytest.mark.database
@pytest.mark.django_db
def test_former_tokens_become_what_they_were_meant_for(gateway):
    """Each was a staff token for ever; whoever holds one goes on with the same text."""
    Source.objects.filter(pk="gate").update(config={"account": "gate-1"})
    users = [
        User.objects.create(username="gate-1", is_staff=True, password="!"),
        User.objects.create(username="script", is_staff=True, password="!"),
        User.objects.create_user("anna", password="secret", is_staff=True),
    ]
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE knox_authtoken (digest varchar(128) PRIMARY KEY, token_key varchar(25),"
            " user_id integer, created timestamp, expiry timestamp NULL)"
        )
        for user in users:
            cursor.execute(
                "INSERT INTO knox_authtoken VALUES (%s, 'abcdefghij', %s, '2026-01-01', NULL)",
                (digest_of(f"former-{user.username}"), user.pk),
            )
        editor = SimpleNamespace(
            connection=connection, execute=cursor.execute, quote_name=connection.ops.quote_name
        )
        import_module("smartcis.migrations.0003_access_tokens").take_over_tokens(apps, editor)
    assert "knox_authtoken" not in connection.introspection.table_names()
    assert Source.objects.get().config == {}
    made = AccessToken.objects.exclude(name="gate").order_by("name")
    assert [(one.name, one.scope, one.sources) for one in made] == [
        ("anna", "account", []),
        ("gate-1", "push", ["gate"]),
        ("script", "push", []),
    ]
    assert all(one.expires_at > timezone.now() for one in made)
    reading = {"sid": "m1.cpu", "value": 5, "unit": "%", "at_s": time.time()}
    client = Client(headers={"authorization": "Token former-gate-1"})
    assert post(client, "readings/", [reading]).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_the_daemon_reports_a_real_machine(gateway, live_server, monkeypatch):
    """psutil's own figures, over real HTTP, into rows and the machine's own sensor."""
    _, token = issue_token("gate", sources=["gate"])
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
