"""What visitors are led to, how long they keep it, and why they are led elsewhere."""

from __future__ import annotations

import pytest
from api.test_api import Caller, refused, relay, running
from api.test_questions import of_staff
from api.test_why import now_s, rows_of, visitor, walk  # noqa: F401 - fixtures

from smartcis import composition
from smartcis.access.owner import SYSTEM
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.actions.keep_targets import keep_targets
from smartcis.actions.set_door_state import set_door_state
from smartcis.ingest.readings import append_readings
from smartcis.models import Destination, Door, RouteRequest, RouteRule

pytestmark = [pytest.mark.database, pytest.mark.django_db]
HALL = "SELECT n.rid, n.node FROM routing_node n WHERE n.rid = 'hall'"
LATEX = "free-machine:LaTeX"


@pytest.fixture
def told(visitor, engine, now_s):  # noqa: F811
    """What the engine says after everything until now was told to it, and noted."""

    def turn(view: str, *, keep: bool = True) -> list[tuple]:
        relay()
        engine()
        if keep:
            keep_targets(composition.results())
            relay()
            engine()
        return rows_of(view)

    return turn


def lock(state: str = "locked") -> None:
    set_door_state("A.d1", state, SYSTEM)


def test_an_answer_carries_its_question(visitor, told):  # noqa: F811
    session = walk(visitor)
    assert told("nearest_destination") == [(session, 1, LATEX, False, "m1", "A", "m1", 2, 4_000)]
    visitor("PATCH", f"routes/{session}/", {"node": 3, "step_free": True})
    assert [row[:5] for row in told("nearest_destination")] == [(session, 3, LATEX, True, "m2")]
    assert {row[:5] for row in rows_of("route_step")} == {(session, 3, LATEX, True, "m2")}
    visitor("PATCH", f"routes/{session}/", {"goal": "room:A"})
    assert [row[2:6] for row in told("nearest_destination")] == [("room:A", True, "A", "A")]


def test_a_locked_door_is_named_until_the_answer_changes_again(visitor, told):  # noqa: F811
    session = walk(visitor)
    assert told("route_news") == []
    lock()
    news = (session, 1, LATEX, False, "m1", 4_000, "m2", 9_000, "door locked", "A.d1", "")
    assert told("route_news", keep=False) == [news], "in the very epoch of the change"
    assert told("route_news") == [news], "and still when it has been noted"
    assert told("route_news") == [news]
    lock("open")
    back = (session, 1, LATEX, False, "m2", 9_000, "m1", 4_000)
    causes = {("door opened", "A.d1", ""), ("nearer", "", "")}
    assert told("route_news") == sorted((*back, *cause) for cause in causes)
    visitor("PATCH", f"routes/{session}/", {"node": 2})
    assert told("route_news") == [], "another question has no news"


def test_a_target_is_kept_unless_the_gain_is_worth_it(visitor, told):  # noqa: F811
    RouteRule.objects.update_or_create(pk=1, defaults={"gain_pct": 60.0, "gain_mm": 20_000})
    lock()
    walk(visitor)
    assert [row[4] for row in told("nearest_destination")] == ["m2"]
    lock("open")
    assert [row[4] for row in told("nearest_destination")] == ["m2"], "5 of 9 m are 56 %"
    assert rows_of("route_news") == []
    RouteRule.objects.update(gain_mm=4_999)
    assert [row[4] for row in told("nearest_destination")] == ["m1"]


def test_a_taken_machine_and_nothing_left(visitor, told, now_s):  # noqa: F811
    session = walk(visitor)
    told("nearest_destination")
    taken = [{"sid": f"{m}.seat", "value": 70, "unit": "kg", "at_s": now_s} for m in ("m1", "m2")]
    append_readings(composition.log(), taken[:1])
    assert [row[4:] for row in told("route_news")] == [
        ("m1", 4_000, "m2", 9_000, "in use", "m1", "seat")
    ]
    append_readings(composition.log(), taken[1:])
    assert [row[4:] for row in told("route_news")] == [
        ("m2", 9_000, None, None, "in use", "m2", "seat")
    ]
    assert told("no_route") == [(session, 1, LATEX, False, "nothing there")]
    assert RouteRequest.objects.get().target == ""


