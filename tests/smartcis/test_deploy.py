"""Deploying standing queries: once, readers follow, submitted queries survive or say why."""

from __future__ import annotations

import pytest

from aspen.algebra.read import read_plan
from aspen.errors import AspenError
from aspen.streamsql.statement import read_statement
from smartcis.access.owner import Owner
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.actions.register_query import register_query
from smartcis.models import Destination, MaintainedView, OutboxEntry
from smartcis.queries import standing_queries

pytestmark = pytest.mark.django_db

TEXTS = {
    "rooms.streamsql": "-- Rooms.\nCREATE VIEW rooms AS SELECT r.rid, r.name FROM room r;",
    "named.streamsql": "CREATE VIEW named AS SELECT n.rid FROM rooms n WHERE n.name <> '';",
    "doors.streamsql": "CREATE VIEW doors AS SELECT d.door_id FROM door d;",
}
BROWSER = Owner(browser="b")


def told() -> list[str]:
    """Returns what the outbox has to say about views, and forget it."""
    words = []
    for entry in OutboxEntry.objects.order_by("id"):
        if "register" in entry.body:
            words.append(f"+{entry.body['register'][0]}")
        elif "unregister" in entry.body:
            words.append(f"-{entry.body['unregister']}")
    OutboxEntry.objects.all().delete()
    return words


def test_the_projects_own_queries_deploy_in_order_and_only_once():
    done = deploy_standing_queries()
    assert len(done.begun) == len(standing_queries()) + Destination.objects.count()
    words = told()
    for view in MaintainedView.objects.all():
        assert read_plan(view.plan_text)
        later = {f"+{name}" for name in view.sources} & set(words[words.index(f"+{view.name}") :])
        assert not later, f"{view.name} is registered before what it reads"
    again = deploy_standing_queries()
    assert (again.begun, again.ended, told()) == ((), (), [])


def test_a_changed_view_takes_its_readers_along():
    deploy_standing_queries(TEXTS)
    assert told() == ["+rooms", "+named", "+doors"]
    changed = TEXTS | {
        "rooms.streamsql": "CREATE VIEW rooms AS SELECT r.rid, r.level_id AS name FROM room r;"
    }
    done = deploy_standing_queries(changed)
    assert told() == ["-named", "-rooms", "+rooms", "+named"]
    assert done.kept == ("doors",)


def test_a_comment_is_no_change():
    deploy_standing_queries(TEXTS)
    told()
    deploy_standing_queries(TEXTS | {"doors.streamsql": "-- Doors!\n" + TEXTS["doors.streamsql"]})
    assert told() == []
    assert MaintainedView.objects.get(name="doors").comment == "Doors!"


def test_peoples_queries_over_a_changed_view_are_compiled_anew():
    deploy_standing_queries(TEXTS)
    query = register_query(read_statement("SELECT x.name FROM rooms x"), BROWSER)
    view = query.view.name
    told()
    other = TEXTS | {
        "rooms.streamsql": "CREATE VIEW rooms AS SELECT r.rid, r.category AS name FROM room r;"
    }
    deploy_standing_queries(other)
    assert told() == [f"-{view}", "-named", "-rooms", "+rooms", "+named", f"+{view}"]


def test_peoples_queries_over_a_vanished_view_say_why():
    deploy_standing_queries(TEXTS)
    query = register_query(read_statement("SELECT x.name FROM rooms x"), BROWSER)
    told()
    done = deploy_standing_queries({"doors.streamsql": TEXTS["doors.streamsql"]})
    assert done.failed == (query.view.name,)
    query.view.refresh_from_db()
    assert query.view.error["code"] == "aspen.bind.unknown_relation"
    assert told() == [f"-{query.view.name}", "-named", "-rooms"]
    back = deploy_standing_queries(TEXTS)
    assert set(back.begun) == {"rooms", "named"}
    assert f"+{query.view.name}" in told()


def test_a_text_that_does_not_compile_changes_nothing():
    deploy_standing_queries(TEXTS)
    told()
    with pytest.raises(AspenError):
        deploy_standing_queries(TEXTS | {"bad.streamsql": "CREATE VIEW bad AS SELECT 1 FROM no"})
    assert told() == []
    assert set(MaintainedView.objects.values_list("name", flat=True)) == {
        *("rooms", "named", "doors"),
    }
