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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aspen.algebra.expr import Call, Col, Expr, Op, columns_in, conjunction, substitute
from aspen.algebra.linearise import Rule, linearise, names_of
from aspen.algebra.plan import (
    AggregateFunction,
    Best,
    Filter,
    Fixpoint,
    Join,
    Plan,
    Project,
    Union,
)
from aspen.algebra.renaming import renamed
from aspen.model.schema import Column, Type
from aspen.views.node import Places


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
    invariant: Places
    vertex: Places
    cost: int | None
    adds: bool
    sign: int
    layer: Places
    passes: Expr | None
    names: tuple[str, ...]
    edge_names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Step:
    """One rule of the recursion, as edges."""

    edges: Plan
    adds: bool
    passes: Expr | None
    extra: tuple[Column, ...]


def traversal_shape(plan: Fixpoint) -> TraversalShape | None:
    """Reads a recursion as a traversal; None where it is none."""
    if plan.others:
        return None
    cost = _cost(plan)
    if plan.best is not None and cost is None:
        return None
    step = linearise(plan.step, (plan.name,))
    rules = [_known(rule) for rule in step.rules]
    if not rules or None in rules:
        return None
    found = [rule for rule in rules if rule is not None]
    width = len(plan.columns)
    invariant = tuple(
        i
        for i in range(width)
        if i != cost and all(rule.outputs[i] == Col(rule.own[i]) for rule in found)
    )
    vertex = tuple(i for i in range(width) if i not in invariant and i != cost)
    booleans = tuple(i for i in invariant if plan.columns[i].type is Type.BOOL)
    steps = [_step(rule, plan, vertex, cost, booleans) for rule in found]
    if (
        not vertex
        or None in steps
        or len({s.adds for s in steps if s}) != 1
        or (len(steps) > 1 and any(s and s.passes for s in steps))
    ):
        return None
    edges = [one.edges for one in steps if one is not None]
    passes = steps[0].passes if steps[0] is not None else None
    layer: Places = ()
    names: tuple[str, ...] = ()
    if passes is not None and steps[0] is not None:
        read = columns_in(passes)
        layer = tuple(i for i in booleans if found[0].own[i] in read)
        names = tuple(found[0].own[i] for i in layer)
    base = [plan.base, *(renamed(part, plan.columns) for part in step.flat)]
    return TraversalShape(
        base[0] if len(base) == 1 else Union(tuple(base)),
        edges[0] if len(edges) == 1 else Union(tuple(renamed(e, edges[0].columns) for e in edges)),
        invariant,
        vertex,
        cost,
        all(one is not None and one.adds for one in steps),
        -1 if plan.best is not None and plan.best.function is AggregateFunction.MAX else 1,
        tuple(invariant.index(i) for i in layer),
        passes,
        names,
        tuple(column.name for column in edges[0].columns),
    )


def _cost(plan: Fixpoint) -> int | None:
    """Returns the index of the selected column, if the others are the group."""
    best: Best | None = plan.best
    if best is None or best.more:
        return None
    names = [column.name for column in plan.columns]
    if {*best.keys, best.column} != {*names}:
        return None
    cost = names.index(best.column)
    return cost if plan.columns[cost].type.numeric else None


@dataclass(frozen=True, slots=True)
class _Known:
    """A rule with one recursive atom.

    Args:
        own: names of the recursive atom's columns.
        rest: numbers of the other atoms.
    """

    rule: Rule
    own: tuple[str, ...]
    rest: tuple[int, ...]

    @property
    def outputs(self) -> tuple[Expr, ...]:
        return self.rule.outputs

    def recursive(self, expr: Expr) -> frozenset[str]:
        return columns_in(expr) & frozenset(self.own)


def _known(rule: Rule) -> _Known | None:
    recursive = [number for number, atom in enumerate(rule.atoms) if atom.recursive]
    if len(recursive) != 1 or any(atom.negated for atom in rule.atoms) or len(rule.atoms) == 1:
        return None
    rest = tuple(number for number in range(len(rule.atoms)) if number != recursive[0])
    return _Known(rule, names_of(rule, recursive[0]), rest)


def _step(
    known: _Known, plan: Fixpoint, vertex: Places, cost: int | None, booleans: Places
) -> _Step | None:
    """Returns a rule as edges; None where a part of it is more than a step along one."""
    outputs: list[Expr] = [known.outputs[i] for i in vertex]
    if any(known.recursive(expr) for expr in outputs):
        return None
    adds = True
    if cost is not None and plan.best is not None:
        length, adds = _length(known, cost, plan.best.function)
        if length is None:
            return None
        outputs.append(length)
    begins, conditions = _begins(known, plan, vertex)
    if begins is None:
        return None
    invariant = frozenset(known.own[i] for i in booleans)
    ours = [c for c in conditions if known.recursive(c)]
    if any(not known.recursive(c) <= invariant for c in ours):
        return None
    passes = conjunction(ours)
    extra = _columns(known, passes)
    plan_columns = [plan.columns[i] for i in vertex]
    columns = [
        *(_named(c, f"from{n}") for n, c in enumerate(plan_columns)),
        *(_named(c, f"to{n}") for n, c in enumerate(plan_columns)),
        *([] if cost is None else [_named(plan.columns[cost], "length")]),
        *extra,
    ]
    joined = _joined(known, [c for c in conditions if not known.recursive(c)])
    computed = (*begins, *outputs, *(Col(column.name) for column in extra))
    edges = Project(joined, tuple(zip(columns, computed, strict=True)))
    return _Step(edges, adds, passes, extra)


