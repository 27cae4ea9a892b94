"""Statements over REST: asked once, declared, changed, dropped; and rows in their order."""

from __future__ import annotations

import pytest
from api.test_api import Caller, refused, relay, running
from django.contrib.auth.models import User

from smartcis import composition
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.actions.issue_token import issue_token
from smartcis.models import MaintainedQuery, MaintainedView, OwnRelation, OwnRow

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


def account(name: str, *, is_staff: bool = False) -> Caller:
    user = User.objects.create_user(name, is_staff=is_staff)
    _, token = issue_token("t", scope="account", user=user)
    return Caller(authorization=f"Token {token}")


@pytest.fixture
def visitor(building, house) -> Caller:
    return Caller()


@pytest.fixture
def ann(building, house) -> Caller:
    return account("ann")


@pytest.fixture
def staff(building, house) -> Caller:
    return account("gate", is_staff=True)


def submit(caller: Caller, sql: str, status: int = 200, **fields):
    answer = caller("POST", "queries/", {"sql": sql, **fields})
    assert answer.status_code == status, answer.content
    return answer.json()


def test_once_is_answered_and_not_kept(visitor, engine):
    deploy_standing_queries({})
    with running(engine):
        body = submit(visitor, "ONCE SELECT mid, host FROM machine ORDER BY host DESC")
    assert body["kind"] == "answer"
    assert body["rows"] == [["m2", "host-m2"], ["m1", "host-m1"]]
    assert [column["name"] for column in body["columns"]] == ["mid", "host"]
    assert 0 < body["position"] <= composition.log().head()
    assert body["epoch"] > 0
    assert body["total"] == 2
    assert not MaintainedQuery.objects.exists()
    assert not MaintainedView.objects.exists()


def test_what_only_the_order_needs_is_not_shown(visitor, engine):
    deploy_standing_queries({})
    with running(engine):
        once = submit(visitor, "ONCE SELECT mid FROM machine ORDER BY host DESC")
        kept = submit(visitor, "SELECT mid FROM machine ORDER BY host DESC", 201)
        rows = visitor("GET", f"queries/{kept['id']}/rows/").json()
    assert once["rows"] == rows["rows"] == [["m2"], ["m1"]]
    assert once["columns"] == rows["columns"] == kept["columns"]
    key = {"column": "order_by_1", "descending": True, "nulls_last": True}
    assert kept["order"] == {"keys": [key], "width": 1}


def test_the_first_rows_of_an_order_come_in_that_order(visitor, engine):
    deploy_standing_queries({})
    with running(engine):
        sql = "SELECT rid, name FROM room ORDER BY name DESC LIMIT 2"
        kept = submit(visitor, sql, 201)
        rows = visitor("GET", f"queries/{kept['id']}/rows/").json()["rows"]
        assert (
            rows
            == submit(visitor, f"ONCE {sql}")["rows"]
            == [["hall", "Room hall"], ["B", "Room B"]]
        )


def test_once_and_continuous_do_not_turn_into_each_other(visitor):
    body = refused(
        visitor("POST", "queries/", {"sql": "ONCE SELECT mid FROM machine", "name": "mine"}),
        400,
        "aspen.bind.one_shot",
    )
    assert body["position"]["line"] == 1
    checked = visitor("POST", "queries/check/", {"sql": "ONCE SELECT mid FROM machine"}).json()
    assert (checked["ok"], checked["kind"]) == (True, "once")
    checked = visitor("POST", "queries/check/", {"sql": "SELECT mid FROM machine"}).json()
    assert (checked["ok"], checked["kind"]) == (True, "query")
    again = visitor("POST", "queries/explain/", {"sql": "ONCE SELECT mid FROM machine"})
    refused(again, 400, "aspen.bind.one_shot")


def test_once_without_an_engine_says_so(visitor, settings):
    deploy_standing_queries({})
    settings.ANSWER_S = 0.05
    body = refused(
        visitor("POST", "queries/", {"sql": "ONCE SELECT mid FROM machine"}),
        503,
        "smartcis.why.no_answer",
    )
    assert body["try"]


