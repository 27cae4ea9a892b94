"""The and-or graph of a region: what brings its relations to the engine, and who joins them.

Properties are `at engine` (it is there), `made engine` (the last join ran there, or a relation is
the engine's) and `made sensors` (an access). `at` stands on `made`, `made` on `at` of smaller sets.

What a set of relations gives depends on the set alone, never on the plan, so a cheaper way to it is
as good in every plan above. Waiting adds up over operators, though two children may wait side by
side: a bound from above.

Source: System R's shares; within a class of equal columns, one over every count of rows but the
    least [Selinger et al., SIGMOD 1979].
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from functools import cache, reduce

from aspen.effort import spend
from federation.search.problem import Access, JoinProblem
from federation.search.space import SCAN, And, Node
from federation.search.splits import join_graph

MICRO = 1_000_000
"""Costs of the search are whole, so that sums compare exactly: so many to one of the metric."""
ROW_US = 5.0  # own guess: the engine's time for one row touched; ±50 %
AT, MADE, SENT = "at engine", "made engine", "made sensors"
_STEPS = 3  # what costing one join takes, in the steps of `aspen.effort`
FETCH = "fetch"
"""The logical operator that takes what an access brings, as if it were the relations' join."""


class JoinSpace:
    """The `Space` of a region."""

    def __init__(self, problem: JoinProblem) -> None:
        thetas = sorted(problem.thetas, key=lambda o: (*sorted((o.left, o.right)), o.share))
        joined = [*problem.classes, *((one.left, one.right) for one in thetas)]
        self._members = {one.alias: one for one in problem.members}
        self._graph = join_graph(frozenset(self._members), tuple(map(frozenset, joined)))
        self._metric = problem.metric
        self._thetas = [(self._graph.set_of((o.left, o.right)), o.share) for o in thetas]
        self._classes = problem.classes
        self._sets = {self._graph.name(m): m for m in self._graph.sets}
        self._accesses = {one.name: one for one in problem.accesses}
        self._brings: dict[str, list[Access]] = defaultdict(list)
        for one in sorted(problem.accesses, key=lambda access: access.name):
            self._brings["+".join(one.aliases)].append(one)
        self._flow = cache(self._estimated)
        self.ways = cache(self._ways)

    @property
    def goal(self) -> Node:
        """The whole query, in the engine."""
        return self._graph.name(self._graph.everything), AT

    def _ways(self, node: Node) -> tuple[And, ...]:
        """Returns the fetches, joins and scans that lead to an OR node."""
        expr, prop = node
        if expr in self._accesses:
            return (And(expr, SENT, 0, SCAN, "fragment"),) if prop == SENT else ()
        return tuple(sorted(self._brought(expr) if prop == AT else self._made(expr)))

    def _brought(self, expr: str) -> Iterator[And]:
        for index, one in enumerate(self._brings.get(expr, ()), start=1):
            yield And(expr, AT, index, FETCH, one.name, one.name, SENT)
        if expr not in self._members or not self._members[expr].comes:
            yield And(expr, AT, 0, "stay", "here", expr, MADE)

    def _made(self, expr: str) -> Iterator[And]:
        if expr in self._members:
            if not self._members[expr].comes:
                yield And(expr, MADE, 0, SCAN, "plain")
            return
        for index, (one, other) in enumerate(sorted(self._graph.halves(self._sets[expr])), start=1):
            if one < other:
                left, right = self._graph.name(one), self._graph.name(other)
                yield And(expr, MADE, index, "join", "natural", left, AT, right, AT)

    def cost(self, way: And) -> int:
        """Returns the cost of an operator alone: an access, rows that are read or joined."""
        if way.expr in self._accesses:
            return round(self._metric.total(self._accesses[way.expr].cost) * MICRO)
        if way.log in (FETCH, "stay"):
            return 0
        spend(_STEPS, "an order of joins")
        touched = sum(self._flow(expr)[1] for expr, _ in way.children)
        touched += self._flow(way.expr)[1]
        return round(self._metric.cpu * (touched * ROW_US / 1000) * MICRO)

    def upwards(self) -> Iterator[Node]:
        """Returns every access, then every set, made before at."""
        yield from ((name, SENT) for name in self._accesses)
        yield from ((expr, prop) for expr in self._sets for prop in (MADE, AT))

    def _estimated(self, expr: str) -> tuple[float, float]:
        """Returns the rows that a set of relations gives, and those that come per second."""
        m = self._sets[expr]
        held = [self._members[alias] for alias in self._graph.members(m)]
        kept = math.prod(share for pair, share in self._thetas if pair & m == pair)
        for aliases in self._classes:
            kept /= math.prod(sorted(one.rows for one in held if one.alias in aliases)[1:])
        rows = reduce(lambda product, one: product * one.rows, held, kept)
        return rows, math.fsum(one.rate_hz * rows / one.rows for one in held)
