"""The REST API: who may do what, and what is said to those who may not."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.contrib.auth.models import User
from django.test import Client

from smartcis import composition
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.actions.issue_token import issue_token
from smartcis.models import Door, OutboxEntry, Reservation, RouteRequest, Sensor

pytestmark = [pytest.mark.database, pytest.mark.django_db]
FIELDS = {
    *("type", "title", "status"),
    *("code", "message", "position", "found", "exists", "try"),
}


class Caller:
    """A client that speaks JSON below /api/v1/."""

    def __init__(self, **headers) -> None:
        self.client = Client(headers=headers)

    def __call__(self, method: str, path: str, body=None, **extra):
        data = "" if body is None else body if isinstance(body, str) else json.dumps(body)
        return self.client.generic(
            method, f"/api/v1/{path}", data, content_type="application/json", **extra
        )


@pytest.fixture
def visitor(house, building) -> Caller:
    return Caller()


@pytest.fixture
def staff(house, building) -> Caller:
    user = User.objects.create_user("gate", is_staff=True)
    _, token = issue_token("t", scope="account", user=user)
    return Caller(authorization=f"Token {token}")


def refused(answer, status: int, code: str) -> dict:
    assert answer.headers["Content-Type"] == "application/problem+json", answer.content
    body = answer.json()
    assert set(body) - {"retry_s"} == FIELDS
    if "retry_s" in body:
        assert str(body["retry_s"]) == answer.headers["Retry-After"]
    assert (answer.status_code, body["status"], body["code"]) == (status, status, code)
    return body


@contextmanager
def running(engine: Callable[[], int]) -> Iterator[None]:
    """The engine works beside the test."""
    stop = threading.Event()

    def work() -> None:
        while not stop.wait(0.02):
            engine()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_the_building_and_its_plan(visitor):
    body = visitor("GET", "building/").json()
    assert body["default_level"] == "L0"
    assert body["levels"][0]["bounds_m"] == [0.0, 0.0, 10.0, 10.0]
    assert body["software"] == ["LaTeX"]
    assert body["kiosks"][0]["node"] == 1
    answer = visitor("GET", "levels/L0/plan/")
    plan = answer.json()
    assert {unit["id"]: unit["node"] for unit in plan["units"]} == {"A": 2, "B": 3, "hall": 1}
    assert plan["machines"][0]["software"] == ["LaTeX"]
    assert {sensor["sid"] for sensor in plan["sensors"]} == {
        *("m1.seat", "m1.cpu", "m2.seat", "m2.cpu"),
    }
    again = visitor("GET", "levels/L0/plan/", HTTP_IF_NONE_MATCH=answer.headers["ETag"])
    assert again.status_code == 304


def test_an_unknown_level_names_those_that_exist(visitor):
    body = refused(visitor("GET", "levels/L9/plan/"), 404, "smartcis.actions.not_found")
    assert body["exists"] == ["L0"]


def test_unknown_paths_are_problems_too(visitor):
    refused(visitor("GET", "nothing/"), 404, "smartcis.api.not_found")
    refused(visitor("GET", "machines/m9/"), 404, "smartcis.api.not_found")
    refused(visitor("PUT", "building/", {}), 401, "smartcis.api.not_authenticated")
    without_cookie = Client(enforce_csrf_checks=True).put("/api/v1/feeds/0/devices/-1/")
    refused(without_cookie, 404, "smartcis.api.not_found")


def test_visitors_read_and_staff_edit(visitor, staff):
    assert visitor("GET", "doors/A.d1/").json()["state"] == "open"
    refused(
        visitor("PATCH", "doors/A.d1/", {"state": "locked"}),
        401,
        "smartcis.api.not_authenticated",
    )
    body = refused(staff("PATCH", "doors/A.d1/", {"state": "ajar"}), 400, "smartcis.api.invalid")
    assert body["message"] == 'state: "ajar" is not a valid choice.'
    assert staff("PATCH", "doors/A.d1/", {"state": "locked"}).json()["state"] == "locked"
    before, after = OutboxEntry.objects.last().body["changes"]
    assert before[:-1] == [*("door", -1, "A.d1", "open"), 3.0, 3.0, "L0"]
    assert after[:-1] == [*("door", 1, "A.d1", "locked"), 3.0, 3.0, "L0"]
    assert after[-1] > before[-1], "locked since now"
    count = OutboxEntry.objects.count()
    staff("PATCH", "doors/A.d1/", {"state": "locked"})
    assert OutboxEntry.objects.count() == count
    body = refused(
        staff("PATCH", "doors/A.d2/", {"state": "open"}), 404, "smartcis.actions.not_found"
    )
    assert (body["exists"], body["try"]) == (["A.d1"], "did you mean A.d1?")


def test_a_bad_token_is_401(house, building):
    answer = Caller(authorization="Token nonsense")("GET", "building/")
    refused(answer, 401, "smartcis.api.authentication_failed")


def test_rooms_are_reserved_once(staff, visitor):
    booking = {"start": "2026-11-21T10:00:00Z", "end": "2026-11-21T11:00:00Z", "title": "Talk"}
    refused(
        visitor("POST", "rooms/A/reservations/", booking), 401, "smartcis.api.not_authenticated"
    )
    made = staff("POST", "rooms/A/reservations/", booking)
    assert made.status_code == 201
    body = refused(staff("POST", "rooms/A/reservations/", booking), 400, "smartcis.actions.invalid")
    assert body["message"] == "the room is booked then: Talk"
    backwards = booking | {"end": booking["start"]}
    refused(staff("POST", "rooms/A/reservations/", backwards), 400, "smartcis.actions.invalid")
    body = refused(
        staff("POST", "rooms/C/reservations/", booking), 404, "smartcis.actions.not_found"
    )
    assert set(body["exists"]) == {"A", "B", "hall"}
    listed = visitor("GET", "rooms/A/reservations/").json()["results"]
    assert [one["title"] for one in listed] == ["Talk"]
    path = f"rooms/A/reservations/{made.json()['id']}/"
    assert staff("DELETE", path).status_code == 204
    refused(staff("DELETE", path), 404, "smartcis.actions.not_found")
    assert not Reservation.objects.exists()


def test_sensors_are_added_changed_and_removed(staff):
    new = {"kind": "temperature", "rid": "A", "waveform": "constant", "parameters": {"value": 21}}
    made = staff("POST", "sensors/", new)
    assert made.status_code == 201, made.json()
    sid = made.json()["sid"]
    changed = staff("PATCH", f"sensors/{sid}/", {"parameters": {"value": 35}, "period_s": 5})
    assert changed.json()["parameters"]["value"] == 35.0
    refused(staff("PATCH", f"sensors/{sid}/", {"period_s": -1}), 400, "smartcis.actions.invalid")
    body = refused(
        staff("POST", "sensors/", {"kind": "seat", "rid": "A"}), 400, "smartcis.actions.invalid"
    )
    assert "machine" in body["message"]
    listed = staff("GET", "sensors/?kind=seat&mid=m1").json()
    assert [one["sid"] for one in listed["results"]] == ["m1.seat"]
    assert staff("DELETE", f"sensors/{sid}/").status_code == 204
    assert not Sensor.objects.filter(pk=sid).exists()


def test_readings_are_taken_together_or_not_at_all(staff, visitor):
    now = time.time()
    good = {"sid": "m1.seat", "value": 70, "unit": "kg", "at_s": now}
    refused(visitor("POST", "readings/", [good]), 401, "smartcis.api.not_authenticated")
    body = staff("POST", "readings/", [good]).json()
    assert body == {"position": composition.log().head(), "accepted": 1}
    head = composition.log().head()
    for bad, code in (
        ({"unit": "lb"}, "smartcis.ingest.bad_unit"),
        ({"unit": None}, "smartcis.ingest.bad_unit"),
        ({"value": "70"}, "smartcis.ingest.bad_value"),
        ({"value": 9e9}, "smartcis.ingest.bad_value"),
        ({"value": True}, "smartcis.ingest.bad_value"),
        ({"at_s": now + 100}, "smartcis.ingest.bad_time"),
        ({"at_s": now - 2 * 86_400}, "smartcis.ingest.bad_time"),
        ({"at_s": None, "at": "yesterday"}, "smartcis.ingest.bad_time"),
        ({"at": "2026-11-21T08:00:00"}, "smartcis.ingest.bad_time"),
        ({"sid": "m9.seat"}, "smartcis.ingest.unknown_sensor"),
        ({"sid": 7}, "smartcis.ingest.unknown_sensor"),
        ({"colour": 1}, "smartcis.ingest.bad_reading"),
        ({"tag": "t"}, "smartcis.ingest.bad_reading"),
    ):
        body = refused(staff("POST", "readings/", [good, good | bad]), 400, code)
        assert body["message"].startswith("reading 1: ")
    for body in ([], {}, 7, [7], None, "[NaN]", "[", "[1e999]", '["\\ud800"]', "[" * 100_000):
        answer = staff("POST", "readings/", body)
        assert answer.status_code == 400, answer.content
        assert set(answer.json()) == FIELDS
    assert composition.log().head() == head


def test_a_repeated_call_under_one_key_appends_once(staff):
    good = {"sid": "m1.seat", "value": 70, "unit": "kg", "at_s": time.time()}
    first = staff("POST", "readings/", [good], HTTP_IDEMPOTENCY_KEY="k1").json()
    again = staff("POST", "readings/", [good], HTTP_IDEMPOTENCY_KEY="k1").json()
    assert first == again == {"position": composition.log().head(), "accepted": 1}
    reordered = dict(reversed(good.items()))
    assert staff("POST", "readings/", [reordered], HTTP_IDEMPOTENCY_KEY="k1").json() == first
    other = staff("POST", "readings/", [good | {"value": 71}], HTTP_IDEMPOTENCY_KEY="k1")
    assert refused(other, 422, "aspen.log.key_reused")["found"] == "k1"
    assert composition.log().head() == first["position"]
    fresh = staff("POST", "readings/", [good | {"value": 71}], HTTP_IDEMPOTENCY_KEY="k2").json()
    assert fresh["position"] == first["position"] + 1


def test_a_body_beyond_the_limit_is_413(staff, settings):
    settings.BODY_LIMIT_BYTES = 1_000
    refused(staff("POST", "readings/", [0] * 1_000), 413, "smartcis.api.body_too_large")


def test_the_log_away_is_503(staff, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    for factory in (composition.log, composition.results, composition.server):
        factory.cache_clear()
    answer = staff("GET", "status/")
    refused(answer, 503, "smartcis.api.unavailable")
    assert answer.headers["Retry-After"] == "5"


SQL = "SELECT m.mid FROM machine m WHERE m.rid = 'A'"


def test_queries_are_maintained_shared_and_ended(visitor, engine):
    made = visitor("POST", "queries/", {"sql": SQL, "name": "mine"})
    assert made.status_code == 201
    body = made.json()
    assert (body["state"], body["columns"]) == (
        "suspended",
        [{"name": "mid", "type": "TEXT", "unit": ""}],
    )
    twin = visitor("POST", "queries/", {"sql": SQL.lower().replace("'a'", "'A'")}).json()
    assert twin["view"] == body["view"]
    relay()
    engine()
    path = f"queries/{body['id']}/"
    assert visitor("GET", path).json()["state"] == "suspended"
    with running(engine):
        rows = visitor("GET", f"{path}rows/").json()
    assert visitor("GET", path).json()["state"] == "running"
    assert (rows["rows"], rows["total"]) == ([["m1"]], 1)
    other = Caller()
    assert other("GET", path).json()["mine"] is False
    refused(other("DELETE", path), 403, "smartcis.actions.refused")
    assert visitor("DELETE", path).status_code == 204
    relay()
    engine()
    assert visitor("GET", f"queries/{twin['id']}/rows/").json()["total"] == 1
    visitor("DELETE", f"queries/{twin['id']}/")
    relay()
    engine()
    assert composition.results().views() == []
    refused(visitor("GET", path), 404, "smartcis.actions.not_found")


def relay() -> None:
    """Do what a commit does; a test's own transaction never ends."""
    pytest.importorskip("smartcis.ingest.relay").relay(composition.log())


