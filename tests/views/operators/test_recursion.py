"""Recursion in general: random non-linear and mutual programs against rules in plain Python."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from views import small_world as world
from views.lanes import assert_empty
from views.operators.random_rules import Facts, Program, programs

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import GroupBy
from aspen.algebra.read import read_plan
from aspen.log.entry import Change, Declare, Entry, Register, Transaction
from aspen.model.delta import Delta, merge
from aspen.overlog import compile_program
from aspen.overlog.errors import NoBaseRule, NotMonotoneRule
from aspen.runtime.lane import Lane
from aspen.streamsql import Compiled
from aspen.views.operators.fixpoint import FixpointOperator
from aspen.views.operators.support.strategies import STRATEGIES
from tests.oracle import evaluate

quick = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
TABLES = ("link", "wall", "lit")
# Eager annotations may grow exponentially; within their budget they go on as something else.
SPELT = sorted({*STRATEGIES, "absorption-eager(nodes=2000)"} - {"absorption-eager"})
Move = tuple[str, tuple]

place = st.integers(0, 3)
edge = st.tuples(place, place, st.integers(0, 3))
move = st.one_of(
    st.tuples(st.just("link"), edge),
    st.tuples(st.just("link"), edge),
    st.tuples(st.just("wall"), edge),
    st.tuples(st.just("lit"), st.tuples(place)),
)


class Host:
    """A lane with the views of one program under one strategy."""

    def __init__(self, views: list[Compiled], strategy: str) -> None:
        self.names = [view.relation.name for view in views]
        self.lane = Lane()
        self.told: dict[str, Delta] = {name: {} for name in self.names}
        self.held: Facts = {name: set() for name in TABLES}
        self.take(*(Declare(0.0, relation) for relation in world.BASE))
        for view in views:
            assert read_plan(plan_text(view.plan)) == view.plan
            self.take(Register(0.0, view.relation.name, plan_text(view.plan), strategy))

    def take(self, *entries: Entry) -> None:
        first = self.lane.position + 1
        for change in self.lane.apply(list(enumerate(entries, start=first))):
            assert change.error is None, change.error
            merge(self.told.setdefault(change.view, {}), change.delta)

    def toggle(self, *moves: Move) -> None:
        """Let rows come that are not there, and go that are, in one epoch."""
        changes: list[Change] = []
        for table, row in dict.fromkeys(moves):
            changes.append(Change(table, -1 if row in self.held[table] else 1, row))
            self.held[table] ^= {row}
        self.take(Transaction(1.0, tuple(changes)))

    def rows(self) -> Facts:
        """Returns the rows of every view, which are those the changes add up to."""
        found = {name: self.lane.rows(name) for name in self.names}
        assert found == {name: self.told[name] for name in self.names}
        assert all(set(rows.values()) <= {1} for rows in found.values())
        return {name: set(rows) for name, rows in found.items()}

    def assert_nothing_left(self) -> None:
        everything = [(table, row) for table, rows in self.held.items() for row in sorted(rows)]
        self.toggle(*everything)
        for node in self.lane.circuit._known.values():
            if isinstance(node, FixpointOperator):
                assert_empty(node)


def compiled(program: Program) -> list[Compiled]:
    """Compile a program; draw another one where nothing begins it, or costs are not handed on."""
    try:
        return program.compiled()
    except (NoBaseRule, NotMonotoneRule):
        assume(False)
        raise


@quick
@given(
    programs(),
    st.lists(st.lists(move, min_size=1, max_size=4), min_size=2, max_size=8),
    st.sampled_from(SPELT),
    st.integers(0, 7),
)
def test_oracle_after_every_change_restart_and_back_to_nothing(program, epochs, strategy, restart):
    views = compiled(program)
    host = Host(views, strategy)
    for number, moves in enumerate(epochs):
        host.toggle(*moves)
        if number == restart:
            host.lane = Lane.restore(host.lane.snapshot())
        assert host.rows() == program.answers(host.held)
    host.assert_nothing_left()


@quick
@given(programs(), st.sets(move, max_size=12), st.randoms(use_true_random=False))
def test_one_by_one_equals_all_at_once_equals_shuffled(program, moves, random):
    views = compiled(program)
    whole, single, shuffled = (Host(views, "absorption-lazy") for _ in range(3))
    whole.toggle(*sorted(moves))
    for one in sorted(moves):
        single.toggle(one)
    for one in random.sample(sorted(moves), len(moves)):
        shuffled.toggle(one)
    assert whole.rows() == single.rows() == shuffled.rows()
    contents: dict[str, Delta] = {name: dict.fromkeys(rows, 1) for name, rows in whole.held.items()}
    for view in views:
        contents[view.relation.name] = evaluate(view.plan, contents)
        assert set(contents[view.relation.name]) == whole.rows()[view.relation.name]


@pytest.mark.nightly
@settings(quick, max_examples=250)
@given(programs(), st.sampled_from(SPELT), st.integers(0, 2**32))
def test_oracle_over_ten_thousand_steps_of_many_programs(program, strategy, seed):
    views = compiled(program)
    host, chance = Host(views, strategy), Random(seed)
    for _ in range(45):
        moves: list[Move] = []
        for _ in range(chance.randint(1, 3)):
            table = chance.choice(("link", "link", "link", "wall", "lit"))
            held = sorted(host.held[table])
            if held and chance.random() < len(held) / 12:
                moves.append((table, chance.choice(held)))
            elif table == "lit":
                moves.append((table, (chance.randrange(5),)))
            else:
                moves.append((table, tuple(chance.randrange(5) for _ in range(3))))
        host.toggle(*moves)
        assert host.rows() == program.answers(host.held)
    host.assert_nothing_left()


def small(text: str) -> list[Compiled]:
    return compile_program(text, world.CATALOG)


COUNTING = """up(X, N) :- link(X, _, _), N = 0.
up(X, N) :- down(X, N1), N1 < 1000, N = N1 + 1.
down(X, N) :- up(X, N).
seen(X) :- lit(X)."""


def test_a_limit_of_rows_ends_in_an_error_of_the_view_which_comes_back_when_registered_again():
    views = small("materialize(up, infinity, 40)." + COUNTING)
    host = Host(views[:0], "auto")
    spelt = {view.relation.name: plan_text(view.plan) for view in views}
    host.take(*(Register(1.0, name, text) for name, text in spelt.items()))
    first = host.lane.position + 1
    changes = host.lane.apply([(first, Transaction(1.0, (Change("link", 1, (0, 1, 0)),)))])
    errors = {change.view: change.error for change in changes}
    assert {view for view, error in errors.items() if error} == {"up", "down"}
    error = errors["up"]
    assert error is not None
    assert error["code"] == "aspen.views.endless_recursion"
    assert "more than 40 rows" in error["message"]
    # The lane lives, the other view too, and what went is nobody's loss.
    host.take(Transaction(1.0, (Change("lit", 1, (3,)),)))
    assert set(host.lane.rows("seen")) == {(3,)}
    host.take(Transaction(1.0, (Change("link", -1, (0, 1, 0)),)))
    for name, text in spelt.items():
        host.take(Register(2.0, name, text))
        assert host.lane.views.by_name[name].error is None
    assert host.lane.rows("up") == {}


def test_a_limit_is_of_the_rows_there_are_and_not_of_those_that_come_and_go():
    (view,) = small(
        "materialize(far, infinity, 6)."
        " far(X, Y) :- link(X, Y, _). far(X, Z) :- far(X, Y), far(Y, Z)."
    )
    host = Host([view], "justification")
    host.toggle(("link", (0, 1, 0)), ("link", (1, 2, 0)), ("link", (2, 3, 0)))
    assert len(host.rows()["far"]) == 6
    host.toggle(("link", (0, 1, 0)), ("link", (1, 2, 0)), ("link", (3, 1, 0)))
    host.toggle(("link", (0, 1, 0)), ("link", (2, 3, 0)), ("link", (3, 1, 0)), ("link", (1, 2, 0)))
    assert host.rows()["far"] == {(0, 1), (1, 2), (0, 2)}


def test_costs_that_shrink_in_the_data_end_in_an_error_and_not_in_a_loop():
    views = small(
        "best(X, Y, min<C>) :- link(X, Y, C). best(X, Y, min<C>) :- handed(X, Y, C)."
        " handed(X, Z, C) :- best(X, Y, C1), link(Y, Z, C2), C = C1 + C2."
    )
    host = Host(views, "justification")
    host.toggle(("link", (0, 1, 3)), ("link", (1, 2, 3)))
    first = host.lane.position + 1
    changes = host.lane.apply(
        [(first, Transaction(1.0, (Change("link", 1, (1, 0, -9)), Change("link", 1, (2, 2, 1)))))]
    )
    codes = {change.error["code"] for change in changes if change.error is not None}
    assert codes == {"aspen.views.endless_recursion"}
    assert {change.view for change in changes if change.error} == {"best", "handed"}


def test_reasons_of_rows_that_two_relations_derive_together():
    views = small(
        "odd(X, Y) :- link(X, Y, _). odd(X, Y) :- even(X, Z), link(Z, Y, _)."
        " even(X, Y) :- odd(X, Z), link(Z, Y, _)."
    )
    host = Host(views, "absorption-lazy")
    there, on, back = (0, 1, 0), (1, 2, 0), (2, 1, 0)
    host.toggle(("link", there), ("link", on), ("link", back))
    why = host.lane.provenance.why("even", (0, 2))
    assert why.complete
    assert why.sets == (frozenset({("link", there), ("link", on)}),)
    # Both views are outputs of one recursion.
    assert (
        len([n for n in host.lane.circuit._known.values() if isinstance(n, FixpointOperator)]) == 1
    )
    host.toggle(("link", on))
    assert host.rows() == {"odd": {(0, 1), (2, 1)}, "even": set()}


def test_rows_best_for_one_of_several_costs_are_the_plan_s_rows():
    (view,) = small(
        "way(X, Y, min<C>, min<H>) :- link(X, Y, C), H = 1."
        " way(X, Z, min<C>, min<H>) :- way(X, Y, C1, H1), link(Y, Z, C2), C = C1 + C2, H = H1 + 1."
    )
    assert isinstance(view.plan, GroupBy)
    inner = view.plan.child
    host = Host([view], "justification")
    host.take(Register(1.0, "rows", plan_text(inner), "justification"))
    direct, slow, fast = (0, 2, 9), (0, 1, 1), (1, 2, 1)
    host.toggle(("link", direct), ("link", slow), ("link", fast))
    # Two hops at cost 2, and one hop at cost 9: each is best for one; one row has both minima.
    assert {row for row in host.lane.rows("rows") if row[:2] == (0, 2)} == {
        (0, 2, 2, 2),
        (0, 2, 9, 1),
    }
    assert (0, 2, 2, 1) in host.lane.rows("way")
    # A row that is best for neither goes nowhere.
    host.toggle(("link", (1, 2, 5)))
    assert len(host.lane.rows("rows")) == 4
    host.toggle(("link", fast))
    assert {row for row in host.lane.rows("rows") if row[:2] == (0, 2)} == {
        (0, 2, 6, 2),
        (0, 2, 9, 1),
    }


def test_rows_that_a_better_cost_rests_on_do_not_keep_it_when_its_first_derivation_goes():
    # n(0, 1) is 5 by the wall; it makes a(0, 1), and that makes n(0, 1) 1 by the link.
    views = small(
        "n(X, Y, min<C>) :- wall(X, Y, C). n(X, Y, min<C>) :- a(X, Y), link(X, Y, C)."
        " a(X, Y) :- n(X, Y, _)."
    )
    for strategy in SPELT:
        host = Host(views, strategy)
        host.toggle(("wall", (0, 1, 5)), ("link", (0, 1, 1)))
        assert host.rows() == {"n": {(0, 1, 1)}, "a": {(0, 1)}}
        host.toggle(("wall", (0, 1, 5)))
        assert host.rows() == {"n": set(), "a": set()}, strategy
        host.assert_nothing_left()
