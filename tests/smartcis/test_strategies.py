"""Strategies in the product: asked for by name or chosen by cost, and told why."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from aspen.streamsql.statement import read_statement
from smartcis.access.owner import SYSTEM
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.actions.explain_query import explain_query
from smartcis.models import MaintainedView, OutboxEntry

pytestmark = pytest.mark.django_db

WALKS = """WITH RECURSIVE walk(src, dst) AS (
    SELECT e.src, e.dst FROM routing_edge e
  UNION SELECT w.src, e.dst FROM walk w JOIN routing_edge e ON e.src = w.dst
) SELECT src, dst FROM walk"""


def submit(**body):
    answer = Client().post("/api/v1/queries/", json.dumps(body), content_type="application/json")
    return answer.status_code, answer.json()


def registered() -> list[tuple[str, str]]:
    """Returns name and strategy of what the log will be told to register."""
    bodies = [entry.body for entry in OutboxEntry.objects.order_by("id")]
    found = [body["register"] for body in bodies if "register" in body]
    return [(name, strategy) for name, _, strategy, *_ in found]


def test_a_query_is_maintained_as_asked_or_as_costs_least(house, building) -> None:
    status, chosen = submit(sql=WALKS)
    assert status == 201
    assert (
        chosen["strategy"] in chosen["strategy_reason"]
        or "derivations" in (chosen["strategy_reason"])
    )
    status, asked = submit(sql=WALKS, strategy="absorption-eager( size=50 , interval = 4)")
    assert status == 201
    assert asked["strategy"] == "absorption-eager(size=50,interval=4)"
    assert asked["strategy_reason"] == "it was asked for"
    assert asked["view"] != chosen["view"]
    again = submit(sql=WALKS, strategy="absorption-eager(interval=4,size=50)")[1]
    assert again["view"] == asked["view"]
    assert submit(sql=WALKS, strategy="auto")[1]["view"] == chosen["view"]
    assert registered() == [
        (chosen["view"], chosen["strategy"]),
        (asked["view"], asked["strategy"]),
    ]
    listed = Client().get("/api/v1/queries/").json()["results"]
    assert {one["strategy"] for one in listed} == {chosen["strategy"], asked["strategy"]}


@pytest.mark.parametrize("strategy", ["magic", "", "dred(size=3)", "absorption-lazy(nodes=0)"])
def test_an_unknown_strategy_is_refused_where_it_is_submitted(strategy, house, building) -> None:
    status, body = submit(sql=WALKS, strategy=strategy)
    assert status == 400
    assert not MaintainedView.objects.exists()
    if strategy:
        assert body["code"] == "aspen.views.unknown_strategy"
        assert body["exists"] or strategy.startswith("dred")


def test_standing_queries_are_deployed_under_a_strategy(house) -> None:
    deploy_standing_queries()
    assert deploy_standing_queries(strategy="auto").begun == ()
    done = deploy_standing_queries(strategy="relative")
    assert set(MaintainedView.objects.values_list("strategy", flat=True)) == {"relative"}
    assert deploy_standing_queries().begun == (), "left alone where nobody asks"
    assert deploy_standing_queries(strategy="relative").begun == ()
    assert deploy_standing_queries(strategy="auto").begun == done.begun
    with pytest.raises(CommandError, match="no strategy magic"):
        call_command("deploy_queries", strategy="magic")


def test_explain_says_how_and_why(house) -> None:
    deploy_standing_queries()
    text = explain_query(read_statement(WALKS), SYSTEM).text
    (line,) = [line for line in text.splitlines() if line.startswith("maintained by ")]
    strategy = line.removeprefix("maintained by ").split(",")[0].split(";")[0]
    assert ", because " in line
    assert f"strategy {strategy}," in text
    flat = explain_query(read_statement("SELECT d.state FROM door d"), SYSTEM).text
    assert "because nothing is recursive" in flat
