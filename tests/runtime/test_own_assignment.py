"""System relations with several lanes: each tells of itself, and views over them tell of all."""

from __future__ import annotations

import pytest
from runtime.test_lanes import Client
from runtime.test_system import CATALOG, WATCHERS, entry
from views import small_world as world

from aspen.algebra.explain import plan_text
from aspen.errors import AspenError
from aspen.log.entry import (
    Change,
    Declare,
    OneTimeKind,
    OneTimeQuery,
    Register,
    Tick,
    Transaction,
    Unregister,
)
from aspen.model.delta import merge
from aspen.runtime.assignment import Split, assignment_in, assignment_out
from aspen.runtime.lane import Lane
from aspen.runtime.own_assignment import OWN_ROOT, explain_own, own_lane
from aspen.runtime.own_relations import SYSTEM_NAMES, SYSTEM_RELATIONS
from aspen.streamsql import compile_query, compile_views
from tests.experiments.lanes import Lanes

EVERY_ROW = {
    "e_queries": "SELECT * FROM sys.queries",
    "e_operators": "SELECT * FROM sys.operators",
    "e_arrangements": "SELECT * FROM sys.arrangements",
    "e_costs": "SELECT * FROM sys.costs",
}
BY_LANE = {
    "l_work": """SELECT o.lane, SUM(o.changes_out) AS n, COUNT(*) AS m
        FROM sys.operators o GROUP BY o.lane""",
    "l_costs": """SELECT c.view, c.rows, q.strategy, q.lane FROM sys.costs c
        JOIN sys.queries q ON q.view = c.view AND q.lane = c.lane""",
    "l_running": "SELECT q.view FROM sys.queries q WHERE q.state = 'running'",
    "l_pairs": "SELECT q.view, q.lane, p.v FROM sys.queries q JOIN pair p ON p.k = q.lane",
}
REFUSED = {
    "r_all": "SELECT COUNT(*) AS n FROM sys.operators",
    "r_kinds": WATCHERS["w_busy"],
}
CODE = "aspen.algebra.crosses_lanes"


class Noted(AspenError):
    """Something an operator wants to be known."""

    code = "aspen.test.noted"


def client_of(count, *views):
    """Begin with a few views, and watch them."""
    client = Client(Lanes(count))
    client.take(*(Declare(0.0, relation) for relation in world.BASE))
    registered = {e.view: e for e in world.registrations(plan_text)}
    client.take(*(registered[view] for view in views))
    client.take(*(entry(name, sql) for name, sql in {**EVERY_ROW, **BY_LANE}.items()))
    return client


def told(client):
    """Returns the rows of all lanes' system relations, as a client knows them."""
    return {name: client.rows[f"e_{name.removeprefix('sys_')}"] for name in SYSTEM_NAMES}


def said(client):
    """Returns the same rows as the lanes have them."""
    out = {name: {} for name in SYSTEM_NAMES}
    for number, lane in enumerate(client.lanes.lanes):
        for name in SYSTEM_NAMES:
            table = lane.circuit.sources[name].table
            assert {row[-1] for row in table} <= {number}, "a lane tells of itself"
            merge(out[name], table)
    return out


def insert(relation, *rows):
    return Transaction(1.0, tuple(Change(relation, 1, row) for row in rows))


def agrees(client):
    assert told(client) == said(client)
    for view, rows in client.rows.items():
        if not view.startswith("why:") and view != "engine_error":
            assert client.lanes.rows(view) == rows, view


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_view_over_the_engine_tells_of_every_lane(count):
    client = client_of(count, "both", "either", "reach", "joined", "grouped")
    client.take(insert("link", (1, 2, 1), (2, 3, 1)), insert("pair", (0, 7), (1, 8)))
    client.take(Tick(1.0))
    agrees(client)
    lanes = set(range(count))
    assert {row[-1] for row in told(client)["sys_operators"]} == lanes
    assert {row[0] for row in client.rows["l_work"]} == lanes
    assert {row[1:] for row in client.rows["l_pairs"] if row[0] == "reach"} == {
        (lane, 7 + lane) for lane in lanes if lane < 2
    }
    states = [row[1] for row in told(client)["sys_queries"] if row[0] == "either"]
    assert sorted(states) == ["elsewhere"] * (count - 1) + ["running"]
    assert client.rows["l_running"][("reach",)] == count, "every lane has a part of it"
    for at_s in (2.0, 3.0):
        client.take(Tick(at_s))
    assert client.take(Tick(4.0)) == [], "nothing happened, and nothing is said"


def test_what_needs_several_lanes_in_one_place_is_refused():
    client = client_of(2, "reach")
    client.take(*(entry(name, sql) for name, sql in REFUSED.items()))
    assert {view: error["code"] for view, error in client.errors.items()} == dict.fromkeys(
        REFUSED, CODE
    )
    assert "lane" in client.errors["r_all"]["try"]
    alone = client_of(1, "reach")
    alone.take(*(entry(name, sql) for name, sql in REFUSED.items()))
    assert alone.errors == {}
    assert alone.rows["r_all"] == {(len(alone.rows["e_operators"]),): 1}


(EVERY_QUERY,) = compile_views(
    {"e_queries": f"CREATE VIEW e_queries AS {EVERY_ROW['e_queries']}"}, CATALOG
)
WITH_VIEW = CATALOG.with_relation(EVERY_QUERY.relation)


def test_the_place_is_said_in_a_sentence():
    kept, refused = (
        compile_query(sql, CATALOG).plan for sql in (BY_LANE["l_work"], REFUSED["r_all"])
    )
    assert explain_own(kept, 2) == (
        "in each of 2 lanes for its own rows, because every lane tells of itself"
    )
    assert explain_own(refused, 2).startswith("in none of 2 lanes, because this needs")


