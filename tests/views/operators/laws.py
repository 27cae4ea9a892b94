"""The laws every operator keeps by itself, over bags of rows that come and go.

incremental   after every change the rows are those from scratch
order         one by one, all at once and shuffled give the same rows
inverse       what came and went leaves nothing behind, in the operators' memory either
restart       a lane read back from its snapshot has the same rows
"""

from __future__ import annotations

import random as randomness
from collections import deque
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from views import small_world as world

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import Plan
from aspen.log.entry import Change, Declare, Entry, Register, Transaction
from aspen.model.delta import Delta
from aspen.model.schema import Row
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query
from aspen.views.circuit import Circuit
from aspen.views.node import Node
from tests.oracle import evaluate

Tables = dict[str, Delta]
Move = tuple[str, Row, int]

quick = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
shuffles = st.randoms(use_true_random=False)

_STRUCTURE = ("inputs", "consumers", "identity", "delta", "arrangements", "support")


def histories(*relations: str) -> st.SearchStrategy[list[Tables]]:
    """Returns what some relations hold, state after state; a row may be there twice."""
    bags = {
        name: st.dictionaries(world.rows[name], st.integers(1, 2), max_size=6) for name in relations
    }
    return st.lists(st.fixed_dictionaries(bags), min_size=1, max_size=4)


def compiled(sql: str) -> Plan:
    """Returns a query's plan over the small world."""
    return compile_query(sql, world.CATALOG).plan


class Bench:
    """One lane with one view, `v`."""

    def __init__(self, plan: Plan, strategy: str = "justification") -> None:
        self.plan = plan
        self.lane = Lane()
        self.take(*(Declare(0.0, relation) for relation in world.BASE))
        self.take(Register(0.0, "v", plan_text(plan), strategy))
        self.at_first = weight(self.lane.circuit)

    def take(self, *entries: Entry) -> None:
        first = self.lane.position + 1
        for change in self.lane.apply(list(enumerate(entries, start=first))):
            assert change.error is None, change.error

    def change(self, *moves: Move) -> None:
        changes = tuple(
            Change(name, 1 if times > 0 else -1, row)
            for name, row, times in moves
            for _ in range(abs(times))
        )
        self.take(Transaction(1.0, changes))

    def rows(self) -> Delta:
        return self.lane.rows("v")

    def nodes(self, kind: type[Node]) -> list[Node]:
        """The circuit's operators of one kind."""
        return [node for node in self.lane.circuit._known.values() if type(node) is kind]


def moves(now: Tables, wanted: Tables) -> list[Move]:
    """Returns what leads from some tables to others."""
    return [
        (name, row, wanted[name].get(row, 0) - now[name].get(row, 0))
        for name in now
        for row in sorted({**now[name], **wanted[name]}, key=repr)
        if wanted[name].get(row, 0) != now[name].get(row, 0)
    ]


def weight(circuit: Circuit) -> int:
    """Count the entries in all containers of all operators."""
    nodes: list[Node] = [*circuit.sources.values(), *circuit._known.values()]
    return sum(_entries(value) for node in nodes for value in _state(node))


def _state(node: Node) -> list[Any]:
    own = [value for name, value in vars(node).items() if name not in _STRUCTURE]
    return [*own, *(arrangement.index for arrangement in node.arrangements.values())]


def _entries(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(_entries(inner) for inner in value.values())
    if isinstance(value, list | set | deque):
        return len(value) + sum(_entries(inner) for inner in value)
    return 0


def check(
    kind: type[Node],
    sql: str,
    states: list[Tables],
    random: randomness.Random,
    strategy: str = "justification",
) -> None:
    """Hold one operator, within the smallest query that needs it, to the laws above."""
    plan = compiled(sql)
    single, whole = Bench(plan, strategy), Bench(plan, strategy)
    assert single.nodes(kind), f"{sql} needs no {kind.__name__}"
    nothing: Tables = {name: {} for name in states[0]}
    now = nothing
    for wanted in [*states, nothing]:
        steps = moves(now, wanted)
        whole.change(*steps)
        random.shuffle(steps)
        held = {name: dict(rows) for name, rows in now.items()}
        for name, row, times in steps:
            single.change((name, row, times))
            held[name][row] = held[name].get(row, 0) + times
            if not held[name][row]:
                del held[name][row]
            assert single.rows() == evaluate(plan, held)
        now = wanted
        assert whole.rows() == single.rows()
        assert Lane.restore(single.lane.snapshot()).rows("v") == single.rows()
    assert weight(single.lane.circuit) == weight(whole.lane.circuit) == single.at_first
