"""Why over HTTP and from the shell: the engine's word, for those who may see the row."""

from __future__ import annotations

import time
from io import StringIO

import pytest
from api.test_api import Caller, refused, relay, running
from django.core.management import CommandError, call_command

from aspen.log.entry import OneTimeQuery, Tick
from smartcis import composition
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.ingest.readings import append_readings
from smartcis.models import Door, RouteRequest

pytestmark = pytest.mark.django_db


@pytest.fixture
def visitor(house, building) -> Caller:
    deploy_standing_queries()
    return Caller()


@pytest.fixture
def now_s(visitor, engine) -> float:
    """Both machines are free: nobody sits there, the rooms are lit."""
    now_s = time.time()
    seats = [{"sid": f"{m}.seat", "value": 0, "unit": "kg", "at_s": now_s} for m in ("m1", "m2")]
    loads = [{"sid": f"{m}.cpu", "value": 4, "unit": "%", "at_s": now_s} for m in ("m1", "m2")]
    relay()
    append_readings(composition.log(), seats + loads)
    composition.log().append([Tick(now_s)])
    engine()
    return now_s


def walk(visitor: Caller) -> str:
    ask = {"node": 1, "goal": "free-machine:LaTeX", "step_free": False}
    return visitor("POST", "routes/", ask).json()["session"]


def rows_of(view: str) -> list[tuple]:
    return sorted(composition.results().snapshot(view).rows)


def test_a_free_machine_rests_on_its_readings(visitor, engine, now_s):
    assert rows_of("free_machine") == [("m1", "A", 2), ("m2", "B", 3)]
    with running(engine):
        answer = visitor("POST", "queries/why/", {"view": "free_machine", "row": ["m1", "A", 2]})
    assert answer.status_code == 200, answer.content
    body = answer.json()
    (facts,) = body["sets"]
    told = {fact["relation"]: fact for fact in facts}
    assert told["seat_reading"] == {
        "relation": "seat_reading",
        "row": {"mid": "m1", "sid": "m1.seat", "weight_kg": 0.0, "at_s": now_s},
        "necessary": True,
        "hidden": False,
    }
    assert told["cpu_reading"]["row"]["cpu_pct"] == 4.0
    assert told["machine"]["row"]["host"] == "host-m1"
    assert body["complete"] is True


def test_a_walk_rests_on_the_door_it_passes_and_is_nobody_elses(visitor, engine, now_s):
    session = walk(visitor)
    relay()
    engine()
    (row,) = rows_of("nearest_destination")
    assert (row[0], row[4]) == (session, "m1")
    question = {"view": "nearest_destination", "row": list(row)}
    with running(engine):
        body = visitor("POST", "queries/why/", question).json()
        refused(Caller()("POST", "queries/why/", question), 404, "smartcis.why.not_there")
    needed = {fact["relation"]: fact["row"] for fact in body["sets"][0] if fact["necessary"]}
    assert needed["door"]["door_id"] == Door.objects.get().door_id
    assert needed["route_request"]["session"] == session


def test_reasons_are_of_ones_own_walk_and_paths_have_none(visitor, engine, now_s):
    session = walk(visitor)
    relay()
    engine()
    (row,) = rows_of("nearest_destination")
    question = {"view": "nearest_destination", "row": list(row)}
    with running(engine):
        own = visitor("POST", "queries/why/", question).json()
    told = [fact for fact in own["sets"][0] if fact["relation"] == "route_request"]
    assert [(fact["row"]["session"], fact["hidden"]) for fact in told] == [(session, False)]
    for caller in (visitor, Caller()):
        paths = {"view": "walking_cost", "row": [1, False, 2, 4_000]}
        refused(caller("POST", "queries/why/", paths), 403, "smartcis.live.forbidden")


def test_a_private_query_is_for_staff_alone(visitor, django_user_model, engine, now_s):
    walk(visitor)
    user = django_user_model.objects.create_user("gate", is_staff=True)
    staff = Caller()
    staff.client.force_login(user)
    made = staff("POST", "queries/", {"sql": "SELECT q.node FROM route_request q"}).json()
    relay()
    engine()
    question = {"view": made["id"], "row": [1]}
    with running(engine):
        body = staff("POST", "queries/why/", question).json()
        refused(visitor("POST", "queries/why/", question), 403, "smartcis.live.forbidden")
    assert body["sets"][0][0]["row"]["session"] == RouteRequest.objects.get().session


NOBODYS = ["x", 1, "exit", False, "m1", "A", "m1", 2, 4]


def test_questions_without_an_answer(visitor, engine, now_s, settings):
    head = composition.log().head()
    for question, status, code in (
        ({"view": "free_machin", "row": []}, 404, "smartcis.live.unknown_view"),
        ({"view": "free_machine", "row": ["m1"]}, 400, "aspen.model.schema"),
        ({"view": "free_machine", "row": ["m1", "A", "2"]}, 400, "aspen.model.schema"),
        ({"view": "free_machine", "row": ["m1", ["A"], 2]}, 400, "aspen.model.schema"),
        ({"view": "free_machine"}, 400, "smartcis.api.invalid"),
        (
            {"view": "nearest_destination", "row": ["x", 1, "exit", False, "m1", "A", "m1", 2, 4]},
            404,
            "smartcis.why.not_there",
        ),
    ):
        refused(visitor("POST", "queries/why/", question), status, code)
    assert composition.log().head() == head, "none of these reached the log"
    question = {"view": "free_machine", "row": ["m9", "A", 2]}
    with running(engine):
        body = refused(visitor("POST", "queries/why/", question), 404, "smartcis.why.not_there")
    assert body["exists"] == ["mid TEXT", "rid TEXT", "node INT"]
    settings.ANSWER_S = 0.1
    question["row"][0] = "m1"
    answer = visitor("POST", "queries/why/", question)
    refused(answer, 503, "smartcis.why.no_answer")
    assert answer.headers["Retry-After"] == "5"


def test_questions_are_throttled(visitor, settings):
    settings.RATES = settings.RATES | {"why": {"browser": 3}}
    question = {"view": "nothing", "row": []}
    answers = [visitor("POST", "queries/why/", question).status_code for _ in range(4)]
    assert answers == [404] * 3 + [429]


def test_answers_pass_and_leave_nothing_behind(visitor, engine, now_s):
    with running(engine):
        visitor("POST", "queries/why/", {"view": "free_machine", "row": ["m1", "A", 2]})
    log = composition.log()
    (name,) = [view for view in composition.results().views() if view.startswith("why:")]
    asked = [entry for _, entry in log.read(0, log.head()) if isinstance(entry, OneTimeQuery)]
    assert [f"why:{entry.ask}" for entry in asked] == [name]
    log.append([Tick(asked[0].at_s + 31)])
    engine()
    assert composition.results().snapshot(name) is None


def test_the_command_prints_the_reasons(visitor, engine, now_s):
    out = StringIO()
    with running(engine):
        call_command("why", "free_machine", '["m1", "A", 2]', stdout=out)
        with pytest.raises(CommandError, match=r"smartcis\.why\.not_there"):
            call_command("why", "free_machine", '["m9", "A", 2]')
    assert '! seat_reading: mid "m1", sid "m1.seat", weight_kg 0.0, at_s ' in out.getvalue()
    for view, row, word in (
        ("free_machine", "nonsense", "no JSON"),
        ("free_machine", "{}", "array"),
        ("free_machin", "[]", "free_machine"),
        ("free_machine", "[NaN, 1, 2]", "holds TEXT"),
    ):
        with pytest.raises(CommandError, match=word):
            call_command("why", view, row)
