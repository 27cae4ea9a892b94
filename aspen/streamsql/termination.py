"""Termination analysis: costs grow under MIN, shrink under MAX, or are bounded.

Columns are followed from row to row: an edge leads from a recursive column to one computed from
it. New values can only arise for ever on a cycle of edges that computes something, other than one
of the values there are (`finite.py`). A cycle through a MIN must grow (through a MAX, shrink); any
other must stop at a bound (`WHERE w.hops < 10`), or one column must climb to a bound and end the
whole recursion, so that the others may then compute what they like (a path's text).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import networkx as nx
from sqlglot import exp

from aspen.algebra.expr import Col, Expr, columns_in
from aspen.algebra.plan import AggregateFunction, Best, Plan
from aspen.errors import Position
from aspen.model.schema import Column, Type
from aspen.streamsql.errors import NotMonotone, UnboundedRecursion, Unsupported
from aspen.streamsql.finite import chooses, is_bound, is_capped, is_listed, is_one_of_few
from aspen.streamsql.monotone import DOWN, UP, beyond, moves, side, strictly
from aspen.streamsql.positions import at, whole
from aspen.streamsql.reads import conditions_of
from aspen.streamsql.recursion_flow import Branch, branches

_MOST_LEVELS = 10_000
"""Ways to give each relation of a recursion a climbing column, ~10 us each."""

ColumnRef = tuple[str, int]
"""A column of a recursive relation: the relation and the column's index."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """One relation of a recursion whose steps are bound.

    Args:
        steps: each as text, without its aggregate, and bound.
    """

    name: str
    columns: tuple[Column, ...]
    best: Best | None
    steps: tuple[tuple[exp.Select, Plan], ...]


def check_termination(relations: Sequence[Derivation]) -> None:
    """Refuse a recursion that is not known to end.

    Raises:
        NotMonotone: MIN over what may shrink, MAX over what may grow, or a condition or key
            that a better cost could take back.
        UnboundedRecursion: new values without a bound.
        Unsupported: a NOT EXISTS that compares recursive columns by more than equality.
    """
    _Check(relations).run()


@dataclass(frozen=True, slots=True)
class _Edge:
    """A recursive column that another is computed from.

    Args:
        index: the computed column's.
        name: of the column it reads, in the branch.
    """

    branch: Branch
    index: int
    name: str

    @property
    def source(self) -> ColumnRef:
        return self.branch.recursive[self.name]

    @property
    def target(self) -> ColumnRef:
        return self.branch.relation, self.index

    @property
    def expr(self) -> Expr:
        return self.branch.outputs[self.index]


def _graph(edges: Iterable[_Edge]) -> nx.DiGraph[ColumnRef]:
    return nx.DiGraph((edge.source, edge.target) for edge in edges)


class _Check:
    def __init__(self, relations: Sequence[Derivation]) -> None:
        self.relations = {one.name: one for one in relations}
        self.branches = [
            branch
            for one in relations
            for step, plan in one.steps
            for branch in branches(one.name, step, plan)
        ]
        self.several = any(one.best is not None and one.best.more for one in relations)
        self.rising: dict[ColumnRef, bool] = {}
        for one in relations:
            for column, function in one.best.choices if one.best is not None else ():
                rises = function is AggregateFunction.MIN
                self.rising[one.name, self._index(one, column)] = rises
        self.edges = [
            _Edge(branch, index, name)
            for branch in self.branches
            for index, expr in enumerate(branch.outputs)
            for name in sorted(columns_in(expr) & branch.recursive.keys())
        ]
        self.flow = _graph(self.edges)
        self.flow.add_nodes_from(self.rising)
        self.costs = self._costs()

    @staticmethod
    def _index(one: Derivation, column: str) -> int:
        return [c.name for c in one.columns].index(column)

    def run(self) -> None:
        for branch in self.branches:
            for index, expr in enumerate(branch.outputs):
                self._check_output(branch, index, expr)
            self._check_conditions(branch)
            self._check_negations(branch)
        self._check_flow()
        self._check_choices()
        self._check_ends()

    # --- costs

    def _costs(self) -> dict[ColumnRef, bool]:
        """Returns every column that carries a cost from row to row, and whether it rises.

        What is derived from a cost may be beaten by a better one; it carries the cost on if it
        comes back to a MIN or MAX.
        """
        found: dict[ColumnRef, bool] = {}
        for cost, rising in self.rising.items():
            for ref in sorted({cost, *nx.descendants(self.flow, cost)}):
                known = self.rising.get(ref, found.get(ref, rising))
                if known is not rising:
                    raise self._refuse(
                        ref,
                        f"{ref[0]}.{self._spelt(ref)} would have to grow under MIN and to"
                        " shrink under MAX",
                    )
                found[ref] = rising
        return found

    def _spelt(self, ref: ColumnRef) -> str:
        return self.relations[ref[0]].columns[ref[1]].name

    def _refuse(self, ref: ColumnRef, message: str) -> NotMonotone:
        at = next((b.at(ref[1]) for b in self.branches if b.relation == ref[0]), None)
        return NotMonotone(
            message,
            position=at,
            found=self._spelt(ref),
            attempt="put the other use into the query that reads the recursive one",
        )

    def _check_output(self, branch: Branch, index: int, expr: Expr) -> None:
        """Refuse costs that shrink, and keys that a cost decides."""
        target = (branch.relation, index)
        best = self.relations[branch.relation].best
        carried = [
            name
            for name in sorted(columns_in(expr) & branch.recursive.keys())
            if branch.recursive[name] in self.costs
        ]
        if not carried:
            return
        rising = self.costs[branch.recursive[carried[0]]]
        function = "MIN" if rising else "MAX"
        if best is not None and target not in self.rising:
            raise NotMonotone(
                f"{self._spelt(branch.recursive[carried[0]])} decides a key of its own {function}",
                position=branch.at(index),
                found=self._spelt(branch.recursive[carried[0]]),
                attempt="keys must not depend on the cost",
            )
        comes_back = not self.rising.keys().isdisjoint({target, *nx.descendants(self.flow, target)})
        if not comes_back or all(moves(expr, name, rising=rising) for name in carried):
            return
        words = ("grow", "w.cost + e.length") if rising else ("shrink", "LEAST(w.width, e.width)")
        raise NotMonotone(
            f"{function}({self._spelt(target)}) inside recursion must not"
            f" {'shrink' if rising else 'grow'} from step to step, or a cycle would never end",
            position=branch.at(index),
            found=self._spelt(target),
            exists=(f"{words[1]}: it can only {words[0]}",),
            attempt="add a column or a non-negative number, or use GREATEST"
            if rising
            else "subtract a column or a non-negative number, or use LEAST",
        )

    def _check_conditions(self, branch: Branch) -> None:
        for name, ref in branch.recursive.items():
            if ref not in self.costs:
                continue
            allowed = UP if self.costs[ref] else DOWN
            reading = [p for p in branch.predicates if name in columns_in(p)]
            compared = any(name in found.reads for found in branch.negated)
            wrong = any(side(predicate, name) not in allowed for predicate in reading)
            if not (compared or wrong or (reading and self.several)):
                continue
            column = self._spelt(ref)
            step = branch.step
            raise NotMonotone(
                f"a condition on {column} could be true of a worse row and false of the better",
                position=_condition_at(step),
                found=column,
                exists=[f"{column} {symbol} …" for symbol in allowed] if not self.several else (),
                attempt="put the condition into the query that reads the recursive one",
            )

    def _check_flow(self) -> None:
        """Refuse rows that come and go with their cost, read without it where they lead back.

        A row of a relation under one MIN stays when its cost improves; one that hands a cost on,
        or is the best for one of several, does not: what it led to would take it away.
        """
        moving = {name for name, _ in self.costs if self.relations[name].best is None}
        if not moving and not self.several:
            return
        for branch in self.branches:
            costs = (e for n, e in enumerate(branch.outputs) if (branch.relation, n) in self.costs)
            made = frozenset[str]().union(*map(columns_in, costs))
            for relation, names in branch.reads:
                own = {n for index, n in enumerate(names) if (relation, index) in self.costs}
                if own & made:
                    continue
                changing = " and ".join(sorted(moving)) or relation
                raise NotMonotone(
                    f"a step of {branch.relation} reads {relation} without handing a cost on, in a"
                    f" cycle in which rows of {changing} come and go with theirs",
                    position=whole(branch.step),
                    found=relation,
                    attempt="let every relation of the cycle keep one MIN or MAX, or every step"
                    " hand the costs on",
                )

    def _check_choices(self) -> None:
        """Refuse costs that flow into one another: each must be the best by itself."""
        if not self.several:
            return
        near = self.flow.subgraph(self.costs).to_undirected()
        for part in sorted(nx.connected_components(near), key=min):
            chosen: dict[str, ColumnRef] = {}
            for ref in sorted(part & self.rising.keys()):
                other = chosen.setdefault(ref[0], ref)
                if other != ref:
                    message = f"{self._spelt(other)} and {self._spelt(ref)} depend on each other"
                    raise self._refuse(ref, message)

    # --- ends

    def _check_ends(self) -> None:
        """Refuse cycles of columns that compute new values without a bound."""
        free = [e for e in self.edges if e.target not in self.rising and not self._is_finite(e)]
        ended: bool | None = None
        for part in nx.strongly_connected_components(_graph(free)):
            inside = [edge for edge in free if edge.source in part and edge.target in part]
            computed = [edge for edge in inside if not chooses(edge.expr)]
            if not computed:
                continue
            ended = self._climbs() if ended is None else ended
            if not ended and not any(
                all(self._bounded(edge, rising=up) for edge in computed) for up in (True, False)
            ):
                raise self._unbounded(computed)

    def _type(self, ref: ColumnRef) -> Type:
        return self.relations[ref[0]].columns[ref[1]].type

    def _is_finite(self, edge: _Edge) -> bool:
        """Whether a column takes finitely many values, however many there are of what it reads."""
        known = is_listed(edge.branch.predicates, edge.name, self._type(edge.source))
        return known or is_one_of_few(edge.expr, self._type(edge.target))

    @staticmethod
    def _bounded(edge: _Edge, *, rising: bool) -> bool:
        """Whether a column only moves one way, and stops at a constant."""
        capped = is_capped(edge.expr, rising=rising)
        if capped is not None:
            return moves(capped, edge.name, rising=rising)
        allowed = UP if rising else DOWN
        return moves(edge.expr, edge.name, rising=rising) and any(
            (side(predicate, edge.name) in allowed and columns_in(predicate) == {edge.name})
            or is_bound(predicate, edge.expr, allowed)
            for predicate in edge.branch.predicates
        )

    def _unbounded(self, computed: list[_Edge]) -> UnboundedRecursion:
        free = [
            edge
            for edge in computed
            if not any(self._bounded(edge, rising=rising) for rising in (True, False))
        ]
        edge = (free or computed)[0]
        column, spoken = self._spelt(edge.target), edge.name.rpartition("/")[2]
        error = UnboundedRecursion(
            f"the step of {edge.branch.relation} may compute new values of {column!r} for ever",
            position=edge.branch.at(edge.index),
            found=column,
            exists=(f"WHERE {spoken} < 10", f"MIN(…) with GROUP BY for {column}"),
            attempt=f"bound it in the step: WHERE {spoken} < 10",
        )
        error.relation = edge.branch.relation
        return error

    def _climbs(self) -> bool:
        """Whether, along every derivation, one column takes finitely many values once each.

        Either a step adds a positive number to a whole number that it compares with a constant,
        or the column is another source's (so there are finitely many values) and compared with
        the own. With several relations, each has such a column.
        """
        names = list(self.relations)
        widths = [range(len(self.relations[name].columns)) for name in names]
        if prod(map(len, widths)) > _MOST_LEVELS:
            return False
        return any(
            all(self._further(branch, level, rising=rising) for branch in self.branches)
            for chosen in product(*widths)
            for level in [dict(zip(names, chosen, strict=True))]
            for rising in (True, False)
        )

    def _further(self, branch: Branch, level: dict[str, int], *, rising: bool) -> bool:
        """Whether a derived row is further than every row it is derived from."""
        expr = branch.outputs[level[branch.relation]]
        return all(
            self._climbing(branch, expr, relation, names[level[relation]], level, rising=rising)
            for relation, names in branch.reads
        )

    def _climbing(
        self,
        branch: Branch,
        expr: Expr,
        relation: str,
        name: str,
        level: dict[str, int],
        *,
        rising: bool,
    ) -> bool:
        if isinstance(expr, Col) and expr.name not in branch.recursive:
            return any(beyond(p, expr.name, name, rising=rising) for p in branch.predicates)
        # A large FLOAT swallows the 1 that is added to it.
        whole = self.relations[relation].columns[level[relation]].type is Type.INT
        return (
            whole
            and strictly(expr, name, rising=rising)
            and any(
                side(p, name) in (UP if rising else DOWN) and columns_in(p) == {name}
                for p in branch.predicates
            )
        )

    # --- negation

    def _check_negations(self, branch: Branch) -> None:
        """Refuse NOT EXISTS that compares recursive columns by more than equality."""
        for found in branch.negated:
            sources = {name.rpartition(".")[0] for name in found.reads}
            recursive = not branch.recursive.keys().isdisjoint(found.reads)
            if not found.plain and (recursive or len(sources) > 1):
                step = branch.step
                raise Unsupported(
                    f"NOT EXISTS in the step of {branch.relation} compares several sources, or"
                    " recursive columns, by more than =",
                    position=_condition_at(step),
                    found="NOT EXISTS",
                    attempt="let what must not exist be a CTE or view that has these columns",
                )


def _condition_at(step: exp.Select) -> Position:
    """Returns where the conditions of a step begin."""
    first = next(conditions_of(step), None)
    return whole(step) if first is None else at(first)