def _length(known: _Known, cost: int, function: AggregateFunction) -> tuple[Expr | None, bool]:
    """What an edge does to the cost, and whether by adding; None where it is no such thing."""
    expr, own = known.outputs[cost], Col(known.own[cost])
    minimised = function is AggregateFunction.MIN
    if minimised and isinstance(expr, Op) and expr.symbol == "+":
        for one, other in ((expr.left, expr.right), (expr.right, expr.left)):
            if one == own and not known.recursive(other):
                return other, True
    if isinstance(expr, Call) and expr.function == ("greatest" if minimised else "least"):
        others = tuple(one for one in expr.arguments if one != own)
        alone = len(others) == len(expr.arguments) - 1 and len(others) == 1
        if alone and not known.recursive(others[0]):
            return others[0], False
    return None, True


def _begins(known: _Known, plan: Fixpoint, vertex: Places) -> tuple[list[Expr] | None, list[Expr]]:
    """Returns where edges begin, and the other conditions, over the edge as far as can be."""
    found: dict[str, Expr] = {}
    others: list[Expr] = []
    names = {known.own[i]: plan.columns[i] for i in vertex}
    for condition in known.rule.conditions:
        pair = _equal(known, condition, names)
        if pair is not None and pair[0] not in found:
            found[pair[0]] = pair[1]
        else:
            others.append(condition)
    if len(found) < len(names):
        return None, others
    types = {c.name: c.type for n in known.rest for c in _atom_columns(known.rule, n)}
    same = {
        name: begin
        for name, begin in found.items()
        if isinstance(begin, Col) and types[begin.name] is names[name].type
    }
    return list(found.values()) and [found[known.own[i]] for i in vertex], [
        substitute(condition, same) for condition in others
    ]


def _equal(known: _Known, condition: Expr, names: Iterable[str]) -> tuple[str, Expr] | None:
    if not isinstance(condition, Op) or condition.symbol != "=":
        return None
    for one, other in (
        (condition.left, condition.right),
        (condition.right, condition.left),
    ):
        if isinstance(one, Col) and one.name in names and not known.recursive(other):
            return (one.name, other) if columns_in(other) else None
    return None


def _columns(known: _Known, passes: Expr | None) -> tuple[Column, ...]:
    """Returns the edge's columns a condition reads."""
    read = columns_in(passes)
    return tuple(
        column
        for number in known.rest
        for column in _atom_columns(known.rule, number)
        if column.name in read
    )


def _atom_columns(rule: Rule, number: int) -> tuple[Column, ...]:
    names = names_of(rule, number)
    return tuple(
        _named(column, name)
        for column, name in zip(rule.atoms[number].plan.columns, names, strict=True)
    )


def _named(column: Column, name: str) -> Column:
    return Column(name, column.type, column.unit)


def _joined(known: _Known, conditions: Sequence[Expr]) -> Plan:
    """Join the atoms beside the recursive one, each on what it shares with those before it."""
    rule = known.rule
    left, *waiting = known.rest
    plan: Plan = renamed(rule.atoms[left].plan, _atom_columns(rule, left))
    untested = list(conditions)
    while waiting:
        have = {column.name for column in plan.columns}
        number = next((n for n in waiting if _pairs(rule, n, have, untested)), waiting[0])
        pairs = _pairs(rule, number, have, untested)
        untested = [c for c in untested if c not in pairs]
        waiting.remove(number)
        side = renamed(rule.atoms[number].plan, _atom_columns(rule, number))
        plan = Join(plan, side, tuple(pairs.values()))
    condition = conjunction(untested)
    return plan if condition is None else Filter(plan, condition)


def _pairs(
    rule: Rule, number: int, have: set[str], conditions: Sequence[Expr]
) -> dict[Expr, tuple[str, str]]:
    """Returns the conditions that equate a column there is with one of an atom."""
    own = set(names_of(rule, number))
    found: dict[Expr, tuple[str, str]] = {}
    for condition in conditions:
        if not isinstance(condition, Op) or condition.symbol != "=":
            continue
        for one, other in (
            (condition.left, condition.right),
            (condition.right, condition.left),
        ):
            if not isinstance(one, Col) or not isinstance(other, Col):
                continue
            if one.name in have and other.name in own:
                found[condition] = (one.name, other.name)
    return found
