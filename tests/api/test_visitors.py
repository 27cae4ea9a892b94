"""Visitors' positions are theirs: who sees what, from which moment on, and who is noted."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest
from api.test_api import Caller, refused, relay, running
from django.contrib.auth.models import User

from aspen.log.entry import Change, Tick, Transaction
from smartcis import composition
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.models import MaintainedView, Sensor, StaffAccess, Unit, Visitor

pytestmark = [pytest.mark.database, pytest.mark.django_db]
# The reader hangs at the walking point, away from where the room's name stands.
LABEL = (6.5, 1.5)
ME = "visitors/me/"


@pytest.fixture
def public(house, building) -> Caller:
    hall = Unit.objects.get(pk="hall")
    hall.label_x_m, hall.label_y_m = LABEL
    hall.save()
    deploy_standing_queries()
    return Caller()


@pytest.fixture
def staff(public) -> Caller:
    caller = Caller()
    caller.client.force_login(User.objects.create_user("gate", is_staff=True))
    return caller


@pytest.fixture
def heard(public, engine) -> Callable[..., None]:
    """Let readers hear tags at walking point 1, in the hall, and the engine fold it."""

    def hear(*tags: str, node: int = 1) -> None:
        relay()
        at_s = time.time()
        changes = tuple(Change("rfid_reading", 1, (tag, "r", node, -60.0, at_s)) for tag in tags)
        composition.log().append([Transaction(at_s, changes), Tick(at_s)])
        engine()

    return hear


def person(tag: str, consent: str = Visitor.HIDDEN) -> Visitor:
    return Visitor.objects.create(tag=tag, simulated=False, consent=consent)


def rows(view: str) -> list[tuple]:
    snapshot = composition.results().snapshot(view)
    return [] if snapshot is None else sorted(snapshot.rows)


def choose(caller: Caller, visitor: Visitor, consent: str) -> dict:
    answer = caller("PATCH", ME, {"consent": consent}, headers={"Visitor-Code": visitor.code})
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_who_has_not_opted_in_is_nowhere(public, heard):
    person("real")
    heard("real", "stranger")
    for view in ("visitor_heard", "visitor_position", "visitors_in_room", "visitors_on_level"):
        assert rows(view) == [], view


def test_a_room_without_the_point_then_the_point_then_nothing(public, heard, engine):
    visitor = person("real")
    heard("real")
    told = choose(public, visitor, "room")
    heard()
    name = told["pseudonym"]
    assert rows("visitor_position") == [(name, "L0", "hall", *LABEL, "room", False)]
    assert choose(public, visitor, "exact")["pseudonym"] == name
    heard()
    assert rows("visitor_position") == [(name, "L0", "hall", 5.0, 5.0, "exact", False)]
    choose(public, visitor, "hidden")
    relay()
    engine()  # the very next epoch, the tag's last reading still in the window
    assert rows("visitor_position") == rows("visitor_heard") == []
    back = choose(public, visitor, "room")["pseudonym"]
    assert back != name, "who comes back is somebody new"
    heard()
    assert [row[0] for row in rows("visitor_position")] == [back]


def test_a_number_is_told_from_three_on_and_hides_who_is_only_counted(public, heard):
    people = [person(f"t{n}", "room") for n in range(2)]
    heard("t0", "t1")
    assert rows("visitors_on_level") == []
    people.append(person("t2", "counted"))
    heard("t0", "t1", "t2")
    assert len(rows("visitor_position")) == 2
    assert rows("visitors_on_level") == [], "three less the two on the map is one certain person"
    for n in (3, 4):
        person(f"t{n}", "counted")
    heard("t3", "t4")
    assert rows("visitors_on_level") == [("L0", 5)]
    assert rows("visitors_in_room") == [("hall", "L0", 5)]
    assert len(rows("visitor_position")) == 2


def test_the_tag_leaves_the_engine_by_no_way_that_others_have(public, staff, heard, engine):
    visitor = person("real-tag", "room")
    hidden = person("hidden-tag")
    heard("real-tag", "hidden-tag")
    (row,) = rows("visitor_position")
    for sql in (
        "SELECT h.tag FROM rfid_reading [RANGE 60 SECONDS] h",
        "SELECT v.tag FROM visitor v",
        "SELECT h.tag FROM visitor_heard h",
    ):
        refused(public("POST", "queries/", {"sql": sql}), 403, "smartcis.actions.refused")
        once = refused(
            public("POST", "queries/", {"sql": f"ONCE {sql}"}), 403, "smartcis.actions.refused"
        )
        assert "visitor_position" in once["try"]
    refused(public("GET", "queries/visitor_heard/rows/"), 403, "smartcis.live.forbidden")
    closed = {s["name"] for s in public("GET", "sources/").json() if s["private"]}
    assert {"rfid_reading", "visitor", "visitor_heard"} <= closed
    assert not closed & {"visitor_position", "visitors_in_room", "visitors_on_level"}
    seen = {"view": "visitor_position", "row": list(row)}
    known = {"view": "visitor_position", "row": {"visitor": row[0]}}
    veiled = "smartcis.why.veiled"
    with running(engine):
        why = public("POST", "queries/why/", seen).json()
        cannot = "smartcis.hypothetical.cannot_read"
        free = {"view": "free_machine", "updates": "DELETE FROM visitor"}
        refused(public("POST", "queries/what-if/", free), 400, cannot)
    facts = why["sets"][0]
    assert {fact["relation"] for fact in facts} == {"rfid_reading", "visitor"}
    assert all(fact["hidden"] and fact["row"] == {} for fact in facts)
    missing = {**known, "row": {"visitor": row[0], "rid": "A"}}
    refused(public("POST", "queries/why-not/", missing), 403, veiled)
    refused(public("POST", "queries/weak-points/", known), 403, veiled)
    moved = "UPDATE routing_node SET rid = 'A' WHERE node = 1"
    refused(public("POST", "queries/what-if/", {**known, "updates": moved}), 403, veiled)
    over = public("POST", "queries/", {"sql": "SELECT p.rid FROM visitor_position p"}).json()
    question = {"view": over["id"], "updates": moved}
    refused(public("POST", "queries/what-if/", question), 403, veiled)
    shown = public("GET", "queries/visitor_position/rows/").content + json.dumps(why).encode()
    for one in (visitor, hidden):
        assert one.tag.encode() not in shown
        assert one.code.encode() not in shown


def test_what_staff_makes_of_tags_stays_with_staff(public, staff, heard):
    person("real", "room")
    sql = "CREATE VIEW last_heard AS SELECT h.node FROM rfid_reading [RANGE 60 SECONDS] h"
    assert staff("POST", "queries/", {"sql": sql}).status_code == 201
    assert MaintainedView.objects.get(name="last_heard").private
    reader = {"sql": "SELECT l.node FROM last_heard l"}
    refused(public("POST", "queries/", reader), 403, "smartcis.actions.refused")
    made = staff("POST", "queries/", reader).json()
    refused(public("GET", f"queries/{made['id']}/rows/"), 403, "smartcis.live.forbidden")
    assert staff("POST", "queries/", {"sql": "CREATE TABLE known (tag TEXT)"}).status_code == 200
    for sql in (
        "SELECT v.tag FROM visitor v OUTPUT TO ALARM where",
        "INSERT INTO known SELECT v.tag FROM visitor v",
        "INSERT INTO known SELECT h.tag FROM visitor_heard h",
    ):
        refused(staff("POST", "queries/", {"sql": sql}), 403, "smartcis.actions.refused")


def test_each_look_of_the_staff_is_noted(public, staff, heard, engine):
    heard("real")
    assert staff("POST", "queries/check/", {"sql": "SELECT v.tag FROM visitor v"}).json()["ok"]
    assert not StaffAccess.objects.exists(), "to have a text checked shows nobody"
    once = (
        "ONCE SELECT h.tag FROM rfid_reading [PARTITION BY tag ROWS 1 RANGE 60 SECONDS] h "
        "WHERE h.node = 1"
    )
    with running(engine):
        assert staff("POST", "queries/", {"sql": once}).json()["rows"] == [["real"]]
    for _ in range(3):
        assert staff("GET", "queries/visitor_heard/rows/").status_code == 200
    kept = "SELECT v.tag FROM visitor v"
    made = staff("POST", "queries/", {"sql": kept}).json()
    relay()
    engine()
    staff("GET", "queries/free_machine/rows/")
    noted = StaffAccess.objects.order_by("pk").values_list("account", "how", "what", "times")
    assert list(noted) == [
        ("gate", "asked once", once, 1),
        ("gate", "followed", "visitor_heard", 3),
        ("gate", "registered", kept, 1),
    ]
    with running(engine):
        assert staff("GET", f"queries/{made['id']}/rows/").json()["rows"] == []
    assert noted.last() == ("gate", "followed", kept, 1)


def test_the_engine_forgets_where_a_tag_was(public, staff, heard, engine):
    person("real", "exact")
    long_ago = "SELECT h.tag FROM rfid_reading [RANGE 1 HOURS] h"
    kept = staff("POST", "queries/", {"sql": long_ago}).json()["view"]
    heard("real")
    with running(engine):
        staff("GET", f"queries/{kept}/rows/")
    heard("real")
    assert rows(kept) == [("real",), ("real",)] or rows(kept) == [("real",)]
    composition.log().append([Tick(time.time() + 61.0)])
    engine()
    assert rows(kept) == rows("visitor_position") == rows("visitor_heard") == []


def test_codes_and_choices_that_are_none(public):
    visitor = person("real")
    refused(public("GET", ME), 400, "smartcis.actions.invalid")
    for code in ("", "nobody", visitor.tag):
        headers = {"Visitor-Code": code}
        answer = public("PATCH", ME, {"consent": "exact"}, headers=headers)
        refused(answer, 404, "smartcis.visitors.unknown_code")
    mine = {"Visitor-Code": visitor.code}
    refused(public("PATCH", ME, {"consent": "famous"}, headers=mine), 400, "smartcis.api.invalid")
    visitor.refresh_from_db()
    assert visitor.consent == "hidden"
    told = public("GET", ME, headers=mine).json()
    assert told == {"consent": "hidden", "pseudonym": visitor.pseudonym, "simulated": False}
    assert public("GET", "visitors/policy/").json()["held_s"] == 60.0
    answers = (public("GET", ME, headers=mine).status_code for _ in range(300))
    assert 429 in answers, "codes are not to be guessed"


def test_sensors_api_knows_no_tags(public, heard):
    Sensor(sid="r", kind="rfid", unit_id="hall", node_id=1, x_m=5, y_m=5).save()
    person("real-tag", "exact")
    heard("real-tag")
    for path in ("sensors/", "sensors/r/", "levels/L0/plan/", "building/"):
        assert b"real-tag" not in public("GET", path).content, path
