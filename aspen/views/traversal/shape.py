"""Shape: whether a recursion is a graph traversal, and what of its rows does which part.

    reach(src, dst) :- link(src, dst)                          way(origin, node, cost)
    reach(src, dst) :- reach(src, at), link(at, dst)           invariant vertex  cost
          invariant vertex                                               + length of each edge

A traversal goes from a row to the next by an edge: the *invariant* columns stay, the *vertex*
columns are those of the edge's end, and a minimised *cost* grows by the edge's length, or to it
(`greatest`); a maximised one shrinks to it (`least`), which is the same with signs turned. Rows of
different invariant values have nothing to do with one another. Conditions on edges alone select
edges; those on invariant truth values (`NOT step_free OR edge is step-free`) make a layer each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from aspen.algebra.edge_rule import EdgeRule
from aspen.algebra.expr import Col, Expr, columns_in, conjunction, substitute
from aspen.algebra.joined import joined
from aspen.algebra.linearise import linearise
from aspen.algebra.plan import AggregateFunction, Fixpoint, Plan, Project, Union
from aspen.algebra.renaming import renamed
from aspen.model.schema import Column, Type
from aspen.views.node import Indices


@dataclass(frozen=True, slots=True)
class TraversalShape:
    """A recursion as a traversal.

    Args:
        base: the rows traversals begin with.
        edges: columns `from…`, `to…`, then `length` where there is a cost, then what `passes`
            reads of the edge.
        invariant: indices of the invariant columns in the view's rows.
        vertex: indices of the columns an edge changes.
        cost: index of the cost; None where every row counts.
        adds: whether an edge's length is added to the cost; otherwise the greater of both counts.
        sign: -1 where the cost is maximised.
        layer: indices, among the invariant columns, of those that `passes` reads.
        passes: over the layer's columns and the last of the edge's; None where all edges do.
        names: of the layer's columns, as `passes` spells them.
        edge_names: of the edge's columns, as `passes` spells them.
    """

    base: Plan
    edges: Plan
    invariant: Indices
    vertex: Indices
    cost: int | None
    adds: bool
    sign: int
    layer: Indices
    passes: Expr | None
    names: tuple[str, ...]
    edge_names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Step:
    """One rule of the recursion, as edges."""

    edges: Plan
    adds: bool
    passes: Expr | None


def traversal_shape(plan: Fixpoint) -> TraversalShape | None:
    """Reads a recursion as a traversal; None where it is none."""
    cost = _cost(plan)
    if plan.others or (plan.best is not None and cost is None):
        return None
    taken = linearise(plan.step, (plan.name,))
    rules = [rule for rule in map(EdgeRule.of, taken.rules) if rule is not None]
    if not rules or len(rules) < len(taken.rules):
        return None
    indices = [index for index in range(len(plan.columns)) if index != cost]
    stays = frozenset(indices).intersection(*(rule.invariant() for rule in rules))
    invariant = tuple(index for index in indices if index in stays)
    vertex = tuple(index for index in indices if index not in stays)
    booleans = tuple(index for index in invariant if plan.columns[index].type is Type.BOOL)
    steps = [_step(rule, plan, vertex, cost, booleans) for rule in rules]
    made = [step for step in steps if step is not None]
    if (
        not vertex
        or len(made) < len(steps)
        or len({step.adds for step in made}) != 1
        or (len(made) > 1 and any(step.passes for step in made))
    ):
        return None
    passes = made[0].passes
    read = columns_in(passes)
    layer = tuple(index for index in booleans if rules[0].own[index] in read)
    edges = made[0].edges.columns
    return TraversalShape(
        _united([plan.base, *(renamed(part, plan.columns) for part in taken.flat)]),
        _united([renamed(step.edges, edges) for step in made]),
        invariant,
        vertex,
        cost,
        made[0].adds,
        -1 if plan.best is not None and plan.best.function is AggregateFunction.MAX else 1,
        tuple(invariant.index(index) for index in layer),
        passes,
        tuple(rules[0].own[index] for index in layer),
        tuple(column.name for column in edges),
    )


def _united(plans: Sequence[Plan]) -> Plan:
    return plans[0] if len(plans) == 1 else Union(tuple(plans))


def _cost(plan: Fixpoint) -> int | None:
    """Returns the index of the selected column, if the others are the group."""
    best = plan.best
    names = [column.name for column in plan.columns]
    if best is None or best.more or {*best.keys, best.column} != {*names}:
        return None
    cost = names.index(best.column)
    return cost if plan.columns[cost].type.numeric else None


def _step(
    rule: EdgeRule, plan: Fixpoint, vertex: Indices, cost: int | None, booleans: Indices
) -> _Step | None:
    """Returns a rule as edges; None where a part of it is more than a step along one."""
    outputs: list[Expr] = [rule.block.outputs[index] for index in vertex]
    if any(rule.recursive(expr) for expr in outputs):
        return None
    adds = True
    if cost is not None and plan.best is not None:
        minimised = plan.best.function is AggregateFunction.MIN
        how, length = rule.length(cost) or ("", Col(""))
        if how not in (("+", "greatest") if minimised else ("least",)):
            return None
        adds = how == "+"
        outputs.append(length)
    begins, others = rule.begins(vertex)
    if len(begins) < len(vertex):
        return None
    of_edges = {
        name: column
        for number in rule.rest
        for name, column in zip(
            rule.block.names(number), rule.block.inputs[number].plan.columns, strict=True
        )
    }
    # Where the edge begins the row stands, so conditions are restated over the edge.
    same = {
        rule.own[index]: begin
        for index, begin in begins.items()
        if isinstance(begin, Col) and of_edges[begin.name].type is plan.columns[index].type
    }
    conditions = [substitute(condition, same) for condition in others]
    ours = [condition for condition in conditions if rule.recursive(condition)]
    layers = frozenset(rule.own[index] for index in booleans)
    if any(not rule.recursive(condition) <= layers for condition in ours):
        return None
    passes = conjunction(ours)
    extra = [_named(c, name) for name, c in of_edges.items() if name in columns_in(passes)]
    ends = [plan.columns[index] for index in vertex]
    columns = [
        *(_named(c, f"from{n}") for n, c in enumerate(ends)),
        *(_named(c, f"to{n}") for n, c in enumerate(ends)),
        *([] if cost is None else [_named(plan.columns[cost], "length")]),
        *extra,
    ]
    starts = [begins[index] for index in vertex]
    computed = (*starts, *outputs, *(Col(column.name) for column in extra))
    sides = [
        renamed(one.plan, tuple(_named(of_edges[n], n) for n in rule.block.names(number)))
        for number, one in enumerate(rule.block.inputs)
        if number != rule.reads
    ]
    edges = Project(
        joined(sides, [c for c in conditions if not rule.recursive(c)]),
        tuple(zip(columns, computed, strict=True)),
    )
    return _Step(edges, adds, passes)


def _named(column: Column, name: str) -> Column:
    return replace(column, name=name, nullable=False)
