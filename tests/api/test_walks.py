"""Walks are their visitors': from where, to where, step-free or not, by whichever way one asks."""

from __future__ import annotations

import pytest
from api.test_api import Caller, refused, relay, running
from api.test_why import now_s, rows_of, visitor  # noqa: F401 - fixtures
from django.contrib.auth.models import User
from django.core.cache import cache

from smartcis import composition
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.catalog import CATALOG
from smartcis.compiling.statistics import house_statistics
from smartcis.models import MaintainedView, RouteRequest, StaffAccess
from smartcis.policies import POLICIES

pytestmark = [pytest.mark.database, pytest.mark.django_db]
WALKS = (
    *("route_request", "walking_cost", "walking_parent"),
    *("reachable_destination", "nearest_destination", "route_step"),
)
UNANSWERED = ("no_route", "route_door", "route_news")
"""Views over walks that are empty here: every walk has an answer, without a door and news."""


def walk(caller: Caller, node: int, *, step_free: bool) -> str:
    ask = {"node": node, "goal": "free-machine:LaTeX", "step_free": step_free}
    made = caller("POST", "routes/", ask)
    assert made.status_code == 201, made.content
    return made.json()["session"]


@pytest.fixture
def ann(visitor, engine, now_s) -> Caller:  # noqa: F811
    return visitor


@pytest.fixture
def sessions(ann, bob, engine) -> tuple[str, str]:
    made = walk(ann, 1, step_free=False), walk(bob, 2, step_free=True)
    relay()
    engine()
    return made


@pytest.fixture
def bob(visitor) -> Caller:  # noqa: F811
    return Caller()


@pytest.fixture
def staff(visitor) -> Caller:  # noqa: F811
    caller = Caller()
    caller.client.force_login(User.objects.create_user("gate", is_staff=True))
    return caller


def once(caller: Caller, sql: str) -> list[tuple]:
    answer = caller("POST", "queries/", {"sql": f"ONCE {sql}"})
    assert answer.status_code == 200, answer.content
    return sorted(tuple(row) for row in answer.json()["rows"])


def test_an_answer_has_the_rows_of_ones_own_walks(ann, bob, staff, sessions, engine):
    first, second = sessions
    mine = {first: (1, False), second: (2, True)}
    with running(engine):
        for relation in WALKS:
            by_session = "session" in columns_of(relation)
            whose = "r.session" if by_session else "r.origin"
            everything = once(staff, f"SELECT r.* FROM {relation} r")
            assert everything, relation
            for caller, session in ((ann, first), (bob, second)):
                own = once(caller, f"SELECT {whose} AS whose FROM {relation} r")
                assert {row[0] for row in own} == {session if by_session else mine[session][0]}
                assert len(own) < len(everything)
            assert once(Caller(), f"SELECT r.* FROM {relation} r") == []
    assert not StaffAccess.objects.exclude(account="gate").exists()
    assert StaffAccess.objects.filter(how="asked once").count() == len(WALKS)


def columns_of(relation: str) -> list[str]:
    if relation in CATALOG:
        return list(CATALOG.get(relation).names)
    return [name for name, *_ in MaintainedView.objects.get(pk=relation).columns]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM walking_cost w WHERE w.origin = 2",
        "SELECT w.node FROM walking_cost w WHERE w.step_free",
        "SELECT p.parent FROM walking_parent p, walking_cost w WHERE w.origin = 2 AND p.origin = 2",
        "SELECT d.state FROM door d WHERE EXISTS (SELECT 1 FROM walking_cost w WHERE w.origin = 2)",
        "WITH c AS (SELECT w.origin FROM walking_cost w) SELECT c.origin FROM c WHERE c.origin = 2",
        "SELECT n.rid FROM routing_node n WHERE n.node IN (SELECT q.node - 1 FROM route_request q)",
        "SELECT w.node FROM walking_cost w WHERE 1.0 / (w.origin - 2) IS NULL",
        "SELECT w.origin FROM walking_cost w WHERE w.origin > 1 ORDER BY w.cost_mm LIMIT 3",
    ],
)
def test_no_question_reaches_anothers_walk(ann, staff, sessions, engine, sql):
    with running(engine):
        for caller in (ann, Caller()):
            assert [row for row in once(caller, sql) if row != (0,)] == []
        assert [row for row in once(staff, sql) if row != (0,)], "there is something to see"


def test_nothing_else_shows_them(ann, staff, sessions, engine, settings):
    head = composition.log().head()
    for relation in WALKS:
        sql = f"SELECT r.{columns_of(relation)[0]} FROM {relation} r"
        body = refused(ann("POST", "queries/", {"sql": sql}), 403, "smartcis.actions.refused")
        assert "ONCE" in body["try"]
        assert relation in body["message"]
        assert not set(body["exists"]) & set(WALKS)
        assert ann("POST", "queries/check/", {"sql": sql}).json()["ok"] is False
        refused(ann("POST", "queries/explain/", {"sql": sql}), 403, "smartcis.actions.refused")
        named = f"CREATE VIEW mine AS {sql}"
        refused(ann("POST", "queries/", {"sql": named}), 403, "smartcis.actions.refused")
    for view in ("walking_cost", "walking_parent"):
        for ending in ("", "?format=csv", "?format=geojson"):
            path = f"queries/{view}/rows/{ending}"
            assert "ONCE" in refused(ann("GET", path), 403, "smartcis.live.forbidden")["try"]
        for kind, more in (
            ("why", {"row": [2, True, 2, 0]}),
            ("why-not", {"row": {"node": 2}}),
            ("weak-points", {}),
            ("what-if", {"updates": "DELETE FROM door"}),
        ):
            question = {"view": view, **more}
            refused(ann("POST", f"queries/{kind}/", question), 403, "smartcis.live.forbidden")
    closed = {one["name"] for one in ann("GET", "sources/").json() if one["private"]}
    assert set(WALKS) <= closed
    assert composition.log().head() == head, "none of these reached the log"


