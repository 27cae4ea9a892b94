"""Ways out over REST: exits, rooms cut off by a locked door, what hangs on doors and stairs."""

from __future__ import annotations

import pytest
from api.test_api import relay
from api.test_why import now_s, running, visitor  # noqa: F401 - fixtures

from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.models import Door, RoutingEdge, RoutingNode

pytestmark = pytest.mark.django_db


@pytest.fixture
def ways_out(house, building, engine):
    """The small house with an exit in the hall, and its views."""
    assert building
    RoutingNode.objects.create(
        node=9, level_id="L0", unit_id="hall", kind="entrance", name="Main", x_m=0.0, y_m=5.0
    )
    for one, other in ((1, 9), (9, 1)):
        RoutingEdge.objects.create(src_id=one, dst_id=other, length_mm=5_000, way="entrance")
    deploy_standing_queries()
    relay()
    engine()


def test_a_locked_door_cuts_its_room_off_and_is_told_before(visitor, engine, ways_out):  # noqa: F811
    def rows(view: str) -> set:
        with running(engine):
            return {tuple(row) for row in visitor("GET", f"queries/{view}/rows/").json()["rows"]}

    assert {row for row in rows("room_exit") if row[1:3] == (False, False)} == {
        ("hall", False, False, 1, 9, 5_000),
        ("A", False, False, 2, 9, 9_000),
        ("B", False, False, 3, 9, 14_000),
    }
    question = {"view": "leavable_room", "row": {"step_free": False, "lifts": False}}
    with running(engine):
        asked = {**question, "among": ["door", "riser_step"]}
        body = visitor("POST", "queries/weak-points/", asked).json()
    assert [(one["relation"], one["row"]["door_id"], one["lost"]) for one in body["points"]] == [
        ("door", "A.d1", 1)
    ]
    RoutingEdge.objects.filter(src_id=3, dst_id=1).update(way="stairs")
    relay()
    engine()
    with running(engine):
        points = visitor("POST", "queries/weak-points/", asked).json()["points"]
        stairs = visitor("POST", "queries/weak-points/", {**asked, "among": ["riser_step"]})
    assert {one["relation"] for one in points} == {"door", "riser_step"}
    (one,) = stairs.json()["points"]
    assert (one["row"], one["lost"]) == ({"src": 3, "dst": 1, "way": "stairs"}, 1)
    Door.objects.update(state="locked")
    relay()
    engine()
    assert rows("cut_off_room") == {
        ("A", step_free, lifts, True)
        for step_free, lifts in ((False, False), (True, False), (True, True))
    }


def test_a_plan_has_exits_and_risers(visitor, ways_out):  # noqa: F811
    plan = visitor("GET", "levels/L0/plan/").json()
    assert plan["exits"] == [{"node": 9, "rid": "hall", "name": "Main", "x_m": 0.0, "y_m": 5.0}]
    assert plan["risers"] == []
    RoutingEdge.objects.filter(src_id=1, dst_id=3).update(way="stairs")
    plan = visitor("GET", "levels/L0/plan/").json()
    assert plan["risers"] == [
        {"src": 1, "dst": 3, "way": "stairs", "rid": "hall", "to_level": "L0"}
    ]
