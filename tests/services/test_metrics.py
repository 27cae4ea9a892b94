"""Metrics: the figures are the product's, and only who may reads them."""

from __future__ import annotations

import time

import pytest
from django.contrib.auth.models import User
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from aspen.log.entry import Tick
from aspen.results.engine_status import EngineStatus, write_status
from aspen.results.protocol import ViewChange
from smartcis import composition
from smartcis.actions.issue_token import issue_token
from smartcis.environment import networks
from smartcis.models import Source
from smartcis.services import metrics
from smartcis.services.processes import ProcessState, write_processes

pytestmark = pytest.mark.django_db


def figures(client, **more) -> dict:
    """Every sample, by its name and the values of its labels."""
    answer = client.get("/metrics", **more)
    assert answer.status_code == 200, answer.content
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


@pytest.fixture
def collector(building, monkeypatch) -> Client:
    monkeypatch.setattr(metrics, "EPOCHS", metrics.Epochs())
    _, token = issue_token("prometheus", scope="metrics")
    return Client(headers={"authorization": f"Bearer {token}"})


def test_the_engines_figures(collector, building):
    now_s = time.time()
    composition.log().append([Tick(now_s)] * 3)
    status = EngineStatus("live", 1, beat_s=now_s + 300, position=1, progress_s=now_s - 2)
    write_status(composition.server(), building, status)
    states = [ProcessState("web", "h", 7, 1), ProcessState("clock", "h", 0, 4)]
    write_processes(composition.server(), building, "h", states)
    before = figures(collector)
    results = composition.results()
    for batch in (1, 2):
        change = ViewChange("v", {("a", batch): 1}, columns=(("x", "TEXT", ""), ("n", "INT", "")))
        moments = {"appended_at": now_s * 1e3, "sink_at": now_s * 1e3, "lane": 40.0}
        results.write("g", batch, batch, now_s, [change], moments)
    found = figures(collector)
    assert found["smartcis_engine_live",] == 1
    assert found["smartcis_lag_entries",] == 2
    assert 2 <= found["smartcis_lag_seconds",] < 300
    assert found["smartcis_log_head",] == found["smartcis_log_entries",] == 3
    assert found["smartcis_log_bytes",] > 0
    assert found["smartcis_view_rows", "v"] == 2
    up = {process: found["smartcis_process_up", "h", process] for process in ("web", "clock")}
    assert up == {"web": 1, "clock": 0}
    assert found["smartcis_ready",] == 0
    for name in (("smartcis_changes_total",), ("smartcis_epoch_seconds_count", "lane")):
        assert found[name] - before.get(name, 0) == 2
    assert ("smartcis_epoch_seconds_count", "total") in found
    again = figures(collector)
    assert again["smartcis_changes_total",] == found["smartcis_changes_total",]


def test_refusals_sources_and_budgets(collector, house, settings):
    Source.objects.create(source="gate", kind="push", period_s=10.0)
    before = figures(collector)
    assert Client().get("/api/v1/queries/none/").status_code == 404
    found = figures(collector)
    refused = ("smartcis_refusals_total", "smartcis.actions.not_found")
    assert found[refused] - before.get(refused, 0) == 1
    assert found["smartcis_source_live", "push", "gate"] == 0
    assert 0 < found["smartcis_budget_left_ratio", "requests"] <= 1
    assert found["smartcis_var_bytes",] > 0


def test_without_redis_the_rest_is_told(collector, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    for made in (composition.log, composition.results, composition.server):
        made.cache_clear()
    found = figures(collector)
    assert found["smartcis_ready",] == 0
    assert ("smartcis_log_head",) not in found


def test_only_who_may_reads_them(building, settings, monkeypatch):
    assert Client().get("/metrics").status_code == 401
    _, pushing = issue_token("gate")
    gate = Client(headers={"authorization": f"Bearer {pushing}"})
    assert gate.get("/metrics").status_code == 403
    visitor, staff = Client(), Client()
    visitor.force_login(User.objects.create_user("anna"))
    assert visitor.get("/metrics").status_code == 403
    staff.force_login(User.objects.create_user("bert", is_staff=True))
    assert staff.get("/metrics").status_code == 200
    monkeypatch.setenv("SMARTCIS_METRICS", "10.0.0.0/8,fd00::/8")
    settings.METRICS = networks("SMARTCIS_METRICS")
    assert Client().get("/metrics", REMOTE_ADDR="10.1.2.3").status_code == 200
    assert Client().get("/metrics", REMOTE_ADDR="fd00::7").status_code == 200
    assert Client().get("/metrics", REMOTE_ADDR="11.1.2.3").status_code == 401
    posing = {"HTTP_X_FORWARDED_FOR": "10.1.2.3"}
    assert Client().get("/metrics", REMOTE_ADDR="11.1.2.3", **posing).status_code == 401
