"""Recursions by sub-network: the rows are the oracle's, whatever lanes, restarts and supersteps."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
    Unregister,
)
from aspen.model.catalog import Catalog
from aspen.model.delta import accumulate, merge
from aspen.model.schema import Column, Relation, Type
from aspen.runtime.assignment import Bordered, Whole
from aspen.runtime.lane import Lane
from aspen.runtime.outcome import merge_parts
from aspen.streamsql import compile_query
from tests.experiments.border_meter import metered
from tests.experiments.lanes import Lanes
from tests.oracle import evaluate

INT = Type.INT
EDGE = Relation("edge", (Column("src", INT), Column("dst", INT), Column("len", INT)))
START = Relation("start", (Column("node", INT),))
FLOOR = Relation(
    "floor",
    (Column("node", INT), Column("level", INT, nullable=True)),
    key=("node",),
    network="level",
)
RELATIONS = (EDGE, START, FLOOR)
CATALOG = Catalog.of(RELATIONS)

# One origin for all: nothing but where a row is could part it.
FAR = """WITH RECURSIVE far(node, cost) AS (
    SELECT s.node, 0 FROM start s
  UNION
    SELECT e.dst, MIN(f.cost + e.len) FROM far f JOIN edge e ON e.src = f.node GROUP BY e.dst
) SELECT node, cost FROM far"""
NEAR = FAR + " WHERE cost < 4"
THERE = """WITH RECURSIVE there(node) AS (
    SELECT s.node FROM start s
  UNION SELECT e.dst FROM there t JOIN edge e ON e.src = t.node
) SELECT node + 0 AS place FROM there"""
QUERIES = {"far": FAR, "near": NEAR, "there": THERE}
PLANS = {name: compile_query(text, CATALOG).plan for name, text in QUERIES.items()}


def opening():
    return [
        *(Declare(0.0, relation) for relation in RELATIONS),
        *(Register(0.0, name, plan_text(plan)) for name, plan in PLANS.items()),
    ]


class Driver:
    """Several lanes as Spark drives them: batches, supersteps, what lost lanes are rebuilt from."""

    def __init__(self, count):
        self.lanes = [Lanes(count).lanes[n] for n in range(count)]
        self.group = Lanes(count)
        self.group.lanes = self.lanes
        self.stored = [(None, []) for _ in self.lanes]  # snapshot, then what was applied
        self.since = self.position = self.told = 0
        self.rows = {}

    def take(self, entries, between=lambda: None):
        """Apply a batch; whatever `between` does to lanes must not show."""
        batch = list(enumerate(entries, start=self.position + 1))
        self.since, self.position = self.position, self.position + len(batch)
        changes = self._said([lane.apply(batch) for lane in self.lanes])
        self._store(batch)
        between()
        while not self.group.quiescent:
            heard = self.group.round()
            changes = self._said(self.group.hear(heard))
            self._store([(self.position, heard)])
            between()
        for change in changes:
            assert change.error is None, change
            if change.closed:
                self.rows.pop(change.view, None)
                continue
            assert change.view in {*PLANS, "late"}, change
            merge(self.rows.setdefault(change.view, {}), change.delta)
            assert all(weight == 1 for weight in self.rows[change.view].values())

    def _said(self, told):
        """Put together what lanes say, as the sink does if it is the last word of an epoch."""
        both = [
            ([c for c in changes if (c.view in lane.shared) == shared])
            for shared in (False, True)
            for lane, changes in zip(self.lanes, told, strict=True)
        ]
        alone, parts = both[: len(told)], both[len(told) :]
        return [change for changes in alone for change in changes] + merge_parts(parts)

    def _store(self, steps):
        for _, items in self.stored:
            items.extend(steps)

    def compact(self, number):
        self.stored[number] = (self.lanes[number].snapshot(), [])

    def lose(self, number):
        """Build a lane anew from what is stored, as a worker does that has none."""
        snapshot, items = self.stored[number]
        share = self.lanes[number].assignments.share
        lane = Lane(share) if snapshot is None else Lane.restore(snapshot, share)
        for past in (True, False):
            steps = [item for item in items if (item[0] <= self.since) == past]
            if steps:
                lane.apply(steps)
        lost, self.lanes[number] = self.lanes[number], lane
        assert lane.borders.to_send() == lost.borders.to_send()
        assert lane.borders.quiescent == lost.borders.quiescent
        assert {n: b.dump() for n, b in lane.assignments.borders.items()} == {
            n: b.dump() for n, b in lost.assignments.borders.items()
        }

    def rescale(self, count, source):
        self.group = self.group.rescaled(count, source)
        self.lanes = self.group.lanes
        self.stored = [(lane.snapshot(), []) for lane in self.lanes]


NODES = 9
node = st.integers(0, NODES - 1)
floors = st.tuples(node, st.one_of(st.none(), st.integers(0, 3)))
operations = st.one_of(
    st.tuples(st.just("anew"), st.sampled_from(sorted(QUERIES))),
    st.tuples(st.just("edge"), st.tuples(node, node, st.integers(0, 3))),
    st.tuples(st.just("edge"), st.tuples(node, node, st.integers(0, 3))),
    st.tuples(st.just("start"), st.tuples(node)),
    st.tuples(st.just("floor"), floors),
    st.tuples(st.just("drop"), st.integers(0, 50)),
    st.tuples(st.just("drop"), st.integers(0, 50)),
)


def applied(tables, operation):
    """Apply an operation to tables; give its changes."""
    kind, what = operation
    if kind == "drop":
        there = sorted((name, row) for name in ("start", "edge") for row in tables[name])
        if not there:
            return []
        name, row = there[what % len(there)]
        changes = [Change(name, -1, row)]
    elif kind == "floor":  # a place moves, or comes to be known
        changes = [Change("floor", -1, row) for row in tables["floor"] if row[0] == what[0]]
        changes.append(Change("floor", 1, what))
    else:
        changes = [Change(kind, 1, what)]
    for name, weight, row in changes:
        accumulate(tables[name], row, weight)
    return changes


slow = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@slow
@given(
    st.integers(1, 4),
    st.lists(st.integers(0, 3), max_size=NODES),  # of the others no network is known
    st.lists(st.lists(operations, min_size=1, max_size=6), min_size=1, max_size=6),
    st.data(),
)
def test_oracle_lanes_equal_from_scratch_at_every_written_epoch(count, levels, epochs, data):
    driver = Driver(count)
    driver.take(opening())
    tables = {"edge": {}, "start": {}, "floor": dict.fromkeys(enumerate(levels), 1)}
    driver.take([Transaction(0.0, tuple(Change("floor", 1, row) for row in tables["floor"]))])

    def between():
        number = data.draw(st.integers(0, len(driver.lanes) - 1))
        match data.draw(st.sampled_from(["", "", "compact", "lose"])):
            case "compact":
                driver.compact(number)
            case "lose":
                driver.lose(number)

    for epoch in epochs:
        batch = [
            # Placed anew among the networks there are by then.
            Register(1.0, what, plan_text(PLANS[what]), sharing="own" if n % 2 else "trunk")
            if kind == "anew"
            else Transaction(1.0, tuple(applied(tables, (kind, what))))
            for n, (kind, what) in enumerate(epoch)
        ]
        driver.take(batch, between)
        for view, plan in PLANS.items():
            assert driver.group.rows(view) == driver.rows.get(view, {}), view
            assert driver.group.rows(view) == evaluate(plan, tables), view
        if data.draw(st.booleans()):
            number = data.draw(st.integers(0, len(driver.lanes) - 1))
            driver.rescale(data.draw(st.integers(1, 4)), number)
            for view, plan in PLANS.items():
                assert driver.group.rows(view) == evaluate(plan, tables), view


def driven(count, edges, levels):
    driver = Driver(count)
    driver.take(opening())
    floor = [Change("floor", 1, row) for row in levels.items()]
    driver.take([Transaction(0.0, (*floor, *(Change("edge", 1, edge) for edge in sorted(edges))))])
    return driver


def building(levels, side, seed=1):
    """Grids of floors, joined by two stairs."""
    draw = random.Random(seed)
    edges, floors = set(), {}
    for level in range(levels):
        first = level * side * side
        for y in range(side):
            for x in range(side):
                here = first + y * side + x
                floors[here] = level
                for other in ([here + 1] if x + 1 < side else []) + (
                    [here + side] if y + 1 < side else []
                ):
                    length = draw.randrange(1, 5)
                    edges |= {(here, other, length), (other, here, length)}
        if level:
            for stair in (0, side * side - 1):
                edges |= {(first + stair, first - side * side + stair, 6)}
                edges |= {(first - side * side + stair, first + stair, 6)}
    return edges, floors


def borders_of(driver, view):
    lane = driver.lanes[0]
    return lane.assignments.borders[lane.assignments.of(view).crossing.name]


def test_supersteps_count_border_crossings_and_not_hops():
    with metered() as meters:
        edges, floors = building(4, 6)
        driver = driven(3, edges, floors)
        assert driver.group.supersteps == 0, "nothing leaves before somebody starts"
        driver.take([Transaction(1.0, (Change("start", 1, (0,)),))])
        meter = meters[borders_of(driver, "far")]
    assert len(driver.rows["far"]) == len(floors)
    crossings = 3  # from the lowest floor to the highest; some borders lie within a lane
    # The last superstep says that the others' news changed nothing more.
    assert driver.group.supersteps <= 2 * crossings
    assert 0 < meter.shipped <= meter.derived < len(floors) / 4
    before = {view: dict(rows) for view, rows in driver.rows.items()}
    lost = next(e for e in sorted(edges) if floors[e[0]] == 1 and floors[e[1]] == 2)
    driver.take([Transaction(2.0, (Change("edge", -1, lost),))])
    driver.take([Transaction(3.0, (Change("edge", 1, lost),))])
    assert driver.rows == before


def test_a_door_within_a_network_that_changes_no_border_row_needs_no_round():
    driver = driven(3, *building(4, 4))
    driver.take([Transaction(1.0, (Change("start", 1, (0,)),))])
    supersteps = driver.group.supersteps
    assert supersteps > 0
    driver.take([Transaction(2.0, (Change("edge", 1, (3, 2, 50)),))])
    assert driver.group.supersteps == supersteps


def test_lanes_agree_on_the_place_and_each_keeps_its_networks():
    edges, floors = building(4, 3)
    driver = driven(3, edges, floors)
    driver.take([Transaction(1.0, (Change("start", 1, (0,)),))])
    places = [lane.assignments.of("far") for lane in driver.lanes]
    assert places[0] == places[1] == places[2]
    assert isinstance(places[0], Bordered)
    assert len(driver.lanes[0].assignments.borders) == 2, "near is a selection of far's recursion"
    kept = [{row[0] for row in lane.rows("far")} for lane in driver.lanes]
    assert sum(map(len, kept)) == len(floors)
    for places_kept in kept:
        for other in kept:
            if other is not places_kept:
                levels = {floors[one] for one in places_kept}
                assert levels.isdisjoint(floors[one] for one in other)


def test_few_networks_are_shared_out_evenly_where_they_are_known():
    edges, floors = building(4, 3)
    driver = driven(2, edges, floors)
    driver.take([Register(1.0, "late", plan_text(compile_query(FAR, CATALOG).plan))])
    driver.take([Transaction(1.0, (Change("start", 1, (0,)),))])
    assert [len(lane.rows("late")) for lane in driver.lanes] == [18, 18]
    assert driver.group.rows("late") == driver.group.rows("far")
    again = Lanes(2, driver.lanes[1].snapshot())
    assert again.lanes[0].assignments.by_view == driver.lanes[0].assignments.by_view
    rescaled = driver.group.rescaled(4)
    assert [len(lane.rows("far")) for lane in rescaled.lanes] == [9, 9, 9, 9]


def both(entries, count=3):
    """Feed one lane and several the same; they must say the same after each batch."""
    drivers = Driver(1), Driver(count)
    for batch in (opening(), *entries):
        for driver in drivers:
            driver.take(batch)
        assert drivers[0].rows == drivers[1].rows
    return drivers


LINE = [Transaction(0.0, tuple(Change("edge", 1, (n, n + 1, 1)) for n in range(6)))]
PLACED = [Transaction(0.0, tuple(Change("floor", 1, (n, n // 2)) for n in range(6)))]
BEGUN = [Transaction(0.0, (Change("start", 1, (0,)),))]


def test_a_place_on_two_floors_makes_the_views_whole():
    _, several = both([LINE, PLACED, BEGUN])
    assert isinstance(several.lanes[0].assignments.of("far"), Bordered)
    _, several = both([LINE, PLACED, BEGUN, [Transaction(1.0, (Change("floor", 1, (3, 0)),))]])
    assert isinstance(several.lanes[1].assignments.of("far"), Whole)
    assert not several.lanes[1].assignments.borders


def test_a_view_ends_comes_back_and_is_looked_at_in_the_middle_of_it_all():
    text = plan_text(PLANS["far"])
    both(
        [
            [*LINE, *PLACED, *BEGUN],
            [Unregister(1.0, "far"), Register(1.0, "far", text)],
            [Unregister(1.0, "far")],
            [Unregister(2.0, "near"), Tick(2.0)],
            [Register(3.0, "far", text, on_demand=True)],
            [Interest(3.0, "far", "a", 10.0)],
            [Transaction(4.0, (Change("edge", -1, (2, 3, 1)),)), Tick(4.0)],
            [Tick(30.0)],
            [Transaction(31.0, (Change("edge", 1, (2, 3, 1)),)), Interest(31.0, "far", "b", 10.0)],
        ]
    )


def test_a_table_of_networks_that_is_declared_anew_parts_the_views_anew():
    other = Relation(
        "floor", (Column("node", INT), Column("wing", Type.TEXT)), key=("node",), network="wing"
    )
    plain = Relation("floor", other.columns, key=("node",))
    wings = Transaction(2.0, tuple(Change("floor", 1, (n, "ab"[n % 2])) for n in range(6)))
    _, several = both([[*LINE, *PLACED, *BEGUN], [Declare(1.0, other)], [wings]])
    assert several.lanes[0].assignments.of("far").root.column == "wing"
    both([[*LINE, *PLACED, *BEGUN], [Declare(1.0, plain)], [wings]])


@pytest.mark.parametrize("kind", list(OneTimeKind))
def test_a_question_is_answered_as_one_lane_would(kind):
    question = {
        OneTimeKind.WHY: OneTimeQuery(1.0, "q", "far", (4, 4)),
        OneTimeKind.WHY_NOT: OneTimeQuery(1.0, "q", "far", (4, 3), kind),
        OneTimeKind.WHAT_IF: OneTimeQuery(
            1.0, "q", "far", (), kind, changes=(Change("edge", -1, (2, 3, 1)),)
        ),
        OneTimeKind.WEAK_POINTS: OneTimeQuery(1.0, "q", "far", (), kind),
        OneTimeKind.ONCE: OneTimeQuery(1.0, "q", "", (), kind, plan_text=plan_text(PLANS["near"])),
    }[kind]
    answers = []
    for count in (1, 3):
        driver = Driver(count)
        for batch in (opening(), [*LINE, *PLACED, *BEGUN]):
            driver.take(batch)
        told = [lane.apply([(driver.position + 1, question)]) for lane in driver.lanes]
        answers.append([c for changes in told for c in changes if c.view == "why:q"])
        assert driver.group.quiescent, "nothing is kept"
    assert answers[0] == answers[1]
    assert answers[0][0].error is None