def test_a_table_of_ones_own(ann, visitor, engine):
    deploy_standing_queries({})
    with running(engine):
        made = submit(ann, "CREATE TABLE lunch (rid TEXT NOT NULL, seats INT, PRIMARY KEY (rid))")
        assert made == {"kind": "done", "statement": "CREATE TABLE", "name": "lunch", "changed": 1}
        kept = submit(visitor, "SELECT rid, seats FROM lunch ORDER BY rid", 201)
        rows = "INSERT INTO lunch VALUES ('A', 4), ('B', 2)"
        assert submit(ann, rows)["changed"] == 2
        assert submit(ann, "INSERT INTO lunch (rid) SELECT rid FROM room WHERE rid = 'hall'")
        asked = submit(visitor, "ONCE SELECT rid, seats FROM lunch ORDER BY rid")["rows"]
        assert asked == [["A", 4], ["B", 2], ["hall", None]]
        assert submit(ann, "UPDATE lunch SET seats = seats + 1 WHERE seats > 3")["changed"] == 1
        assert submit(ann, "DELETE FROM lunch WHERE seats IS NULL")["changed"] == 1
        asked = submit(visitor, "ONCE SELECT l.rid, l.seats FROM lunch l ORDER BY rid")["rows"]
        assert asked == [["A", 5], ["B", 2]]
        assert visitor("GET", f"queries/{kept['id']}/rows/").json()["rows"] == asked
        refused(
            ann("POST", "queries/", {"sql": "INSERT INTO lunch VALUES ('A', 9)"}),
            400,
            "smartcis.actions.invalid",
        )
        gone = ann("POST", "queries/", {"sql": "DROP TABLE lunch"})
        assert refused(gone, 403, "smartcis.actions.refused")["exists"] == [kept["view"]]
        assert visitor("DELETE", f"queries/{kept['id']}/").status_code == 204
        assert submit(ann, "DROP TABLE lunch")["changed"] == 1
    assert not OwnRelation.objects.exists()
    assert not OwnRow.objects.exists()


def test_a_table_may_come_back_with_other_columns(ann, engine):
    deploy_standing_queries({})
    with running(engine):
        submit(ann, "CREATE TABLE lunch (rid TEXT)")
        submit(ann, "INSERT INTO lunch VALUES ('A'), ('A')")
        assert submit(ann, "ONCE SELECT * FROM lunch")["rows"] == [["A"], ["A"]]
        submit(ann, "DROP TABLE lunch")
        submit(ann, "CREATE TABLE lunch (seats INT)")
        submit(ann, "INSERT INTO lunch VALUES (3)")
        assert submit(ann, "ONCE SELECT * FROM lunch")["rows"] == [[3]]
        wrong = submit(ann, "ONCE SELECT COUNT(*) FROM sys.queries WHERE error IS NOT NULL")
        assert wrong["rows"] == [[0]]


def test_a_stream_of_ones_own_grows_only(ann, engine):
    deploy_standing_queries({})
    with running(engine):
        submit(ann, "CREATE STREAM tap (rid TEXT, litres FLOAT UNIT 'l', KEY (rid))")
        submit(ann, "INSERT INTO tap VALUES ('A', 1), ('A', 2.5)")
        newest = submit(ann, "ONCE SELECT rid, litres FROM tap [PARTITION BY rid ROWS 1]")
        assert newest["rows"] == [["A", 2.5]]
        assert newest["columns"][1]["unit"] == "l"
        refused(
            ann("POST", "queries/", {"sql": "DELETE FROM tap"}), 403, "smartcis.actions.refused"
        )


