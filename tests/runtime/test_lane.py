"""Lane: laws of the whole engine on random histories, against the oracle."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from views import small_world as world

from aspen.algebra.explain import plan_text
from aspen.model.delta import Delta, merge
from aspen.results.protocol import ViewChange
from aspen.runtime.lane import Lane

slow = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)


class Log:
    """Entries with positions."""

    def __init__(self) -> None:
        self.entries = []

    def add(self, entries):
        new = [(len(self.entries) + n + 1, entry) for n, entry in enumerate(entries)]
        self.entries += new
        return new


def fold(into: dict[str, Delta], changes: list[ViewChange]) -> None:
    for change in changes:
        assert change.error is None, change.error
        assert all(change.delta.values())
        if change.closed:
            into.pop(change.view, None)
        merge(into.setdefault(change.view, {}), change.delta)


def begun(log: Log, lane: Lane) -> list[ViewChange]:
    changes = lane.apply(log.add(world.declarations()))
    return changes + lane.apply(log.add(world.registrations(plan_text)))


@slow
@given(world.histories)
def test_oracle_incremental_equals_from_scratch_after_every_epoch(history) -> None:
    log, lane, model, held = Log(), Lane(), world.Model(), {}
    fold(held, begun(log, lane))
    for epoch in history:
        entries = [entry for operation in epoch for entry in model.entries(operation)]
        fold(held, lane.apply(log.add(entries)))
        for view, rows in model.answers().items():
            assert lane.rows(view) == rows, view
            assert held[view] == rows, view


@slow
@given(world.histories, st.data())
def test_differential_cutting_and_restarting_do_not_show(history, data) -> None:
    log, lane, model, held = Log(), Lane(), world.Model(), {}
    fold(held, begun(log, lane))
    for epoch in history:
        for operation in epoch:
            fold(held, lane.apply(log.add(model.entries(operation))))
        if data.draw(st.booleans(), label="restart"):
            lane = Lane.restore(lane.snapshot())
    whole, folded = Lane(), {}
    fold(folded, whole.apply(log.entries))
    assert whole.position == lane.position
    for view in world.VIEWS:
        assert whole.rows(view) == lane.rows(view) == held[view] == folded[view], view


@slow
@given(world.histories)
def test_registering_late_equals_registering_early(history) -> None:
    log, early, model = Log(), Lane(), world.Model()
    begun(log, early)
    for epoch in history:
        for operation in epoch:
            early.apply(log.add(model.entries(operation)))
    late = Lane()
    declared, registered, rest = (
        log.entries[: len(world.BASE)],
        log.entries[len(world.BASE) : len(world.BASE) + len(world.VIEWS)],
        log.entries[len(world.BASE) + len(world.VIEWS) :],
    )
    order = [entry for _, entry in [*declared, *rest, *registered]]
    late.apply(list(enumerate(order, start=1)))
    for view in world.VIEWS:
        assert late.rows(view) == early.rows(view), view
