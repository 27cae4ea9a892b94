"""Readings wait outside while the engine is far behind; what people do is always taken."""

from __future__ import annotations

import pytest

from aspen.log.entry import Tick
from smartcis import composition
from smartcis.ingest.pressure import BACKLOG_ENTRIES, Overrun, check_pressure


class At:
    def __init__(self, head):
        self._head = head

    def head(self):
        return self._head


def test_up_to_the_bound_nothing_is_refused():
    check_pressure(At(BACKLOG_ENTRIES + 7), At((1, 7, 0.0)))


@pytest.mark.parametrize(("beyond", "retry_s"), [(1, 1), (999, 1), (5_000, 6), (10_000_000, 60)])
def test_beyond_it_one_is_told_when_to_come_back(beyond, retry_s):
    with pytest.raises(Overrun) as caught:
        check_pressure(At(BACKLOG_ENTRIES + 7 + beyond), At((1, 7, 0.0)))
    assert caught.value.retry_s == retry_s
    assert f"{retry_s} s" in caught.value.attempt


@pytest.mark.django_db
def test_the_api_refuses_politely_and_takes_nothing(building, house, admin_client, monkeypatch):
    log = composition.log()
    log.append([Tick(float(n)) for n in range(30)])
    monkeypatch.setattr("smartcis.ingest.pressure.BACKLOG_ENTRIES", 20)
    before = log.head()
    answer = admin_client.post(
        "/api/v1/readings/", [{"sid": "s", "value": 1, "unit": "kg"}], "application/json"
    )
    assert answer.status_code == 429
    assert int(answer["Retry-After"]) >= 1
    assert answer.json()["code"] == "smartcis.ingest.overrun"
    assert log.head() == before
