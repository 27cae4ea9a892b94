"""Traversal: equal to the oracle after every change, whatever is invariant."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from views.lanes import assert_empty

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Register, Transaction
from aspen.model.catalog import Catalog
from aspen.model.delta import accumulate
from aspen.model.schema import Column, Relation, Row, Type
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query
from aspen.views.node import Lookups
from aspen.views.operators.support.strategies import TRAVERSAL
from aspen.views.operators.traversal import Traversal
from tests.oracle import evaluate

INT, BOOL = Type.INT, Type.BOOL
EDGE = Relation(
    "edge",
    (
        Column("src", INT, nullable=True),
        Column("dst", INT, nullable=True),
        Column("cost", INT, nullable=True),
        Column("flat", BOOL, nullable=True),
    ),
)
START = Relation(
    "start",
    (
        Column("who", INT),
        Column("flat", BOOL, nullable=True),
        Column("node", INT, nullable=True),
        Column("cost", INT, nullable=True),
    ),
)
OPEN = Relation("open", (Column("node", INT),))
CATALOG = Catalog.of((EDGE, START, OPEN))

QUERIES = {
    "layers": """
        WITH RECURSIVE walk(who, flat, node, cost) AS (
            SELECT s.who, s.flat, s.node, s.cost FROM start s
          UNION
            SELECT w.who, w.flat, e.dst, MIN(w.cost + e.cost)
            FROM walk w JOIN edge e ON e.src = w.node WHERE NOT w.flat OR e.flat
            GROUP BY w.who, w.flat, e.dst
        ) SELECT who, flat, node, cost FROM walk""",
    "widest": """
        WITH RECURSIVE flow(width, node, who) AS (
            SELECT s.cost, s.node, s.who FROM start s
          UNION
            SELECT MAX(least(e.cost, f.width)), e.dst, f.who
            FROM flow f JOIN edge e ON e.src = f.node GROUP BY e.dst, f.who
        ) SELECT width, node, who FROM flow""",
    "flattest": """
        WITH RECURSIVE climb(who, node, steepest) AS (
            SELECT s.who, s.node, s.cost FROM start s
          UNION
            SELECT c.who, e.dst, MIN(greatest(c.steepest, e.cost))
            FROM climb c JOIN edge e ON e.src = c.node GROUP BY c.who, e.dst
        ) SELECT who, node, steepest FROM climb""",
    "strongest": """
        WITH RECURSIVE climb(who, node, weakest) AS (
            SELECT s.who, s.node, s.cost FROM start s
          UNION
            SELECT c.who, e.dst, MAX(least(c.weakest, e.cost))
            FROM climb c JOIN edge e ON e.src = c.node GROUP BY c.who, e.dst
        ) SELECT who, node, weakest FROM climb""",
    "turned": """
        WITH RECURSIVE reach(node, who, flat) AS (
            SELECT s.node, s.who, s.flat FROM start s
          UNION
            SELECT e.dst, r.who, r.flat FROM reach r JOIN edge e ON e.src = r.node AND e.dst <> 2
        ) SELECT node, who, flat FROM reach""",
    "either_way": """
        WITH RECURSIVE near(who, node) AS (
            SELECT s.who, s.node FROM start s
          UNION SELECT n.who, e.dst FROM near n JOIN edge e ON e.src = n.node
          UNION SELECT n.who, e.src FROM near n JOIN edge e ON e.dst = n.node
        ) SELECT who, node FROM near""",
    "open_places": """
        WITH RECURSIVE near(who, node) AS (
            SELECT s.who, s.node FROM start s JOIN open o ON o.node = s.node
          UNION
            SELECT n.who, e.dst FROM near n, edge e, open o
            WHERE e.src = n.node AND o.node = e.dst AND e.cost < n.node + 3
        ) SELECT who, node FROM near""",
    "pairs": """
        WITH RECURSIVE reach(src, dst) AS (
            SELECT e.src, e.dst FROM edge e
          UNION SELECT r.src, e.dst FROM reach r JOIN edge e ON e.src = r.dst
        ) SELECT src, dst FROM reach""",
}
PLANS = {name: compile_query(sql, CATALOG).plan for name, sql in QUERIES.items()}

node = st.integers(0, 4)
maybe = st.none() | st.booleans()
rows: dict[str, st.SearchStrategy[Row]] = {
    "edge": st.tuples(st.none() | node, st.none() | node, st.none() | st.integers(0, 3), maybe),
    "start": st.tuples(st.integers(0, 2), maybe, st.none() | node, st.none() | st.integers(0, 3)),
    "open": st.tuples(node),
}
state = st.fixed_dictionaries(
    {
        "edge": st.lists(rows["edge"], max_size=12),
        "start": st.lists(rows["start"], max_size=5),
        "open": st.lists(rows["open"], max_size=5),
    }
)
quick = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


class Driven:
    """A lane with some of the views, and the tables as they should be."""

    def __init__(self, *names: str) -> None:
        self.lane = Lane()
        self.tables: dict[str, dict[Row, int]] = {name: {} for name in rows}
        self.take(*(Declare(0.0, relation) for relation in CATALOG))
        self.take(*(Register(0.0, name, plan_text(PLANS[name]), TRAVERSAL) for name in names))

    def take(self, *entries):
        return self.lane.apply(list(enumerate(entries, start=self.lane.position + 1)))

    def change(self, changes: list[Change]) -> None:
        self.take(Transaction(0.0, tuple(changes)))
        for change in changes:
            accumulate(self.tables[change.relation], change.row, change.weight)

    def traversal(self, name: str) -> Traversal:
        found = self.lane.views.by_name[name].node
        while not isinstance(found, Traversal):
            (found,) = found.inputs
        return found


def moves(now: dict[str, dict[Row, int]], wanted: dict[str, list[Row]]) -> list[Change]:
    """What leads from some tables to others, deletions first; rows may be there twice."""
    changes = [
        Change(name, -1, row) for name in now for row, n in now[name].items() for _ in range(n)
    ]
    changes += [Change(name, 1, row) for name in now for row in wanted[name]]
    both = {}
    for change in changes:
        accumulate(both, (change.relation, change.row), change.weight)
    return sorted(
        (Change(name, weight, row) for (name, row), weight in both.items()),
        key=lambda change: (change.weight, change.relation, repr(change.row)),
    )


@quick
@given(states=st.lists(state, min_size=1, max_size=4), random=st.randoms(use_true_random=False))
def test_oracle_after_every_change_and_back_to_nothing(states, random) -> None:
    driven = Driven(*PLANS)
    for wanted in [*states, {name: [] for name in rows}]:
        changes = moves(driven.tables, wanted)
        if random.random() < 0.5:
            driven.change(changes)
        else:
            random.shuffle(changes)
            for change in changes:
                driven.change([change])
        for name, plan in PLANS.items():
            view = driven.lane.views.by_name[name]
            assert view.error is None
            assert driven.lane.rows(name) == evaluate(plan, driven.tables)
            assert view.node.contents() == driven.lane.rows(name)
    for name in PLANS:
        assert_empty(driven.traversal(name))


@quick
@given(state)
def test_ways_lead_back_to_base_rows(tables) -> None:
    names = ("layers", "pairs", "widest")
    driven = Driven(*names)
    driven.change(moves(driven.tables, tables))
    for name in names:
        view = driven.traversal(name)
        for row in view.contents():
            every = list(view.ways(row, Lookups(every=True)))
            (one,) = view.ways(row, Lookups(every=False))
            assert one in every
            for way in every:
                assert all(part in node.contents() for node, part in way)
            seen = {row}
            while one[0][0] is view:  # the kept edges lead to a base row, in no cycle
                assert one[0][1] not in seen
                seen.add(one[0][1])
                (one,) = view.ways(one[0][1], Lookups(every=False))


def test_more_invariant_values_than_a_block_holds() -> None:
    driven = Driven("turned", "layers")
    count, length = 1_200, 6
    links = [(at, at + 1, 1, True) for at in range(10, 10 + length)]
    driven.change(
        [Change("edge", 1, row) for row in links]
        + [Change("start", 1, (who, False, 10, 0)) for who in range(count)]
    )
    assert len(driven.lane.rows("turned")) == len(driven.lane.rows("layers")) == 7 * count
    driven.change([Change("edge", -1, links[2])])
    assert len(driven.lane.rows("turned")) == len(driven.lane.rows("layers")) == 3 * count
    driven.change([Change("edge", 1, (11, 14, 5, False))])
    assert len(driven.lane.rows("turned")) == 6 * count
    costs = {row[2:] for row in driven.lane.rows("layers")}
    assert costs == {(10, 0), (11, 1), (12, 2), (14, 6), (15, 7), (16, 8)}
    everything = [Change(name, -1, row) for name in rows for row in driven.tables[name]]
    driven.change(everything)
    for name in ("turned", "layers"):
        assert driven.lane.rows(name) == {}
        assert_empty(driven.traversal(name))


def test_costs_that_fall_for_ever_are_an_error_of_the_view_alone() -> None:
    driven = Driven("layers", "pairs")
    driven.change([Change("start", 1, (0, False, 0, 0))])
    driven.change([Change("edge", 1, (0, 1, -2, True)), Change("edge", 1, (1, 0, 1, True))])
    error = driven.lane.views.by_name["layers"].error
    assert error is not None
    assert error["code"] == "aspen.views.endless_recursion"
    assert len(driven.lane.rows("pairs")) == 4


@pytest.mark.parametrize("seed", range(3))
def test_oracle_reachability_of_a_grid_losing_its_links(seed) -> None:
    """A second, plain search: breadth first from every place, over what is left."""
    side = 7
    links = [
        (at, other, 1, True)
        for at in range(side * side)
        for other in (at + 1, at - 1, at + side, at - side)
        if 0 <= other < side * side and (abs(at - other) == side or at // side == other // side)
    ]
    driven = Driven("pairs")
    driven.change([Change("edge", 1, row) for row in links])
    for taken in range(seed, len(links), 4):
        driven.change([Change("edge", -1, links[taken])])
    beside: dict[int, list[int]] = {}
    for src, dst, *_ in driven.tables["edge"]:
        beside.setdefault(src, []).append(dst)
    expected = set()
    for start, first in beside.items():
        met, queue = set(first), deque(first)
        while queue:
            for other in beside.get(queue.popleft(), ()):
                if other not in met:
                    met.add(other)
                    queue.append(other)
        expected |= {(start, place) for place in met}
    assert set(driven.lane.rows("pairs")) == expected
