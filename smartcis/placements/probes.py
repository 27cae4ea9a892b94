"""Probes: what share of the rows passes the selections inside a piece, counted in the tree.

Once a join runs inside the network its rows no longer come by, and nobody would notice that
it pays no longer. So the motes count those that pass, now and then: one partial record each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from aspen.algebra.explain import expr_text
from aspen.algebra.expr import Expr, conjuncts
from aspen.algebra.plan import (
    Aggregate,
    AggregateFunction,
    Filter,
    GroupBy,
    Plan,
    Scan,
    Window,
    children,
)
from aspen.errors import AspenError
from aspen.model.schema import Column, Type
from federation.statistics import by_stream
from sensors_sim.innet.compile import Fragment
from sensors_sim.innet.gateway import QueryHandle
from sensors_sim.sensor_network import SensorNetwork

LEAST_PERIOD_S = 30.0
EPOCHS = 4  # of the piece between two counts
COUNTED = (Aggregate(AggregateFunction.COUNT, None, Column("n", Type.INT)),)


@dataclass(frozen=True, slots=True)
class ProbedSelection:
    """A predicate over one device stream.

    Args:
        text: with the stream's name for the query's alias, so that it holds in every query.
    """

    text: str
    scan: Scan
    predicate: Expr


def selections(plan: Plan) -> Iterator[ProbedSelection]:
    """Every predicate a plan puts on the rows of one scan, whole and conjunct by conjunct."""
    if isinstance(plan, Filter):
        below = plan.child
        while isinstance(below, Filter | Window):
            below = below.child
        if isinstance(below, Scan) and below.stream:
            parts = conjuncts(plan.predicate)
            for one in dict.fromkeys((plan.predicate, *parts)):
                text = expr_text(by_stream(one, {below.alias: below.relation}))
                yield ProbedSelection(text, below, one)
    for child in children(plan):
        yield from selections(child)


class Probes:
    """The counts that accompany pieces."""

    def __init__(self, network: SensorNetwork) -> None:
        self._network = network
        self._handles: dict[str, dict[str, QueryHandle]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._handles

    def begin(self, name: str, plan: Plan, period_s: float) -> None:
        """Starts the counts of a piece on the motes."""
        handles = self._handles[name] = {}
        probing_s = max(LEAST_PERIOD_S, EPOCHS * period_s)
        for one in selections(plan):
            if one.text in handles:
                continue
            counting = GroupBy(Filter(one.scan, one.predicate), (), COUNTED)
            try:
                handles[one.text] = self._network.deploy(Fragment(counting, probing_s))
            except AspenError:
                continue  # what motes cannot compute is not selected there either

    def take(self, name: str) -> Mapping[str, float]:
        """Returns the shares counted since the last time, by predicate."""
        found = {}
        for text, handle in self._handles.get(name, {}).items():
            answers = handle.take()
            if answers and answers[-1].expected:
                newest = answers[-1]
                passed = newest.rows[0][0] if newest.rows else 0
                assert isinstance(passed, int)
                found[text] = passed / newest.expected
        return found

    def handles(self, name: str) -> list[QueryHandle]:
        """Returns what counts for a piece."""
        return list(self._handles.get(name, {}).values())

    def end(self, name: str) -> None:
        """Ends the counts of a piece."""
        for handle in self._handles.pop(name, {}).values():
            self._network.remove(handle)