def test_errors_in_a_query_point_at_the_culprit(visitor):
    body = refused(
        visitor("POST", "queries/", {"sql": "SELECT m.mid,\n  m.colour FROM machine m"}),
        400,
        "aspen.bind.unknown_column",
    )
    assert body["position"] == {"line": 2, "column": 3, "length": 8}
    assert "m.host" in body["exists"]
    checked = visitor("POST", "queries/check/", {"sql": "SELEC 1"})
    assert checked.status_code == 200
    assert checked.json()["ok"] is False
    for sql in ("", "SELECT", "GRANT ALL ON machine TO me", ";" * 50, "SELECT " + "(" * 5_000):
        answer = visitor("POST", "queries/", {"sql": sql})
        assert answer.status_code == 400, sql[:20]
        assert set(answer.json()) == FIELDS


def test_visitors_have_a_quota(visitor, settings):
    settings.QUOTAS = settings.QUOTAS | {"queries": {"browser": 1}}
    assert visitor("POST", "queries/", {"sql": SQL}).status_code == 201
    refused(visitor("POST", "queries/", {"sql": SQL}), 409, "smartcis.actions.quota_reached")
    settings.OPEN_QUERIES = False
    refused(visitor("POST", "queries/", {"sql": SQL}), 403, "smartcis.actions.refused")


