"""Health: the view, the pulse, the REST answer and the admin page say the same."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st
from wrappers.conftest import START_S, health

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Register, Tick, Transaction
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_views
from smartcis.catalog import CATALOG
from smartcis.models import Source
from smartcis.queries import standing_queries
from smartcis.wrappers.pulse import Pulse, dead_s, late_s

TEXTS = {
    name: text for name, text in standing_queries().items() if name == "source_status.streamsql"
}
PERIOD_S = 10.0
deed = st.tuples(
    st.sampled_from(["heard", "heard", "trouble", "reader stops", "reader goes on"]),
    st.floats(0.5, 30.0, allow_nan=False),
)


class Road:
    """One source, its reader, and a lane that hears only what the reader says."""

    def __init__(self) -> None:
        self.lane, self.position = Lane(), 0
        self.now_s = START_S
        self.pulse = Pulse("s", PERIOD_S, START_S)
        self.said: Pulse | None = None
        self.reads = True
        (view,) = compile_views(TEXTS, CATALOG)
        row = ("s", "mqtt", "S", None, None, late_s(PERIOD_S), dead_s(PERIOD_S), START_S)
        self._feed(
            *(Declare(self.now_s, relation) for relation in CATALOG),
            Register(self.now_s, "source_status", plan_text(view.plan)),
            Transaction(self.now_s, (Change("source", 1, row),)),
        )

    def _feed(self, *entries) -> None:
        numbered = [(self.position + i, entry) for i, entry in enumerate(entries, start=1)]
        self.position += len(entries)
        self.lane.apply(numbered)

    def pass_time(self, seconds: float) -> None:
        """A second at a time, as Celery ticks and readers look."""
        while seconds > 0:
            self.now_s += min(1.0, seconds)
            seconds -= 1.0
            row = self.pulse.due(self.now_s) if self.reads else None
            if row is not None:
                _, since_s, heard_s, reason, _ = row
                self.said = Pulse("s", PERIOD_S, START_S, since_s, heard_s, self.now_s, reason)
                self._feed(Transaction(self.now_s, (Change("source_heartbeat", 1, row),)))
            self._feed(Tick(self.now_s))

    def shown(self) -> tuple[str, float]:
        ((_, state, since_s, _),) = self.lane.rows("source_status")
        return state, since_s


@settings(max_examples=40, deadline=None)
@given(st.lists(deed, min_size=1, max_size=15))
def test_the_view_says_what_the_heartbeats_in_the_log_say(deeds):
    road = Road()
    for what, seconds in deeds:
        match what:
            case "heard":
                road.pulse.heard(road.now_s)
            case "trouble":
                road.pulse.trouble("away")
            case "reader stops":
                road.reads = False
            case _:
                road.reads = True
        road.pass_time(seconds)
        told = road.said or Pulse("s", PERIOD_S, START_S)
        assert road.shown() == health(told, road.now_s)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0.1, 30.0, allow_nan=False), max_size=8), st.floats(0.0, 20.0))
def test_silence_always_ends_in_dead_and_a_word_always_in_live(gaps, last_s):
    """Whatever came before: four periods of silence are dead, a word shows within a period."""
    road = Road()
    for gap_s in gaps:
        road.pulse.heard(road.now_s)
        road.pass_time(gap_s)
    road.pass_time(dead_s(PERIOD_S) + 2.0 + last_s)
    assert road.shown()[0] == "dead"
    for _ in range(int(PERIOD_S) + 1):
        road.pulse.heard(road.now_s)
        road.pass_time(1.0)
    assert road.shown()[0] == "live"


def test_a_heartbeat_is_said_when_something_changed_and_now_and_then():
    pulse = Pulse("s", PERIOD_S, 0.0)
    assert pulse.due(1.0) == ("s", 0.0, 0.0, "", 1.0)
    said = []
    for second in range(2, 200):
        pulse.heard(float(second))
        said.append(pulse.due(float(second)) is not None)
    assert sum(said) == pytest.approx(200 / PERIOD_S, abs=1)
    pulse.trouble("away")
    assert pulse.due(200.0) is not None
    pulse.trouble("away")
    assert pulse.due(201.0) is None
    pulse.unsaid()
    assert pulse.due(201.0) is not None
    assert health(pulse, 200.0)[0] == "live"


@pytest.mark.django_db
def test_rest_and_admin_show_the_health(home, site):
    site.page = "BEGIN:VCALENDAR\nEND:VCALENDAR\n"
    source = Source.objects.create(
        source="cal",
        name="Calendar",
        kind="calendar",
        unit_id="A",
        config={"url": site.url},
        period_s=60.0,
        added_at=datetime.fromtimestamp(START_S - 100, UTC),
    )
    fed = {one["name"]: one["fed_by"] for one in Client().get("/api/v1/sources/").json()}
    assert fed["reservation"][0]["state"] == "unknown"
    assert fed["room"] == []
    assert home.poll(source)
    heard_s = home.now_s
    site.go()
    home.later(600.0)
    assert not home.poll(source)
    assert home.state(source)[0] == "dead"
    fed = {one["name"]: one["fed_by"] for one in Client().get("/api/v1/sources/").json()}
    ((feed),) = fed["reservation"]
    assert (feed["id"], feed["state"], feed["since_s"]) == ("cal", "dead", heard_s)
    assert "no answer" in feed["reason"]
    operator = Client()
    operator.force_login(User.objects.create_superuser("root"))
    page = operator.get("/admin/smartcis/source/").content.decode()
    assert "no data since 2026-03-10 09:30:00 UTC" in page
    page = operator.get("/admin/smartcis/source/cal/change/").content.decode()
    assert "no data since" in page
    answer = operator.post(
        "/admin/smartcis/source/add/",
        {"source": "two", "name": "Two", "kind": "calendar", "config": "{}", "period_s": "60"},
    )
    assert "a calendar has either a url or a file" in answer.content.decode()
    site.come_back()