def test_what_is_made_of_walks_stays_with_staff(ann, staff, sessions, engine):
    sql = "CREATE VIEW busy AS SELECT w.origin, COUNT(*) AS n FROM walking_cost w GROUP BY w.origin"
    assert staff("POST", "queries/", {"sql": sql}).status_code == 201
    over = {"sql": "SELECT b.n FROM busy b"}
    body = refused(ann("POST", "queries/", over), 403, "smartcis.actions.refused")
    assert "busy is made of walking_cost" in body["message"]
    refused(
        ann("POST", "queries/", {"sql": f"ONCE {over['sql']}"}), 403, "smartcis.actions.refused"
    )
    made = staff("POST", "queries/", over).json()
    refused(ann("GET", f"queries/{made['id']}/rows/"), 403, "smartcis.live.forbidden")
    refused(ann("GET", f"queries/{made['id']}/"), 404, "smartcis.actions.not_found")
    out = {"sql": "SELECT w.node FROM walking_cost w OUTPUT TO ALARM somebody"}
    refused(staff("POST", "queries/", out), 403, "smartcis.actions.refused")
    table = {"sql": "CREATE TABLE kept (node INT)"}
    assert staff("POST", "queries/", table).status_code == 200
    copy = {"sql": "INSERT INTO kept SELECT w.node FROM walking_cost w"}
    refused(staff("POST", "queries/", copy), 403, "smartcis.actions.refused")


def test_the_engine_says_nothing_of_views_over_walks(ann, staff, sessions, engine):
    plain = ann("POST", "queries/", {"sql": "SELECT d.state FROM door d"}).json()["view"]
    kept = staff("POST", "queries/", {"sql": "SELECT w.node FROM walking_cost w"}).json()["view"]
    counted = ann("POST", "queries/", {"sql": "SELECT q.view, q.rows FROM sys.queries q"}).json()
    relay()
    engine()
    with running(engine):
        for system in ("queries", "operators", "arrangements", "costs"):
            told = {row[0] for row in once(ann, f"SELECT s.view FROM sys.{system} s")}
            assert not told & {*WALKS, "visitor_heard", "visitors_on_level", kept}, system
            assert told & {"destination", "machine_state"}, system
        names = {row[0] for row in once(ann, "SELECT s.view FROM sys.queries s")}
        assert plain in names
        assert {"walking_cost", kept} <= {
            row[0] for row in once(staff, "SELECT s.view FROM sys.queries s")
        }
        shown = {row[0] for row in ann("GET", f"queries/{counted['id']}/rows/").json()["rows"]}
        assert "free_machine" in shown
        assert not shown & {*WALKS, kept}


def test_estimates_do_not_count_walks(ann):
    def counts() -> tuple[float, float]:
        known = house_statistics().counts
        return known["route_request"], known["walking_cost"]

    before = counts()
    for number in range(20):
        RouteRequest.objects.create(browser=str(number), node=1, goal="free-machine:LaTeX")
    assert counts() == before


def test_a_column_of_that_name_makes_a_table_nobodys(ann, staff, engine):
    """Rows have owners where the table of policies says so, not by the name of a column."""
    with running(engine):
        made = "CREATE TABLE talk (session TEXT, room TEXT)"
        assert staff("POST", "queries/", {"sql": made}).status_code == 200
        staff("POST", "queries/", {"sql": "INSERT INTO talk VALUES ('keynote', 'A')"})
        kept = ann("POST", "queries/", {"sql": "SELECT t.session, t.room FROM talk t"})
        assert kept.status_code == 201
        relay()
        path = f"queries/{kept.json()['id']}/rows/"
        assert ann("GET", path).json()["rows"] == [["keynote", "A"]]


def test_every_policy_names_what_exists(visitor):  # noqa: F811
    names = {one["name"] for one in visitor("GET", "sources/").json()}
    assert set(POLICIES) <= names
    cache.clear()


def test_a_deployment_closes_what_was_open_before(ann):
    """A database of before knows of no policy: its views were told to everybody."""
    kept = ann("POST", "queries/", {"sql": "SELECT p.rid FROM visitor_position p"}).json()
    MaintainedView.objects.filter(pk=kept["view"]).update(sources=["walking_cost"])
    MaintainedView.objects.update(private=False)
    deploy_standing_queries()
    closed = set(MaintainedView.objects.filter(private=True).values_list("name", flat=True))
    assert closed == {*WALKS[1:], *UNANSWERED, "visitor_heard", kept["view"]}
    refused(ann("GET", f"queries/{kept['id']}/rows/"), 403, "smartcis.live.forbidden")
    refused(ann("GET", f"queries/{kept['id']}/"), 404, "smartcis.actions.not_found")