def test_other_peoples_walks_are_not_for_visitors(visitor, staff):
    deploy_standing_queries()
    for sql in ("SELECT * FROM route_request", "SELECT n.mid FROM nearest_destination n"):
        refused(visitor("POST", "queries/", {"sql": sql}), 403, "smartcis.actions.refused")
        assert visitor("POST", "queries/check/", {"sql": sql}).json()["ok"] is False
    made = staff("POST", "queries/", {"sql": "SELECT q.node FROM route_request q"}).json()
    refused(visitor("GET", f"queries/{made['id']}/"), 404, "smartcis.actions.not_found")
    refused(visitor("GET", f"queries/{made['id']}/rows/"), 403, "smartcis.live.forbidden")
    assert visitor("GET", "queries/").json()["count"] == 0


def test_a_walk_belongs_to_its_browser(visitor):
    ask = {"node": 1, "goal": "free-machine:LaTeX", "step_free": False}
    made = visitor("POST", "routes/", ask)
    assert made.status_code == 201
    session = made.json()["session"]
    assert visitor("PATCH", f"routes/{session}/", {"step_free": True}).json()["step_free"] is True
    stranger = Caller()
    for method in ("GET", "PATCH", "DELETE"):
        refused(stranger(method, f"routes/{session}/", {}), 404, "smartcis.actions.not_found")
    body = refused(
        visitor("POST", "routes/", ask | {"goal": "free-machine:LaTex"}),
        404,
        "smartcis.actions.not_found",
    )
    assert body["exists"] == ["LaTeX"]
    body = refused(visitor("POST", "routes/", ask | {"node": 9}), 404, "smartcis.actions.not_found")
    assert body["exists"] == ["1", "2", "3"]
    refused(visitor("POST", "routes/", {"node": "x"}), 400, "smartcis.api.invalid")
    refused(visitor("POST", "routes/", {"node": 10**18}), 400, "smartcis.api.invalid")
    refused(visitor("POST", "routes/", {"node": 10**30}), 400, "smartcis.bad_json")
    assert visitor("DELETE", f"routes/{session}/").status_code == 204
    assert not RouteRequest.objects.exists()


