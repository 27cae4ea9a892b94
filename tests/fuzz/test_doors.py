"""Fuzzed inputs at every door: each is taken, or refused in words; none breaks or holds its reader.

`manage.py bench fuzz` runs the same with more inputs (`FUZZ_INPUTS`, `FUZZ_SECONDS`, `FUZZ_SEED`)
and keeps what it counted (`FUZZ_REPORT`).
"""

from __future__ import annotations

import asyncio
import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.contrib.admin import site
from django.contrib.auth.models import User
from django.test import Client

from aspen.log.entry import Change, OneTimeQuery, Transaction
from smartcis import composition
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.actions.issue_token import issue_token
from smartcis.live import hub
from smartcis.live.allowance import Allowance
from smartcis.models import AccessToken, Source
from smartcis.models.outbox import _Committed
from tests.fuzz import door as doors
from tests.fuzz.door import Counts, Door, fuzz
from tests.fuzz.doors import building_file, calendar, connection, mqtt, page, rest, socket, text

SEED = os.environ.get("FUZZ_SEED", "1")
FEW = {"text": 60, "socket": 1_000, "mqtt": 300, "calendar": 60, "page": 200}
FEW_OF_STORED = {"building_file": 40, "connection": 100, "rest": 40}


def run(name: str, door: Door, few: int) -> Counts:
    report = os.environ.get("FUZZ_REPORT")
    counts = fuzz(
        door,
        int(os.environ.get("FUZZ_INPUTS", few)),
        f"{SEED}:{name}",
        seconds=float(os.environ.get("FUZZ_SECONDS", "inf")),
        tell=lambda counts: report and Path(report).write_text(json.dumps(counts.as_dict())),
    )
    assert not counts.faults, json.dumps(counts.faults, indent=1)
    return counts


@pytest.mark.parametrize("name", FEW)
def test_nothing_that_comes_in_breaks_its_reader(name, monkeypatch):
    made = {"text": text, "socket": socket, "mqtt": mqtt, "calendar": calendar}
    door = page.door(monkeypatch) if name == "page" else made[name].door()
    counts = run(name, door, FEW[name])
    assert len(counts.outcomes) > 1, "some are taken, some refused"


@pytest.mark.django_db
def test_a_broken_building_file_imports_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(_Committed, "listeners", ())
    few = FEW_OF_STORED["building_file"]
    assert len(run("building_file", building_file.door(tmp_path), few).outcomes) > 1


@pytest.mark.django_db
def test_no_call_breaks_the_server(house, building, monkeypatch, settings):
    monkeypatch.setattr(_Committed, "listeners", ())
    settings.RATES = {kind: {} for kind in settings.RATES}
    settings.ANSWER_S = 0.01  # no engine runs here
    deploy_standing_queries()
    Source.objects.create(source="p", name="p", kind="push", config={"account": "gate"})
    boss = User.objects.create_superuser("boss")
    clients = callers(boss)
    description = Client().get("/api/schema/?format=json").json()
    door = rest.door(description, clients, what_exists(clients), admin_pages())
    counts = run("rest", door, FEW_OF_STORED["rest"])
    assert {"200", "400", "404"} <= set(counts.outcomes)


@pytest.mark.django_db(transaction=True)
def test_no_frame_breaks_a_connection(house, engine, monkeypatch, settings):
    deploy_standing_queries()
    engine()
    settings.RATES = {kind: {} for kind in settings.RATES}
    monkeypatch.setattr(Allowance, "frame", lambda *_: None)
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        counts = run("connection", connection.door(loop), FEW_OF_STORED["connection"])
        loop.run_until_complete(connection.still_answers())
        for one in tuple(hub._HUBS.values()):
            loop.run_until_complete(one.close())
        hub._HUBS.clear()
    assert "smartcis.live.bad_message" in counts.outcomes


def callers(boss: User) -> dict[str, Client]:
    """Returns who calls: staff, visitors, and programs with a token of each sort."""
    made = {
        "staff": issue_token("t", scope="account", user=boss),
        "gateway": issue_token("g", scope="push", sources=["p"]),
        "watcher": issue_token("w", scope="metrics"),
        "late": issue_token("l", scope="push"),
    }
    AccessToken.objects.filter(pk=made["late"][0].pk).update(
        expires_at=datetime(2020, 1, 1, tzinfo=UTC)
    )
    found = {
        who: Client(headers={"authorization": f"Bearer {text}"}) for who, (_, text) in made.items()
    }
    admin = Client()
    admin.force_login(boss)
    return found | {
        "visitor": Client(),
        "nobody": Client(headers={"authorization": "Token é"}),
        "admin": admin,
    }


def what_exists(clients: dict[str, Client]) -> dict[str, str]:
    """Makes a query, a walk and entries that are left out of the log; returns names for paths."""
    asked = {
        "queries": {"sql": "SELECT r.rid FROM room r"},
        "routes": {"node": 1, "goal": "free-machine:LaTeX"},
    }
    made = {
        name: clients["staff"]
        .post(f"/api/v1/{name}/", body, content_type="application/json")
        .json()
        for name, body in asked.items()
    }
    log = composition.log()
    entries = [Transaction(1.0, (Change("door", 1, ("x",)),)), OneTimeQuery(1.0, "q", "v", ())]
    at = [log.append([entry]) for entry in entries]
    for position in at:
        log.leave_out(position, 2)
    return {
        "position": str(at[0]),
        "query_id": made["queries"]["id"],
        "session": made["routes"]["session"],
        "level_id": "L0",
        "rid": "A",
        "source": "p",
        "id": "m1",
        "mid": "m1",
        "door_id": "A.d1",
        "kiosk_id": "k1",
    }


def admin_pages() -> list[str]:
    """Returns the lists and forms of the admin site."""
    models = [one._meta for one in site._registry]
    lists = [f"/admin/{one.app_label}/{one.model_name}/" for one in models]
    return [*lists, *(f"{one}add/" for one in lists), *(f"{one}1/change/" for one in lists)]


def test_a_reader_that_breaks_or_stalls_is_a_fault(monkeypatch):
    monkeypatch.setattr(doors, "STALLED_CPU_S", 0.2)

    def enter(data: bytes) -> str:
        if len(data) % 3 == 0:
            raise KeyError("broke")
        while len(data) % 3 == 1:
            pass
        return "taken"

    counts = fuzz(Door([b"a", b"aa", b"aaa"], enter, forms=("bytes",)), 12, "1")
    kinds = {fault.partition(" ")[0] for fault in counts.faults}
    assert kinds == {"KeyError", "Stalled"}
    assert counts.inputs == 12
    assert counts.outcomes["fault"] == sum(one["times"] for one in counts.faults.values())


def test_a_seed_repeats_its_inputs():
    def inputs(seed: str) -> list[bytes]:
        met: list[bytes] = []
        door = Door(
            [b'{"a": [1, 2]}'], lambda data: met.append(data) or "", forms=("json", "words")
        )
        fuzz(door, 50, seed)
        return met

    assert inputs("1") == inputs("1") != inputs("2")
