"""Queries as people meet them: names, shared examples, authors, pages, kiosks, doubts."""

from __future__ import annotations

import pytest
from api.test_api import Caller, refused
from django.contrib.auth.models import User

from smartcis.access.grants import Forbidden, grant
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.actions.issue_token import issue_token
from smartcis.compiling.query_title import title_of_text
from smartcis.examples import EXAMPLES
from smartcis.models import Kiosk, MaintainedQuery, MaintainedView

pytestmark = pytest.mark.django_db
SQL = {example.slug: example.sql for example in EXAMPLES}
LOCKED, WALKERS = SQL["locked-doors"], "SELECT q.node FROM route_request q"


@pytest.fixture
def house(house, building):
    deploy_standing_queries()
    return house


@pytest.fixture
def visitor(house) -> Caller:
    return Caller()


def account(name: str, *, is_staff: bool = False) -> Caller:
    user = User.objects.create_user(name, is_staff=is_staff)
    _, token = issue_token("t", scope="account", user=user)
    return Caller(authorization=f"Token {token}")


def submit(caller: Caller, sql: str, **fields):
    answer = caller("POST", "queries/", {"sql": sql, **fields})
    assert answer.status_code == 201, answer.content
    return answer.json()


def used(caller: Caller) -> int:
    return caller("GET", "queries/limits/").json()["queries"]


def test_every_example_that_a_visitor_may_run_is_shared_and_counts_as_nobodys(visitor, settings):
    settings.QUOTAS = {**settings.QUOTAS, "queries": {"browser": 1, "address": 1, "all": 1}}
    listed = visitor("GET", "queries/examples/").json()
    assert [one["slug"] for one in listed] == [one.slug for one in EXAMPLES]
    kept = [one for one in listed if "OUTPUT TO" not in one["sql"] and "ONCE" not in one["sql"]]
    mine = [submit(visitor, one["sql"]) for one in kept]
    others = [submit(Caller(), f"\n{one['sql']};\n") for one in kept]
    assert [one["id"] for one in mine] == [one["id"] for one in others]
    assert [(one["title"], one["example"]) for one in mine] == [(k["title"], True) for k in kept]
    assert not any(one["mine"] for one in mine)
    assert used(visitor) == 0
    assert visitor("GET", "queries/?mine=1").json()["results"] == []
    # One's own place is there still, and there is one.
    submit(visitor, "SELECT door_id FROM door")
    more = visitor("POST", "queries/", {"sql": "SELECT level_id FROM door"})
    refused(more, 409, "smartcis.actions.quota_reached")


@pytest.mark.parametrize(
    "text",
    [
        LOCKED.replace("locked", "open"),
        LOCKED.replace("'locked'", "' locked'"),
        LOCKED.replace("\n", " "),
        f"{LOCKED} -- mine",
    ],
)
def test_an_example_that_was_changed_is_ones_own_and_counts(visitor, text):
    made = submit(visitor, text)
    assert (made["mine"], made["example"], used(visitor)) == (True, False, 1)


def test_an_example_that_is_named_or_asked_with_a_strategy_or_by_an_account_is_its_own(visitor):
    assert submit(visitor, LOCKED, name="My doors")["mine"]
    assert submit(visitor, SQL["walking"], strategy="recompute")["mine"] is True
    ann = account("ann")
    assert submit(ann, LOCKED)["mine"]
    assert (used(visitor), used(ann)) == (2, 1)


def test_nobody_but_staff_ends_or_names_a_shared_example(visitor):
    shared = submit(visitor, LOCKED)
    path = f"queries/{shared['id']}/"
    refused(visitor("DELETE", path), 403, "smartcis.actions.refused")
    refused(visitor("PATCH", path, {"name": "x"}), 403, "smartcis.actions.refused")
    assert account("gate", is_staff=True)("DELETE", path).status_code == 204
    assert not MaintainedView.objects.filter(name=shared["view"]).exists()


def test_a_newer_text_of_an_example_takes_the_place_of_the_older_one(visitor):
    older = submit(visitor, LOCKED)
    MaintainedQuery.objects.update(sql="SELECT door_id FROM door")
    newer = submit(visitor, LOCKED)
    assert newer["id"] != older["id"]
    assert MaintainedQuery.objects.count() == 1


def test_visitors_who_may_not_query_may_not_run_examples_either(visitor, settings):
    submit(visitor, LOCKED)
    settings.OPEN_QUERIES = False
    refused(visitor("POST", "queries/", {"sql": LOCKED}), 403, "smartcis.actions.refused")


def test_a_query_is_called_by_its_name_else_by_what_it_asks_never_by_its_text(visitor):
    sql = "SELECT r.name, AVG(c.celsius) FROM room_climate c JOIN room r ON r.rid = c.rid"
    made = submit(visitor, f"{sql} WHERE c.celsius > 20 GROUP BY r.name")
    said = "Average celsius by name from room climate and room, where celsius > 20"
    assert (made["name"], made["title"]) == (None, said)
    named = visitor("PATCH", f"queries/{made['id']}/", {"name": " Warm "}).json()
    assert (named["name"], named["title"]) == ("Warm", "Warm")


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT * FROM room", "Everything from room"),
        ("SELECT at_s, rid FROM room_climate ORDER BY at_s DESC", ", newest first"),
        ("SELECT COUNT(*) FROM door", "Number of rows from door"),
        ("SELECT 1 AS a", "Values written in the query"),
        ("SELECT a FROM x UNION ALL SELECT b FROM y", "A from x and y"),
        ("not a query", "A query of an older version"),
    ],
)
def test_what_a_text_asks_in_words(sql, said):
    assert said in title_of_text(sql)


