"""Why not, what if and weak points, over HTTP and from the shell."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from api.test_api import Caller, refused, relay
from api.test_why import now_s, rows_of, running, visitor, walk  # noqa: F401 - fixtures
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from aspen.log.entry import Tick
from smartcis import composition
from smartcis.ingest.readings import append_readings
from smartcis.models import Door

pytestmark = pytest.mark.django_db


def of_staff() -> Caller:
    caller = Caller()
    caller.client.force_login(User.objects.create_user("gate", is_staff=True))
    return caller


def locked() -> str:
    return f"UPDATE door SET state = 'locked' WHERE door_id = '{Door.objects.get().door_id}'"


def test_a_taken_seat_is_what_keeps_a_machine_from_being_free(visitor, engine, now_s):  # noqa: F811
    reading = {"sid": "m1.seat", "value": 70, "unit": "kg", "at_s": now_s}
    append_readings(composition.log(), [reading])
    engine()
    with running(engine):
        question = {"view": "free_machine", "row": {"mid": "m1"}}
        body = visitor("POST", "queries/why-not/", question).json()
    (repair,) = body["repairs"]
    (edit,) = repair["edits"]
    assert (edit["action"], edit["relation"], edit["before"]) == ("insert", "seat_reading", None)
    assert edit["after"]["mid"] == "m1"
    assert edit["after"]["weight_kg"] == {"open": "weight_kg"}
    assert edit["example"]["weight_kg"] < 5.0
    assert repair["conditions"] == ["weight_kg < 5.0"]
    # It is so: the example makes the machine free.
    append_readings(composition.log(), [{**reading, "value": edit["example"]["weight_kg"]}])
    engine()
    assert ("m1", "A", 2) in rows_of("free_machine")


def test_a_locked_door_is_what_keeps_a_visitor_from_the_near_machine(visitor, engine, now_s):  # noqa: F811
    session = walk(visitor)
    Door.objects.update(state="locked")
    relay()
    engine()
    with running(engine):
        question = {"view": "walking_cost", "row": {"origin": 1, "node": 2}}
        refused(visitor("POST", "queries/why-not/", question), 403, "smartcis.live.forbidden")
        body = of_staff()("POST", "queries/why-not/", question).json()
        own = {"view": "nearest_destination", "row": {"session": session, "mid": "m1"}}
        mine = visitor("POST", "queries/why-not/", own)
        refused(Caller()("POST", "queries/why-not/", own), 404, "smartcis.why.not_there")
    (edit,) = body["repairs"][0]["edits"]
    assert (edit["action"], edit["relation"]) == ("change", "door")
    assert (edit["before"]["state"], edit["after"]["state"]) == ("locked", "open")
    assert edit["before"]["door_id"] == Door.objects.get().door_id
    assert mine.status_code == 200, mine.content


def test_what_would_happen_if_the_door_closed_and_nothing_does(visitor, engine, now_s):  # noqa: F811
    session = walk(visitor)
    relay()
    engine()
    before = rows_of("nearest_destination")
    question = {"view": "nearest_destination", "row": {"session": session}, "updates": locked()}
    with running(engine):
        body = visitor("POST", "queries/what-if/", question).json()
        refused(Caller()("POST", "queries/what-if/", question), 404, "smartcis.why.not_there")
        others = {**question, "row": {}}
        assert Caller()("POST", "queries/what-if/", others).json()["gone"] == []
    assert [row["mid"] for row in body["gone"]] == ["m1"]
    assert [(row["mid"], row["cost_mm"]) for row in body["come"]] == [("m2", 9_000)]
    assert rows_of("nearest_destination") == before
    # It would: the answer is the change that follows when the door is locked.
    Door.objects.update(state="locked")
    relay()
    engine()
    assert [list(row) for row in rows_of("nearest_destination")] == [list(body["come"][0].values())]


def test_the_door_that_most_walks_hang_on(visitor, engine, now_s):  # noqa: F811
    walk(visitor)
    relay()
    engine()
    with running(engine):
        question = {"view": "walking_cost", "by": ["node"]}
        refused(visitor("POST", "queries/weak-points/", question), 403, "smartcis.live.forbidden")
        body = of_staff()("POST", "queries/weak-points/", question).json()
    assert (body["total"], body["complete"]) == (3, True)
    request, door = body["points"]
    assert (request["relation"], request["lost"], request["hidden"]) == ("route_request", 3, False)
    assert (door["relation"], door["lost"]) == ("door", 1)


@pytest.mark.parametrize(
    ("supposed", "gone", "come"),
    [
        ("INSERT INTO door VALUES ('X', lower('OPEN'), 1.0, 1.0, lower('L0'), 5)", 0, 1),
        (
            """INSERT INTO door (x_m, since_s, y_m, state, level_id, door_id)
            VALUES (1, 5, -1, '', 'L0', 'X')""",
            0,
            1,
        ),
        (
            "INSERT INTO door VALUES ('X', 'open', 1, 1, 'L0', 5), ('Y', NULL, 1, 1, 'L0', 5)",
            None,
            None,
        ),
        ("UPDATE door SET state = upper(state) || '!'", 1, 1),
        ("DELETE FROM door WHERE door_id IN (SELECT door_id FROM door WHERE x_m < 9)", 1, 0),
    ],
)
def test_a_hypothetical_update_is_read_like_one_that_is_made(
    visitor,  # noqa: F811
    engine,
    supposed,
    gone,
    come,
):
    relay()
    engine()
    with running(engine):
        asked = visitor("POST", "queries/what-if/", {"view": "door_state", "updates": supposed})
    if gone is None:
        refused(asked, 400, "aspen.model.schema")
    else:
        assert asked.status_code == 200, asked.content
        assert (len(asked.json()["gone"]), len(asked.json()["come"])) == (gone, come)


def test_questions_that_cannot_be_answered(visitor, engine, now_s):  # noqa: F811
    head = composition.log().head()
    view = {"view": "free_machine"}
    for path, question, status, code in (
        ("why-not", {**view, "row": {"mud": "m1"}}, 400, "aspen.model.schema"),
        ("why-not", {**view, "row": {"mid": 7}}, 400, "aspen.model.schema"),
        ("why-not", view, 400, "smartcis.api.invalid"),
        ("why-not", {"view": "nearest_destination", "row": {}}, 404, "smartcis.why.not_there"),
        ("what-if", view, 400, "smartcis.api.invalid"),
        ("what-if", {**view, "updates": "DROP door"}, 400, "smartcis.hypothetical.cannot_read"),
        ("what-if", {**view, "updates": "DELETE FROM"}, 400, "smartcis.hypothetical.cannot_read"),
        ("what-if", {**view, "updates": "DELETE FROM dor"}, 404, "smartcis.actions.not_found"),
        (
            "what-if",
            {**view, "updates": "DELETE FROM door WHERE state = 'ajar'"},
            400,
            "smartcis.hypothetical.cannot_read",
        ),
        (
            "what-if",
            {**view, "updates": "DELETE FROM door WHERE stat = 'open'"},
            400,
            "aspen.bind.unknown_column",
        ),
        (
            "what-if",
            {**view, "updates": "DELETE FROM seat_reading"},
            400,
            "smartcis.hypothetical.cannot_read",
        ),
        ("weak-points", {**view, "by": ["mud"]}, 400, "aspen.model.schema"),
    ):
        refused(visitor("POST", f"queries/{path}/", question), status, code)
    assert composition.log().head() == head, "none of these reached the log"
    with running(engine):
        there = {**view, "row": {"mid": "m1"}}
        refused(visitor("POST", "queries/why-not/", there), 409, "aspen.runtime.row_is_there")


def test_the_command_answers_all_kinds(visitor, engine, now_s):  # noqa: F811
    session = walk(visitor)
    relay()
    engine()

    def said(*words: str) -> str:
        out = StringIO()
        with running(engine):
            call_command("why", *words, stdout=out)
        return out.getvalue()

    ours = json.dumps({"session": session})
    told = said("nearest_destination", ours, "--if", locked())
    assert "would lose 1, gain 1" in told
    assert '+ session "' in told
    assert "would stay as it is" in said("open_room", "--if", locked())
    reading = f"INSERT INTO seat_reading VALUES ('m1', 'm1.seat', 70.0, {now_s})"
    assert '- mid "m1", rid "A", node 2' in said("free_machine", "--if", reading)
    assert said("walking_cost", "--weak", "--by", "node").splitlines()[0].startswith("of 3 rows")
    missing = said("free_machine", "--not", '{"mid": "m9"}')
    assert "+ machine: " in missing
    composition.log().append([Tick(now_s + 200)])
    engine()
    assert "where weight_kg < 5.0" in said("free_machine", "--not", '{"mid": "m1"}')
    for words in (("free_machine", "--not", "[]"), ("free_machine",), ("nobody", "--weak")):
        with pytest.raises(CommandError):
            call_command("why", *words)
