"""Where a query runs is told to everybody; staff may move it."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.test import Client
from placements.rig import WARM_AND_LIT, Running, lamps, put

from aspen.streamsql.statement import read_statement
from smartcis.access.owner import SYSTEM
from smartcis.actions.issue_token import issue_token
from smartcis.actions.reconsider_placements import reconsider_placements
from smartcis.actions.register_query import register_query
from smartcis.actions.turn_lights import turn_lights
from smartcis.models import Placement, Sensor

pytestmark = pytest.mark.django_db


@pytest.fixture
def query(house, building):
    lamps()
    put("light", "A", 400.0)
    put("temperature", "A", 25.0)
    return register_query(read_statement(WARM_AND_LIT), SYSTEM)


class Caller:
    def __init__(self, query, **headers):
        self.client = Client(headers=headers)
        self.path = f"/api/v1/queries/{query.pk}/"

    def get(self, path="placement/"):
        return self.client.get(f"{self.path}{path}")

    def move(self, where):
        body = json.dumps({"where": where})
        return self.client.patch(f"{self.path}placement/", body, content_type="application/json")


@pytest.fixture
def visitor(query):
    return Caller(query)


@pytest.fixture
def staff(query):
    gate = User.objects.create_user("gate", is_staff=True)
    _, token = issue_token("t", scope="account", user=gate)
    return Caller(query, authorization=f"Token {token}")


def test_staff_moves_a_query_and_everybody_sees_where_it_is(query, visitor, staff):
    running = Running()
    follower = running.look_at(query.view.name)
    body = visitor.get().json()
    assert (body["where"], body["moving"], body["pieces"]) == ("engine", False, [])
    assert visitor.move("network").status_code == 403
    moved = staff.move("network").json()
    assert moved["moving"]
    assert moved["forced"]
    assert moved["why"] == "gate chose it"
    assert {one["where"].split()[0] for one in moved["weighed"]} == {"network", "engine"}
    running.until(lambda: not Placement.objects.get().moving, beat_s=1.0)
    running.run(40, beat_s=1.0)
    body = visitor.get().json()
    assert (body["where"], body["moving"]) == ("network", False)
    assert visitor.get("").json()["where"] == "network"
    assert sum(piece["rows"] for piece in body["pieces"]) >= 1
    assert all(piece["live"] and not piece["silent"] for piece in body["pieces"])
    follower.listen()
    assert dict(follower.rows) == {("A", 400.0, 25.0): 1}
    assert reconsider_placements() == 0  # whoever chose it knows why
    staff.move("engine")
    running.until(lambda: not Placement.objects.get().moving, beat_s=1.0)
    assert visitor.get().json()["where"] == "engine"
    follower.listen()
    assert dict(follower.rows) == {("A", 400.0, 25.0): 1}


@pytest.mark.parametrize("method", ["pairwise", "semi", "bloom", "base"])
def test_every_way_of_joining_can_be_chosen(query, staff, method):
    assert staff.move(method).status_code == 200
    assert {piece["method"] for piece in staff.get().json()["pieces"]} >= {method}


def test_what_cannot_run_inside_is_refused_with_what_can(house, building):
    query = register_query(read_statement("SELECT d.door_id FROM door d"), SYSTEM)
    gate = User.objects.create_user("gate", is_staff=True)
    _, token = issue_token("t", scope="account", user=gate)
    answer = Caller(query, authorization=f"Token {token}").move("network")
    assert answer.status_code == 400
    body = answer.json()
    assert body["code"] == "smartcis.actions.invalid"
    assert body["exists"] == ["engine", "auto"]


def test_left_to_the_optimizer_it_stays_while_waiting_counts(query, staff, settings):
    settings.PLACEMENT_WEIGHTS = "latency=1"
    assert reconsider_placements() == 0
    assert staff.move("auto").json()["where"] == "engine"
    settings.PLACEMENT_WEIGHTS = "latency=0,bytes=1"
    assert staff.move("auto").json()["moving"]


def test_streams_that_others_ask_for_are_free_where_costs_are_shared(query, settings):
    settings.PLACEMENT_WEIGHTS = "latency=0,bytes=1"
    settings.PLACEMENT = "together"
    for stream in ("light_reading", "temperature_reading"):
        register_query(
            read_statement(f"SELECT s.at_s FROM {stream} [PARTITION BY sid ROWS 1] s"), SYSTEM
        )
    reconsider_placements()
    assert not Placement.objects.get(view=query.view).moving
    settings.PLACEMENT = "off"
    assert reconsider_placements() == 0


def test_a_share_of_the_lights_is_turned(query):
    assert turn_lights(800.0, SYSTEM, share=2 / 3) == 2
    seen = [one.parameters["value"] for one in Sensor.objects.filter(kind="light").order_by("sid")]
    assert seen.count(800.0) == 2
