"""Short ways to a lane for tests."""

from __future__ import annotations

from collections.abc import Iterable

from views import small_world as world

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import relations_of
from aspen.log.entry import Change, Declare, Entry, Register, Tick, Transaction
from aspen.model.schema import Row
from aspen.results.protocol import ViewChange
from aspen.runtime.lane import Lane
from aspen.views.operators.fixpoint import FixpointOperator
from aspen.views.operators.support.absorption import Absorption
from aspen.views.operators.traversal import Traversal

COLLECTIONS = (dict, list, set)


def closure(views: Iterable[str]) -> set[str]:
    """Returns the views and all views they read."""
    found: set[str] = set()
    names = list(views)
    while names:
        name = names.pop()
        if name in world.VIEWS and name not in found:
            found.add(name)
            names += relations_of(world.VIEWS[name].plan)
    return found


class Driver:
    """A lane with views of the small world, fed without counting positions."""

    def __init__(self, *views: str, strategy: str = "absorption-lazy") -> None:
        self.lane = Lane()
        self.take(*(Declare(0.0, relation) for relation in world.BASE))
        wanted = [view for view in world.VIEWS if view in closure(views)]
        self.take(*(Register(0.0, v, plan_text(world.VIEWS[v].plan), strategy) for v in wanted))

    def take(self, *entries: Entry) -> list[ViewChange]:
        first = self.lane.position + 1
        return self.lane.apply(list(enumerate(entries, start=first)))

    def change(self, *changes: tuple[str, int, Row], at_s: float = 1.0) -> list[ViewChange]:
        return self.take(Transaction(at_s, tuple(Change(*change) for change in changes)))

    def insert(self, relation: str, rows: Iterable[Row]) -> list[ViewChange]:
        return self.change(*((relation, 1, row) for row in rows))

    def delete(self, relation: str, rows: Iterable[Row]) -> list[ViewChange]:
        return self.change(*((relation, -1, row) for row in rows))

    def tick(self, at_s: float) -> list[ViewChange]:
        return self.take(Tick(at_s))

    def rows(self, view: str) -> set[Row]:
        rows = self.lane.rows(view)
        assert set(rows.values()) <= {1}
        return set(rows)

    def fixpoint(self, view: str) -> FixpointOperator | Traversal:
        node = self.lane.views.by_name[view].node
        while not isinstance(node, FixpointOperator | Traversal):
            (node,) = node.inputs
        return node


def assert_empty(fixpoint: FixpointOperator | Traversal) -> None:
    """Nothing is remembered of rows that came and went."""
    if isinstance(fixpoint, Traversal):
        assert not fixpoint._layers
        assert not fixpoint._begun
        assert not fixpoint._table._numbers
        for names in (fixpoint._invariant, fixpoint._vertices):
            assert not any(vars(names).values()), vars(names)
        return
    assert not fixpoint.groups
    assert not any(left for step in fixpoint._steps for left in getattr(step, "left", ()))
    assert not any(one.index for many in fixpoint.relations for one in many.indexes.values())
    support = fixpoint.support
    if isinstance(support, Absorption):
        manager = support.index.manager
        assert len(support.index) == 0
        assert manager.live_variables() == 0
        assert support.index.entries() == 0
        assert manager.live_nodes() <= 1
        assert not support._owners
        assert not support.variables
        assert not support.held
    held = {name: value for name, value in vars(support).items() if isinstance(value, COLLECTIONS)}
    assert not any(held.values()), held