def test_explain_names_all_ten_borders(visitor):
    text = visitor("POST", "queries/explain/", {"sql": SQL}).json()["text"]
    headings = [line for line in text.splitlines() if line.startswith("── ")]
    assert [heading.split()[1] for heading in headings] == [
        *("1", "2", "3", "4", "5", "6", "7", "8", "9", "10"),
    ]


def test_sources_hold_relations_and_views_with_units(visitor):
    deploy_standing_queries()
    sources = {one["name"]: one for one in visitor("GET", "sources/").json()}
    assert sources["free_machine"]["kind"] == "view"
    assert sources["free_machine"]["comment"].startswith("Machines nobody uses")
    assert sources["nearest_destination"]["private"] is True
    units = {c["name"]: c["unit"] for c in sources["temperature_reading"]["columns"]}
    assert units["celsius"] == "°C"


def test_pages_are_shells_under_a_strict_policy(visitor):
    answer = visitor.client.get("/")
    for page in (answer, visitor.client.get("/api/docs/"), visitor.client.get("/admin/login/")):
        policy = page.headers["Content-Security-Policy"]
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert b"<style>" not in page.content
        assert b' style="' not in page.content
    assert b'data-page="map" data-staff="0"' in answer.content
    assert {"csrftoken", "sessionid"} <= set(visitor.client.cookies)
    assert visitor.client.get("/kiosk/k1/").status_code == 200
    assert visitor.client.get("/kiosk/k9/").status_code == 404
    assert Door.objects.get().state == "open"
