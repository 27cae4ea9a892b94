"""Questions over random plans and recursions, after histories of insertions and deletions.

Why: a set suffices, a necessary row is missed. What-if: what is told would be. Why-not: a repair
suffices and is minimal. All three against the oracle, which knows nothing of circuits.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from algebra.plans import NOW_S, STREAM, TABLES, Data, Names, data, fixpoints, over, plans
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import (
    Fixpoint,
    Plan,
    Window,
    children,
)
from aspen.log.entry import Change, Declare, Entry, Register, Tick, Transaction
from aspen.model.delta import Delta, add, negate
from aspen.model.schema import Relation, SourceKind
from aspen.runtime.lane import Lane
from aspen.views.pattern import ANY, fits
from aspen.views.why_not import changes_of

RELATIONS = [
    *(Relation(name, columns) for name, columns in TABLES.items()),
    Relation("s", STREAM, SourceKind.STREAM),
]
quick = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
deep = settings(quick, max_examples=2_500)


def nodes(plan: Plan) -> Iterator[Plan]:
    yield plan
    for child in children(plan):
        yield from nodes(child)


class Driver:
    """A lane with one view, brought through several states of its tables."""

    def __init__(self, plan: Plan, states: list[Data]) -> None:
        self.plan, self.lane, self.count = plan, Lane(), 0
        self.take(*(Declare(0.0, relation) for relation in RELATIONS))
        self.take(Register(0.0, "v", plan_text(plan)))
        arrivals = states[-1].arrivals
        self.take(*(Transaction(at_s, (Change("s", 1, row),)) for row, at_s in arrivals))
        self.take(Tick(NOW_S))
        held: dict[str, Delta] = {name: {} for name in TABLES}
        for state in states:
            for name in TABLES:
                for row, weight in add(state.tables[name], negate(held[name])).items():
                    self.take(Transaction(NOW_S, (Change(name, weight, row),)))
            held = state.tables
        self.data = Data(held, arrivals)

    def take(self, *entries: Entry) -> None:
        self.lane.apply(list(enumerate(entries, start=self.count + 1)))
        self.count += len(entries)

    def after(self, changes: list[tuple]) -> Delta:
        """The view from scratch, were tables changed like that."""
        tables = dict(self.data.tables)
        for name, weight, row in changes:
            tables[name] = add(tables[name], {row: weight})
        return Data(tables, self.data.arrivals).evaluate(self.plan)


def monotone(draw) -> Plan:
    """A plan in which more base rows never mean fewer rows."""
    names = Names()
    plan = draw(fixpoints(names)) if draw(st.booleans()) else draw(plans(0, names))
    for form in draw(st.lists(st.sampled_from(FORMS), max_size=3), label="forms"):
        plan = draw(over(form, plan, names))
    # A choice of the best holds as far as what it beat stays beaten; readings are no table rows.
    found = list(nodes(plan))
    assume(not any(isinstance(node, Fixpoint) and node.best for node in found))
    assume(not any(isinstance(node, Window) for node in found))
    return plan


def drivers(draw, plan: Plan) -> Driver:
    one, other = draw(data(), label="one"), draw(data(), label="other")
    driver = Driver(plan, [one, other, one] if draw(st.booleans(), label="back") else [other, one])
    assume(driver.lane.views.by_name["v"].error is None)
    return driver


FORMS = ("filter", "project", "join", "union", "distinct")


def why_laws(draw) -> None:
    driver = drivers(draw, monotone(draw))
    held = {(name, row) for name, rows in driver.data.tables.items() for row in rows}
    for row in sorted(driver.lane.rows("v"), key=repr)[:4]:
        why = driver.lane.provenance.why("v", row)
        for members in why.sets[:3]:
            left = changes_without(driver, held - members)
            assert row in driver.after(left), (row, members)
            for one in members:
                fewer = changes_without(driver, (held - members) | {one})
                assert not why.complete or row not in driver.after(fewer), (row, members, one)
        for base in why.necessary:
            assert row not in driver.after(changes_without(driver, {base})), (row, base)
        if why.complete:
            for base in sorted(held - why.necessary, key=repr)[:4]:
                assert row in driver.after(changes_without(driver, {base})), (row, base)


def changes_without(driver: Driver, lost: set) -> list[tuple]:
    return [(name, -driver.data.tables[name][row], row) for name, row in lost]


def what_if_laws(draw) -> None:
    driver = drivers(draw, draw(plans(), label="plan"))
    other = draw(data(), label="supposed")
    changes = [
        Change(name, weight, row)
        for name in TABLES
        for row, weight in add(other.tables[name], negate(driver.data.tables[name])).items()
    ]
    before = driver.lane.snapshot()
    told = driver.lane.provenance.what_if("v", changes)
    assert driver.lane.snapshot() == before
    now = driver.lane.rows("v")
    after = driver.after([(c.relation, c.weight, c.row) for c in changes])
    assert told == add(after, negate(now))
    assert driver.lane.rows("v") == now == driver.data.evaluate(driver.plan)
    driver.take(Transaction(NOW_S, tuple(changes)))
    assert driver.lane.rows("v") == after


def why_not_laws(draw) -> None:
    driver = drivers(draw, draw(plans(2), label="plan"))
    assume(not any(isinstance(node, Window) for node in nodes(driver.plan)))
    other = draw(data(), label="elsewhere")
    rows = driver.lane.rows("v")
    # Rows that the plan gives somewhere else are rows it can give.
    elsewhere = Data(other.tables, driver.data.arrivals).evaluate(driver.plan)
    missing = sorted((row for row in elsewhere if row not in rows), key=repr)
    assume(missing)
    row = draw(st.sampled_from(missing), label="row")
    opened = draw(st.lists(st.booleans(), min_size=len(row), max_size=len(row)), label="open")
    wanted = tuple(ANY if o else value for o, value in zip(opened, row, strict=True))
    assume(not any(fits(one, wanted) for one in rows))
    before = driver.lane.snapshot()
    found = driver.lane.provenance.why_not("v", wanted)
    assert driver.lane.snapshot() == before
    for repair in found.repairs:
        times = driver.lane.provenance.times
        whole = driver.after(changes_of(repair.edits, times))
        assert any(fits(one, wanted) for one in whole), repair
        for fewer in itertools.combinations(repair.edits, len(repair.edits) - 1):
            left = driver.after(changes_of(fewer, times))
            assert not any(fits(one, wanted) for one in left), (repair, fewer)


@pytest.mark.parametrize("laws", [why_laws, what_if_laws, why_not_laws])
@quick
@given(st.data())
def test_oracle_questions_over_any_plan(laws, draw) -> None:
    laws(draw.draw)


@pytest.mark.nightly
@pytest.mark.parametrize("laws", [why_laws, what_if_laws, why_not_laws])
@deep
@given(st.data())
def test_oracle_questions_over_any_plan_deeper(laws, draw) -> None:
    laws(draw.draw)
