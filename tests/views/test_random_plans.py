"""oracle_: whatever the plan, what the circuit keeps equals the answer from scratch."""

from __future__ import annotations

from algebra.plans import NOW_S, STREAM, TABLES, Data, data, plans
from hypothesis import HealthCheck, given, settings

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Register, Tick, Transaction
from aspen.model.delta import Delta, add, negate
from aspen.model.schema import Relation, SourceKind
from aspen.runtime.lane import Lane

RELATIONS = [
    *(Relation(name, columns, deletable=name != "edge") for name, columns in TABLES.items()),
    Relation("s", STREAM, SourceKind.STREAM),
]
quick = settings(
    max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True
)


def moves(before: dict[str, Delta], after: dict[str, Delta]) -> list[Change]:
    """Returns the changes from some tables to others."""
    return [
        Change(name, weight, row)
        for name in TABLES
        for row, weight in add(after[name], negate(before[name])).items()
    ]


@quick
@given(plans(), data(), data())
def test_oracle_any_plan_over_any_changes(plan, one: Data, other: Data) -> None:
    lane, entries = Lane(), []

    def take(*new):
        entries.extend(new)
        first = len(entries) - len(new) + 1
        for change in lane.apply(list(enumerate(new, start=first))):
            assert change.error is None, change.error

    take(*(Declare(0.0, relation) for relation in RELATIONS), Register(0.0, "v", plan_text(plan)))
    nothing: dict[str, Delta] = {name: {} for name in TABLES}
    for row, at_s in one.arrivals:
        take(Transaction(at_s, (Change("s", 1, row),)))
    take(Tick(NOW_S))
    held = nothing
    for tables in (one.tables, other.tables, nothing, one.tables):
        # Row by row, inserts and deletes mixed as they come.
        for change in moves(held, tables):
            take(Transaction(NOW_S, (change,)))
        held = tables
        assert lane.rows("v") == Data(tables, one.arrivals).evaluate(plan)
    # All at once.
    take(Transaction(NOW_S, tuple(moves(held, other.tables))))
    assert lane.rows("v") == Data(other.tables, one.arrivals).evaluate(plan)
    assert Lane.restore(lane.snapshot()).rows("v") == lane.rows("v")
    whole = Lane()
    whole.apply(list(enumerate(entries, start=1)))
    assert whole.rows("v") == lane.rows("v")