@pytest.mark.parametrize(
    ("sql", "status", "code"),
    [
        ("CREATE TABLE machine (mid TEXT)", 400, "smartcis.actions.invalid"),
        ("CREATE TABLE sys_mine (mid TEXT)", 400, "smartcis.actions.invalid"),
        ("CREATE STREAM s (a INT) FROM DEVICE seat", 400, "smartcis.actions.invalid"),
        ("INSERT INTO machine VALUES ('m9')", 403, "smartcis.actions.refused"),
        ("DELETE FROM nothing", 404, "smartcis.actions.not_found"),
        ("DROP TABLE machine", 403, "smartcis.actions.refused"),
        ("BEGIN", 400, "aspen.parse.not_a_query"),
        ("INSERT INTO lunch VALUES (1)", 403, "smartcis.actions.refused"),
        ("DROP TABLE lunch", 403, "smartcis.actions.refused"),
        ("CREATE TABLE lunch (b INT)", 400, "smartcis.actions.invalid"),
        ("DROP VIEW free_machine", 404, "smartcis.actions.not_found"),
    ],
)
def test_what_may_not_be_is_said(sql, status, code, ann, building):
    submit(account("bob"), "CREATE TABLE lunch (a INT)")
    refused(ann("POST", "queries/", {"sql": sql}), status, code)


def test_visitors_declare_nothing(visitor):
    sql = "CREATE TABLE lunch (a INT)"
    refused(visitor("POST", "queries/", {"sql": sql}), 403, "smartcis.actions.refused")
    checked = visitor("POST", "queries/check/", {"sql": sql}).json()
    assert (checked["ok"], checked["code"]) == (False, "smartcis.actions.refused")


def test_a_named_view_is_read_by_others_and_goes_last(ann, visitor, engine):
    deploy_standing_queries({})
    with running(engine):
        view = submit(ann, "CREATE VIEW housed AS SELECT mid, rid FROM machine", 201)
        assert view["view"] == "housed"
        reader = submit(visitor, "SELECT COUNT(*) AS n FROM housed", 201)
        assert visitor("GET", f"queries/{reader['id']}/rows/").json()["rows"] == [[2]]
        refused(
            ann("POST", "queries/", {"sql": "DROP VIEW housed"}), 403, "smartcis.actions.refused"
        )
        other = account("eve")
        refused(
            other("POST", "queries/", {"sql": "DROP VIEW housed"}), 403, "smartcis.actions.refused"
        )
        visitor("DELETE", f"queries/{reader['id']}/")
        assert submit(ann, "DROP VIEW housed")["statement"] == "DROP"
        again = {"sql": "SELECT * FROM housed"}
        refused(visitor("POST", "queries/", again), 400, "aspen.bind.unknown_relation")
    assert not MaintainedView.objects.exists()


def test_the_engine_says_what_it_does(visitor, engine):
    deploy_standing_queries(
        {"open.streamsql": "CREATE VIEW open AS SELECT * FROM door WHERE state = 'open'"}
    )
    with running(engine):
        sql = "SELECT q.view, q.state, q.rows FROM sys.queries q WHERE q.view = 'open'"
        assert submit(visitor, f"ONCE {sql}")["rows"] == [["open", "running", 1]]
        kept = submit(visitor, sql, 201)
        assert visitor("GET", f"queries/{kept['id']}/rows/").json()["rows"] == [
            ["open", "running", 1]
        ]
        epochs = submit(visitor, "ONCE SELECT COUNT(*) FROM sys.epochs")
        assert epochs["rows"] == [[0]]
        assert (
            "the engine keeps it itself"
            in visitor("POST", "queries/explain/", {"sql": sql}).json()["text"]
        )


def test_an_account_that_goes_takes_its_views_along(ann, visitor, engine):
    deploy_standing_queries({})
    submit(ann, "SELECT rid FROM room", 201)
    submit(ann, "CREATE VIEW lone AS SELECT state FROM door", 201)
    submit(ann, "CREATE VIEW rooms AS SELECT rid, level_id FROM room", 201)
    shared = submit(ann, "SELECT name FROM level", 201)["view"]
    submit(visitor, "SELECT name FROM level", 201)
    kept = submit(visitor, "SELECT rid FROM rooms", 201)["view"]
    relay()
    engine()
    User.objects.get(username="ann").delete()
    left = set(MaintainedView.objects.values_list("name", flat=True))
    assert left == {shared, kept, "rooms"}, "others follow one, and read the other"
    relay()
    engine()
    assert composition.results().snapshot("lone") is None
