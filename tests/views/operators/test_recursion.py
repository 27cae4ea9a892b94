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
from aspen.algebra.read import read_plan
from aspen.log.entry import Change, Declare, Entry, Register, Transaction
from aspen.model.delta import Delta, merge
from aspen.overlog.errors import NoBase
from aspen.runtime.lane import Lane
from aspen.streamsql import Compiled
from aspen.views.operators.fixpoint import Fixpoint
from aspen.views.operators.support.strategies import STRATEGIES
from aspen.views.oracle import evaluate

quick = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
TABLES = ("link", "wall", "lit")
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
            merge(self.told[change.view], change.delta)

    def toggle(self, *moves: Move) -> None:
        """Let rows come that are not there, and go that are, in one epoch."""
        changes: list[Change] = []
        for table, row in dict.fromkeys(moves):
            changes.append(Change(table, -1 if row in self.held[table] else 1, row))
            self.held[table] ^= {row}
        self.take(Transaction(1.0, tuple(changes)))

    def rows(self) -> Facts:
        """Give the rows of every view, which are those the changes add up to."""
        found = {name: self.lane.rows(name) for name in self.names}
        assert found == self.told
        assert all(set(rows.values()) <= {1} for rows in found.values())
        return {name: set(rows) for name, rows in found.items()}

    def assert_nothing_left(self) -> None:
        everything = [(table, row) for table, rows in self.held.items() for row in sorted(rows)]
        self.toggle(*everything)
        for node in self.lane.circuit._known.values():
            if isinstance(node, Fixpoint):
                assert_empty(node)


def compiled(program: Program) -> list[Compiled]:
    try:
        return program.compiled()
    except NoBase:
        assume(False)  # Hypothesis' way to draw another one
        raise


@quick
@given(
    programs(),
    st.lists(st.lists(move, min_size=1, max_size=4), min_size=2, max_size=8),
    st.sampled_from(sorted(STRATEGIES)),
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
@given(programs(), st.sampled_from(sorted(STRATEGIES)), st.integers(0, 2**32))
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