def test_noting_twice_changes_nothing(visitor, told):  # noqa: F811
    walk(visitor)
    lock()
    told("route_news")
    assert keep_targets(composition.results()) == 0


def test_no_way_is_told_from_nothing_there(visitor, told):  # noqa: F811
    lock()
    made = visitor("POST", "routes/", {"node": 1, "goal": "machine:m1"}).json()
    assert told("no_route") == [(made["session"], 1, "machine:m1", False, "no open way")]


def test_an_operator_adds_a_destination_and_visitors_are_led_there(visitor, told):  # noqa: F811
    staff = of_staff()
    body = {"slug": "the-hall", "name": "The hall", "sql": f"{HALL};", "words": "lobby"}
    made = staff("POST", "destinations/", body)
    assert made.status_code == 201, made.content
    assert made.json()["sql"] == HALL
    names = [one["slug"] for one in visitor("GET", "building/").json()["destinations"]]
    assert "the-hall" in names
    session = visitor("POST", "routes/", {"node": 3, "goal": "the-hall"}).json()["session"]
    assert [row[:6] for row in told("nearest_destination")] == [
        (session, 3, "the-hall", False, "hall", "hall")
    ]
    elsewhere = {"sql": HALL.replace("hall", "B")}
    assert staff("PATCH", "destinations/the-hall/", elsewhere).status_code == 200
    assert [row[4] for row in told("nearest_destination")] == ["B"]
    assert staff("DELETE", "destinations/the-hall/").status_code == 204
    assert told("no_route")[0][4] == "nothing there"
    refused(
        visitor("POST", "routes/", {"node": 3, "goal": "the-hall"}),
        404,
        "smartcis.actions.not_found",
    )


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT n.rid FROM routing_node n", "smartcis.actions.invalid"),
        ("SELECT n.node AS rid, n.node FROM routing_node n", "smartcis.actions.invalid"),
        ("SELECT q.session AS rid, q.node FROM route_request q", "smartcis.actions.invalid"),
        ("SELECT d.rid, d.node FROM destination d", "smartcis.actions.invalid"),
        ("SELECT n.rid, n.nod FROM routing_node n", "aspen.bind.unknown_column"),
        ("SELECT FROM", "aspen.parse.syntax"),
    ],
)
def test_a_query_that_leads_nowhere_is_refused(visitor, sql, code):  # noqa: F811
    body = {"slug": "x", "name": "X", "sql": sql}
    before = Destination.objects.count()
    answer = of_staff()("POST", "destinations/", body)
    assert (answer.status_code, answer.json()["code"]) == (400, code), answer.content
    assert Destination.objects.count() == before


def test_a_destination_that_no_longer_compiles_is_left_out_and_says_why(visitor):  # noqa: F811
    Destination.objects.create(slug="old", name="Old", sql="SELECT r.rid, r.node FROM gone r")
    deploy_standing_queries()
    assert "gone" in Destination.objects.get(slug="old").error["message"]
    listed = {
        one["slug"]: one["usable"] for one in visitor("GET", "destinations/").json()["results"]
    }
    assert listed["old"] is False
    assert "old" not in [one["slug"] for one in visitor("GET", "building/").json()["destinations"]]


def test_why_a_visitor_is_led_there(visitor, told, engine):  # noqa: F811
    walk(visitor)
    (row,) = told("nearest_destination")
    reached = {"view": "reachable_destination", "row": [*row[:7], row[8]]}
    with running(engine):
        body = visitor("POST", "queries/why/", reached)
    needed = {fact["relation"] for fact in body.json()["sets"][0]}
    assert {"door", "seat_reading", "machine_software", "route_request"} <= needed
    refused(Caller()("POST", "queries/why/", reached), 404, "smartcis.why.not_there")


def test_a_door_says_since_when(visitor):  # noqa: F811
    since_s = Door.objects.get().since_s
    lock("open")
    assert Door.objects.get().since_s == since_s
    lock()
    assert Door.objects.get().since_s > since_s
