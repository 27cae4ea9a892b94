"""`SMARTCIS_OPEN_QUERIES=0`: no door of the API or the socket lets a visitor query."""

from __future__ import annotations

import pytest
from api.test_api import Caller, refused
from asgiref.sync import sync_to_async
from live.sockets import opened, page_of, story

from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.models import MaintainedQuery

pytestmark = pytest.mark.django_db(transaction=True)

SQL = "SELECT m.mid FROM machine m"
STATEMENTS = (
    SQL,
    f"ONCE {SQL}",
    "CREATE VIEW mine AS " + SQL,
    "CREATE TABLE mine (n INT)",
    "CREATE STREAM mine (n INT)",
    "DROP VIEW mine",
    "INSERT INTO mine SELECT 1 AS n",
    "DELETE FROM mine WHERE n IN (SELECT 1 AS n)",
    "UPDATE mine SET n = 1",
)
ASKED = {"view": "free_machine"}
BODIES = {  # of each path below queries/ that takes something; a new one has to be added here
    "/api/v1/queries/": [{"sql": sql} for sql in STATEMENTS],
    "/api/v1/queries/check/": [{"sql": SQL}, {"sql": f"ONCE {SQL}"}],
    "/api/v1/queries/explain/": [{"sql": SQL}],
    "/api/v1/queries/why/": [ASKED | {"row": []}],
    "/api/v1/queries/why-not/": [ASKED | {"row": {}}],
    "/api/v1/queries/what-if/": [ASKED | {"updates": "DELETE FROM machine"}],
    "/api/v1/queries/weak-points/": [ASKED],
    "/api/v1/queries/{query_id}/": [{"name": "x"}],
    "/api/v1/queries/{query_id}/deliveries/": [],  # a query without an outlet has none: 404
    "/api/v1/queries/{query_id}/placement/": [{"where": "engine"}],
}
OPEN = {  # what is no query: one's walks, and what others see of the holder of a tag
    *("/api/v1/routes/", "/api/v1/routes/{session}/"),
    "/api/v1/visitors/me/",
}
READ = {  # texts of queries and how they are; their rows are not among these
    *("/api/v1/queries/", "/api/v1/queries/examples/", "/api/v1/queries/limits/"),
    "/api/v1/queries/{query_id}/",
    *("/api/v1/queries/{query_id}/placement/", "/api/v1/queries/{query_id}/deliveries/"),
}


@pytest.fixture
def operations(house, building, settings) -> list[tuple[str, str]]:
    paths = Caller().client.get("/api/schema/?format=json").json()["paths"]
    return [(method.upper(), path) for path, methods in paths.items() for method in methods]


@pytest.fixture
def query(house, building, settings) -> str:
    """A visitor's query, from before the doors were closed."""
    deploy_standing_queries()
    made = Caller()("POST", "queries/", {"sql": SQL}).json()
    settings.OPEN_QUERIES = False
    return made["id"]


def send(method: str, path: str, query: str, body: object = None):
    for name in ("query_id", "session", "source", "rid", "mid", "sid", "door_id", "level_id"):
        path = path.replace(f"{{{name}}}", query)
    for name in ("alarm_id", "reservation_id", "device_id", "number"):
        path = path.replace(f"{{{name}}}", "1")
    path = path.removeprefix("/api/v1/")
    return Caller()(method, path, body)


def test_every_endpoint_that_takes_something_refuses_visitors(operations, query):
    taking = [one for one in operations if one[0] != "GET" and one[1] not in OPEN]
    assert len(taking) > 15
    let_in = []
    for method, path in taking:
        bodies = BODIES[path] if path.startswith("/api/v1/queries/") else [{}]
        for body in bodies:
            answer = send(method, path, query, body)
            if path.endswith("check/") and answer.status_code == 200:
                said = answer.json()
                if said["ok"] or said["code"] != "smartcis.actions.refused":
                    let_in.append((method, path, body, said))
            elif answer.status_code not in (401, 403):
                let_in.append((method, path, body, answer.status_code))
    assert let_in == []
    assert MaintainedQuery.objects.count() == 1


def test_rows_of_queries_are_closed_and_standing_views_stay_open(operations, query, engine):
    engine()
    reading = {path for method, path in operations if method == "GET" and "/queries/" in path}
    assert reading == READ | {"/api/v1/queries/{query_id}/rows/"}
    for path in READ:
        assert send("GET", path, query).status_code in (200, 403, 404)
    refused(Caller()("GET", f"queries/{query}/rows/"), 403, "smartcis.live.forbidden")
    assert Caller()("GET", "queries/free_machine/rows/").status_code == 200
    assert Caller()("GET", "queries/limits/").json()["may_query"] is False
    assert Caller()("GET", "me/").json()["may_query"] is False


@story
async def test_the_socket_gives_no_query_and_standing_views(query, engine):
    await sync_to_async(engine)()
    client = Caller().client
    socket = await opened(await sync_to_async(page_of)(client))
    await socket.say(type="subscribe", id=1, view=query)
    error = await socket.hear("error")
    assert (error["id"], error["code"]) == (1, "smartcis.live.forbidden")
    await socket.say(type="subscribe", id=2, view="door_state")
    assert (await socket.hear("snapshot"))["id"] == 2
    await socket.leave()


def test_who_has_an_account_may_query(query, django_user_model):
    caller = Caller()
    caller.client.force_login(django_user_model.objects.create_user("ann"))
    assert caller("POST", "queries/check/", {"sql": SQL}).json()["ok"] is True
    assert caller("GET", "me/").json()["may_query"] is True
    assert caller("GET", f"queries/{query}/").status_code == 200
