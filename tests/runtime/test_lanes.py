"""Several lanes are one: whatever is split, restarted or rescaled, the fold is the oracle's."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from views import small_world as world

from aspen.algebra.explain import plan_text
from aspen.log.entry import (
    Change,
    Declare,
    Interest,
    OneTimeKind,
    OneTimeQuery,
    Register,
    Tick,
    Transaction,
    Uninterest,
    Unregister,
)
from aspen.model.catalog import Catalog
from aspen.model.delta import merge
from aspen.model.schema import Column, Relation, Type
from aspen.runtime.assignment import Split, Whole
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query, compile_views
from smartcis.catalog import CATALOG
from smartcis.queries import standing_queries
from standing.world import World
from tests.experiments.lanes import Lanes

slow = settings(
    max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True
)


class Client:
    """Feeds lanes, and folds what they say as a client does."""

    def __init__(self, lanes):
        self.lanes = lanes
        self.position = 0
        self.rows = {}
        self.errors = {}

    def take(self, *entries):
        first = self.position + 1
        self.position += len(entries)
        changes = self.lanes.apply(list(enumerate(entries, start=first)))
        heard = [change.view for change in changes if not change.closed]
        assert len(heard) == len(set(heard)), "a view is told of once in an epoch"
        for change in changes:
            if change.closed:
                self.rows.pop(change.view, None)
                self.errors.pop(change.view, None)
                continue
            if change.columns:
                self.errors.pop(change.view, None)
            if change.error is not None:
                self.errors[change.view] = change.error
            merge(self.rows.setdefault(change.view, {}), change.delta)
            assert all(weight > 0 for weight in self.rows[change.view].values()), change.view
        return changes


def begun(count):
    client = Client(Lanes(count))
    client.take(*world.declarations())
    client.take(*world.registrations(plan_text))
    return client


@slow
@given(world.histories, st.integers(2, 4), st.data())
def test_oracle_lanes_equal_from_scratch_through_restarts_and_rescaling(history, count, data):
    client, model = begun(count), world.Model()
    for epoch in history:
        client.take(*(entry for operation in epoch for entry in model.entries(operation)))
        for view, rows in model.answers().items():
            assert client.lanes.rows(view) == rows, view
            assert client.rows[view] == rows, view
        lanes = client.lanes.lanes
        match data.draw(st.sampled_from(["", "", "restart", "rescale"])):
            case "restart":
                one = data.draw(st.integers(0, len(lanes) - 1))
                lanes[one] = Lane.restore(lanes[one].snapshot(), lanes[one].assignments.share)
            case "rescale":
                source = data.draw(st.integers(0, len(lanes) - 1))
                client.lanes = client.lanes.rescaled(data.draw(st.integers(1, 4)), source)


def test_lanes_agree_on_places_and_build_only_what_is_theirs():
    client = begun(3)
    places = [lane.assignments.by_view for lane in client.lanes.lanes]
    assert places[0] == places[1] == places[2]
    assert {v for v, p in places[0].items() if isinstance(p, Split)} >= {"reach", "way", "region"}
    whole = {v: p.lane for v, p in places[0].items() if isinstance(p, Whole)}
    assert len(set(whole.values())) == 3, "all lanes have something to do"
    for lane in client.lanes.lanes:
        for view, number in whole.items():
            assert (lane.views.by_name[view].node is not None) == (
                number == lane.assignments.share.number
            )


def test_a_fold_of_the_log_by_any_lane_serves_any_number():
    client, model = begun(3), world.Model()
    for operation in [("ins", "pair", (1, 2)), ("read", "reading", (1, 2)), ("tick", "", 3)]:
        client.take(*model.entries(operation))
    for source in range(3):
        for count in (1, 2, 4):
            lanes = client.lanes.rescaled(count, source)
            for view, rows in model.answers().items():
                assert lanes.rows(view) == rows, (source, count, view)


QUERY = "SELECT l.dst FROM link l WHERE l.src = {}"


def test_tenants_are_spread_by_what_they_ask_for():
    client = Client(Lanes(2))
    client.take(*(Declare(0.0, relation) for relation in world.BASE))
    for number in range(12):
        plan = compile_query(QUERY.format(number % 6), world.CATALOG).plan
        client.take(Register(0.0, f"q{number}", plan_text(plan), "auto", "auto"))
    client.take(Transaction(1.0, tuple(Change("link", 1, (n, n + 10, 1)) for n in range(6))))
    places = [client.lanes.lanes[0].assignments.of(f"q{number}").lane for number in range(12)]
    assert places[:6] == places[6:]
    assert set(places) == {0, 1}
    for number in range(12):
        assert client.rows[f"q{number}"] == {(number % 6 + 10,): 1}
    for lane in client.lanes.lanes:
        (template,) = {v.template for v in lane.views.by_name.values() if v.template is not None}
        assert len(template.guests) == len(
            {n % 6 for n in range(12) if places[n] == lane.assignments.share.number}
        )


def test_views_on_demand_wake_and_rest_where_they_are_placed():
    client = Client(Lanes(2))
    client.take(*(Declare(0.0, relation) for relation in world.BASE))
    for view in ("reach", "picked"):
        text = plan_text(world.VIEWS[view].plan)
        client.take(Register(0.0, view, text, "auto", "trunk", on_demand=True))
    client.take(
        Transaction(1.0, (Change("link", 1, (1, 2, 1)), Change("item", 1, (1, None, 2, None))))
    )
    assert client.rows == {}
    client.take(Interest(1.0, "reach", "a", 60.0), Interest(1.0, "picked", "a", 60.0))
    assert client.rows == {"reach": {(1, 2): 1}, "picked": {(1, 3): 1}}
    client.take(Uninterest(2.0, "reach", "a"))
    client.take(Tick(100.0))
    assert client.rows == {}
    client.take(Unregister(101.0, "reach"), Unregister(101.0, "picked"))
    assert all(not lane.assignments.by_view for lane in client.lanes.lanes)


def test_a_view_registered_anew_under_its_name_moves_without_a_trace():
    client = Client(Lanes(3))
    client.take(*(Declare(0.0, relation) for relation in world.BASE))
    client.take(Transaction(1.0, (Change("link", 1, (1, 2, 3)), Change("pair", 1, (1, 2)))))
    for text, rows in [
        ("SELECT src, dst FROM link", {(1, 2): 1}),
        (world.QUERIES["reach"], {(1, 2): 1}),
        ("SELECT v AS src, k AS dst FROM pair", {(2, 1): 1}),
        (world.QUERIES["reach"], {(1, 2): 1}),
    ]:
        plan = compile_query(text, world.CATALOG).plan
        client.take(Register(1.0, "v", plan_text(plan)))
        assert client.rows == {"v": rows}
    client.take(Unregister(1.0, "v"), Register(1.0, "v", plan_text(plan)))
    assert client.rows == {"v": {(1, 2): 1}}


def standing_client(count, building):
    client = Client(Lanes(count))
    declares = [Declare(building.at_s, relation) for relation in CATALOG]
    registers = [
        Register(building.at_s, view.name, plan_text(view.plan), "auto", "auto")
        for view in compile_views(standing_queries(), CATALOG)
    ]
    client.take(*declares, building.build(), *registers)
    return client


deeds = st.lists(
    st.tuples(
        st.sampled_from(
            ["seat", "cpu", "light", "temperature", "door", "software", "ask", "leave"]
        ),
        st.integers(0, 11),
        st.integers(0, 11),
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(deeds, min_size=1, max_size=3))
def test_differential_the_standing_views_in_two_lanes_equal_those_in_one(epochs):
    first, second = World(1), World(1)
    one, two = standing_client(1, first), standing_client(2, second)
    split = {v for v, p in two.lanes.lanes[0].assignments.by_view.items() if isinstance(p, Split)}
    assert {"walking_cost", "nearest_destination", "route_step"} <= split
    opening = [
        ("seat", 0, 0),
        ("cpu", 0, 0),
        ("seat", 1, 0),
        ("cpu", 1, 0),
        ("ask", 0, 0),
        ("ask", 1, 5),
    ]
    for epoch in [opening, *epochs]:
        for client, building in ((one, first), (two, second)):
            for deed in epoch:
                building.act(*deed)
            client.take(building.commit(), building.tick(1))
        assert two.rows == one.rows


DEMAND = Relation("demand", (Column("who", Type.TEXT), Column("node", Type.INT)), key=("who",))
NEAREST = """WITH RECURSIVE walk(origin, node, cost) AS (
    SELECT d.node, d.node, 0 FROM demand d
  UNION
    SELECT w.origin, l.dst, MIN(w.cost + l.cost) FROM walk w JOIN link l ON l.src = w.node
    GROUP BY w.origin, l.dst
) SELECT d.who, COUNT(*) AS n, MAX(w.cost) AS far
  FROM demand d JOIN walk w ON w.origin = d.node GROUP BY d.who"""


def demanding(count):
    client = Client(Lanes(count))
    client.take(*(Declare(0.0, relation) for relation in (*world.BASE, DEMAND)))
    plan = compile_query(NEAREST, Catalog.of((*world.BASE, DEMAND))).plan
    client.take(Register(0.0, "nearest", plan_text(plan)))
    client.take(Transaction(1.0, tuple(Change("link", 1, (n, n + 1, 2)) for n in range(6))))
    return client


def demand(*changes):
    return Transaction(1.0, tuple(Change("demand", weight, row) for weight, row in changes))


def test_a_key_that_is_broken_makes_the_views_that_rest_on_it_whole():
    one, two = demanding(1), demanding(4)
    place = two.lanes.lanes[0].assignments.of("nearest")
    assert (str(place.root), place.root.key) == ("demand.node", "who")
    for entry in [
        demand((1, ("ann", 1)), (1, ("bob", 2))),
        demand((-1, ("ann", 1)), (1, ("ann", 3))),
        demand((1, ("bob", 5))),  # twice there
        demand((1, ("cyd", 5))),
        demand((-1, ("bob", 2))),
    ]:
        one.take(entry)
        two.take(entry)
        assert two.rows == one.rows
    assert isinstance(two.lanes.lanes[0].assignments.of("nearest"), Whole)
    again = Lanes(4)
    changes = {}
    entries = [
        *(Declare(0.0, relation) for relation in (*world.BASE, DEMAND)),
        Register(0.0, "nearest", two.lanes.lanes[0].views.by_name["nearest"].entry.plan_text),
        demand((1, ("ann", 1)), (1, ("bob", 2))),
        demand((1, ("bob", 5))),
        demand((-1, ("bob", 5))),
    ]
    for change in again.apply(list(enumerate(entries, start=1))):
        merge(changes.setdefault(change.view, {}), change.delta)
    assert isinstance(again.lanes[2].assignments.of("nearest"), Whole), "however the log is cut"
    single = Client(Lanes(1))
    single.take(*entries)
    assert changes == single.rows


@pytest.mark.parametrize(
    "question",
    [
        OneTimeQuery(1.0, "q", "reach", (0, 3)),
        OneTimeQuery(1.0, "q", "reach", (3, 0)),
        OneTimeQuery(1.0, "q", "picked", (1, 3)),
        OneTimeQuery(1.0, "q", "nowhere", (1, 3)),
        OneTimeQuery(1.0, "q", "reach", (3, 0), OneTimeKind.WHY_NOT),
        OneTimeQuery(
            1.0, "q", "reach", (), OneTimeKind.WHAT_IF, changes=(Change("link", -1, (1, 2, 1)),)
        ),
        OneTimeQuery(1.0, "q", "reach", (), OneTimeKind.WEAK_POINTS),
    ],
    ids=lambda ask: f"{ask.kind.value}-{ask.view}-{ask.row}",
)
@pytest.mark.parametrize("count", [2, 3])
def test_a_question_is_answered_once_as_one_lane_would(question, count):
    answers = []
    for lanes in (1, count):
        client = begun(lanes)
        client.take(
            Transaction(1.0, tuple(Change("link", 1, (n, n + 1, 1)) for n in range(3))),
            Transaction(1.0, (Change("item", 1, (1, None, 2, None)),)),
        )
        before = {view: dict(rows) for view, rows in client.rows.items()}
        client.take(question)
        answers.append((client.rows.pop("why:q", None), client.errors.get("why:q")))
        assert client.rows == before
        if lanes == 1:
            continue
        lane = client.lanes.lanes[0]
        client.lanes.lanes[0] = Lane.restore(lane.snapshot(), lane.assignments.share)
        client.rows["why:q"] = {}
        client.take(Tick(40.0))
        assert "why:q" not in client.rows, "and passes"
        client.take(Transaction(41.0, (Change("link", 1, (4, 4, 1)),)))
        assert client.rows["reach"][4, 4] == 1
    assert answers[0] == answers[1]
    assert answers[0] != (None, None)