def test_a_long_text_has_a_whole_title():
    many = ", ".join(f"a_very_long_column_name_{n}" for n in range(40))
    title = title_of_text(f"SELECT {many} FROM some_relation WHERE a = '{'x' * 200}'")
    assert (
        title
        == "A very long column name 0, a very long column name 1 and 38 more from some relation"
    )
    assert len(title_of_text(f"SELECT a FROM {'r' * 200}")) <= 100


def test_the_author_of_a_query_is_named_where_he_says_so(visitor):
    ann = account("ann")
    made = submit(ann, "SELECT door_id FROM door")
    path = f"queries/{made['id']}/"
    assert visitor("GET", path).json()["author"] == ""
    assert ann("PATCH", path, {"show_author": True}).json()["name"] is None
    assert visitor("GET", path).json()["author"] == "ann"
    refused(visitor("PATCH", path, {"show_author": False}), 403, "smartcis.actions.refused")


def test_a_query_has_a_page_of_its_own_unless_it_reads_what_is_closed(visitor, client):
    made = submit(visitor, "SELECT door_id FROM door", name="All doors")
    page = client.get(f"/queries/{made['id']}/")
    assert page.status_code == 200
    assert f'data-query="{made["id"]}"' in page.content.decode()
    assert "<title>All doors · " in page.content.decode()
    closed = submit(account("gate", is_staff=True), WALKERS)
    assert client.get(f"/queries/{closed['id']}/").status_code == 404
    assert client.get("/queries/nothing/").status_code == 404


def test_a_kiosk_shows_a_query_instead_of_the_plan(visitor, client, settings):
    staff = account("gate", is_staff=True)
    made = submit(visitor, "SELECT door_id FROM door")
    settings.OPEN_QUERIES = False
    with pytest.raises(Forbidden):
        grant(made["id"], browser="", user=None)
    hung = staff("PATCH", "kiosks/k1/", {"query": made["id"]})
    assert (hung.status_code, hung.json()["query"]) == (200, made["id"])
    page = client.get("/kiosk/k1/").content.decode()
    assert f'data-page="query" data-staff="0" data-kiosk="k1" data-query="{made["id"]}"' in page
    # What hangs on a wall is for everybody, also where visitors may not query.
    assert grant(made["id"], browser="", user=None).view == made["view"]
    refused(staff("PATCH", "kiosks/k1/", {"query": "nothing"}), 404, "smartcis.actions.not_found")
    closed = submit(staff, WALKERS)["id"]
    refused(staff("PATCH", "kiosks/k1/", {"query": closed}), 400, "smartcis.actions.invalid")
    # A query that ends leaves the plan behind.
    assert staff("DELETE", f"queries/{made['id']}/").status_code == 204
    assert Kiosk.objects.get(pk="k1").query is None
    assert 'data-page="kiosk"' in client.get("/kiosk/k1/").content.decode()


def test_a_cross_product_is_doubted_before_it_runs(visitor):
    sql = "SELECT m.mid, r.name\nFROM machine m,\n  room r"
    checked = visitor("POST", "queries/check/", {"sql": sql}).json()
    (doubt,) = checked["warnings"]
    assert checked["ok"] is True
    assert doubt["code"] == "aspen.warning.cross_product"
    assert doubt["position"] == {"line": 3, "column": 3, "length": 4}
    assert "machine" in doubt["message"]
    assert "room" in doubt["message"]
    assert doubt["large"] is False
    explained = visitor("POST", "queries/explain/", {"sql": sql}).json()
    assert explained["warnings"] == [doubt]
    assert explained["text"].startswith("warning: aspen.warning.cross_product")
    tied = sql + "\nWHERE m.rid = r.rid"
    assert visitor("POST", "queries/check/", {"sql": tied}).json()["warnings"] == []


def test_a_doubt_says_what_to_add_and_whether_to_ask_once_more(visitor, monkeypatch):
    monkeypatch.setattr("smartcis.compiling.doubts.LARGE_ROWS", 4)
    sql = "SELECT m.mid FROM machine m, machine_software s"
    (doubt,) = visitor("POST", "queries/check/", {"sql": sql}).json()["warnings"]
    assert doubt["try"] == "add a condition that ties them, perhaps m.mid = s.mid"
    assert (doubt["large"], doubt["rows"]) == (True, doubt["rows"])
    assert doubt["rows"] >= 4


def test_nothing_speaks_against_examples(visitor):
    for example in EXAMPLES:
        checked = visitor("POST", "queries/check/", {"sql": example.sql}).json()
        assert checked.get("warnings", []) == [], example.slug