def answer(client, name, sql):
    plan = plan_text(compile_query(sql, WITH_VIEW).plan)
    changes = client.take(OneTimeQuery(1.0, name, "", (), OneTimeKind.ONCE, plan_text=plan))
    (found,) = [change for change in changes if change.view == f"why:{name}"]
    return found


def test_a_query_asked_once_is_answered_by_every_lane():
    client = client_of(2, "reach", "joined")
    client.take(insert("link", (1, 2, 1)), Tick(1.0))
    found = answer(client, "a", "SELECT * FROM sys.operators")
    assert found.error is None
    assert found.delta == told(client)["sys_operators"]
    assert [name for name, _, _ in found.columns][-1] == "lane"
    assert answer(client, "b", REFUSED["r_all"]).error["code"] == CODE
    alike = answer(client, "c", "SELECT e.view, e.lane FROM e_queries e WHERE e.view = 'reach'")
    assert alike.delta == {("reach", 0): 1, ("reach", 1): 1}
    changes = client.take(Tick(40.0))
    assert {change.view for change in changes if change.closed} == {"why:a", "why:b", "why:c"}
    client.take(Tick(41.0))
    assert not any(lane.assignments.asked for lane in client.lanes.lanes)


def test_why_is_answered_by_the_lane_of_the_row():
    client = client_of(2, "joined")
    client.take(Tick(1.0))
    row = next(r for r in client.rows["e_queries"] if r[0] == "joined" and r[-1] == 1)
    (change,) = client.take(OneTimeQuery(1.0, "q", "e_queries", row))
    assert change.error is None
    assert change.delta
    assert own_lane(1, 2) == 1
    assert own_lane(7, 2) == own_lane(None, 2) == 0


def test_restarted_and_rescaled_lanes_go_on():
    client = client_of(1, "both", "reach", "joined")
    client.take(*(entry(name, sql) for name, sql in REFUSED.items()))
    at_s = 0.0
    for number, count in enumerate([2, 3, 2, 1, 1, 4]):
        client.lanes = client.lanes.rescaled(count, len(client.lanes.lanes) - 1)
        for _ in range(2):
            at_s += 1.0
            client.take(insert("link", (number, int(at_s), 1)), Tick(at_s))
            agrees(client)
            assert set(client.errors) == (set(REFUSED) if count > 1 else set())
        lanes = client.lanes.lanes
        lanes[-1] = Lane.restore(lanes[-1].snapshot(), lanes[-1].assignments.share)
        at_s += 1.0
        client.take(Tick(at_s))
        agrees(client)
    client.take(*(Unregister(at_s, name) for name in REFUSED))
    assert client.errors == {}


def test_a_lane_made_of_what_another_one_knew_tells_of_itself():
    client = client_of(2, "both", "reach", "joined")
    client.take(insert("link", (1, 2, 1)), Tick(1.0))
    first = client.lanes.lanes[0]
    made = Lane.restore(first.snapshot(), client.lanes.lanes[1].assignments.share)
    assert made.circuit.sources["sys_queries"].table
    for relation in SYSTEM_RELATIONS:
        assert {row[-1] for row in made.circuit.sources[relation.name].table} <= {1}
    again = Lane.restore(first.snapshot(), first.assignments.share)
    for relation in SYSTEM_RELATIONS:
        name = relation.name
        assert again.circuit.sources[name].table == first.circuit.sources[name].table


ERRORS = "Scan engine_error as e (e.position INT, e.code TEXT, e.message TEXT, e.lane INT)"


def test_lane_0_tells_what_all_refuse_and_each_lane_what_its_operators_say():
    client = client_of(2, "both")
    client.take(Register(0.0, "errors", ERRORS), insert("nothing", (1,)))
    ((row, weight),) = client.rows["errors"].items()
    assert (row[1], row[-1], weight) == ("aspen.runtime.refused_change", 0, 1)
    assert client.rows["engine_error"] == {row: 1}
    client.lanes.lanes[1].views.notices.append(Noted("too many nodes"))
    client.take(Tick(1.0))
    said = (client.position, Noted.code, "too many nodes", 1)
    assert client.rows["errors"] == client.rows["engine_error"] == {row: 1, said: 1}
    agrees(client)
    for source in (0, 1):  # operators are built anew, and say what they have to say again
        client.lanes = client.lanes.rescaled(3, source)
        client.take(Tick(2.0 + source))
        assert client.rows["errors"] == client.rows["engine_error"] == {row: 1}
        agrees(client)


def test_a_restarted_lane_keeps_its_errors():
    client = client_of(2, "both")
    client.take(Register(0.0, "errors", ERRORS), insert("nothing", (1,)))
    client.lanes.lanes[1].views.notices.append(Noted("too many nodes"))
    client.take(Tick(1.0))
    known = dict(client.rows["errors"])
    assert len(known) == 2
    lanes = client.lanes.lanes
    lanes[:] = [Lane.restore(lane.snapshot(), lane.assignments.share) for lane in lanes]
    client.take(insert("nothing", (2,)))
    assert len(client.rows["errors"]) == 3
    assert client.rows["errors"].keys() > known.keys()
    agrees(client)


def test_places_are_spelt_both_ways():
    client = client_of(2, "both")
    place = client.lanes.lanes[0].assignments.by_view["l_work"]
    assert isinstance(place, Split)
    assert place.root == OWN_ROOT
    assert assignment_in(assignment_out(place)) == place
