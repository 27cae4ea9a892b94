"""Compile a recursion: its step becomes chains of joins, every other subplan a bag circuit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from aspen.algebra.evaluate import compile_predicate, compile_row
from aspen.algebra.expr import Col, Expr, substitute
from aspen.algebra.plan import Filter, Join, Plan, Project, Union
from aspen.algebra.plan import Fixpoint as FixpointPlan
from aspen.model.schema import Column, Row
from aspen.views.inline import renamed, static_part
from aspen.views.linearise import Chain, linearise, recursive_side
from aspen.views.node import Node, Places, key_of
from aspen.views.operators.agg_sel import selection
from aspen.views.operators.fixpoint import Fixpoint
from aspen.views.operators.linear_step import LinearStep, StepJoin
from aspen.views.operators.recursive_input import RecursiveInput
from aspen.views.operators.rules import Rules
from aspen.views.operators.support.strategies import Notify, make_support

Shape = Callable[[Row], Row | None]


class _Builder(Protocol):
    strategy: Callable[[FixpointPlan], str]
    notify: Notify

    def build(self, plan: Plan) -> Node: ...
    def node(self, identity: object, make: Callable[[], Node]) -> Node: ...


def build_fixpoint(compiler: _Builder, plan: FixpointPlan) -> Node:
    """Give the node that keeps a recursive view.

    Raises:
        NotLinear: the step cannot be maintained.
    """
    branches = linearise(plan.step, plan.name)
    base = plan.base
    if branches.flat:
        base = Union(tuple(renamed(part, plan.columns) for part in (plan.base, *branches.flat)))
    parts: list[object] = []
    base_input = _input(compiler, base, (), parts)
    steps = tuple(
        _step(compiler, chain, plan, (number,) if len(branches.chains) > 1 else (), parts)
        for number, chain in enumerate(branches.chains)
    )
    rules = Rules(base_input, steps)
    choose = selection(plan.best, plan.columns)
    names = [column.name for column in plan.columns]
    best = plan.best and (
        tuple(names.index(key) for key in plan.best.keys),
        names.index(plan.best.column),
        plan.best.function.value,
    )
    strategy = compiler.strategy(plan)
    return compiler.node(
        ("fixpoint", strategy, best, *parts),
        lambda: Fixpoint(rules, choose, make_support(strategy, rules, compiler.notify)),
    )


def _input(compiler: _Builder, plan: Plan, places: Places, parts: list[object]) -> RecursiveInput:
    node = compiler.build(plan)
    fixed = static_part(plan)
    static = node if fixed is plan else None if fixed is None else compiler.build(fixed)
    parts.append(("input", id(node), None if static is None else id(static), places))
    return RecursiveInput(node, places, static)


def _step(
    compiler: _Builder,
    chain: Chain,
    plan: FixpointPlan,
    mark: tuple[int, ...],
    parts: list[object],
) -> LinearStep:
    parts.append("branch")
    head: list[Filter | Project] = []
    joins: list[tuple[Join, list[Filter | Project]]] = []
    for stage in chain:
        if isinstance(stage, Join):
            joins.append((stage, []))
        else:
            (joins[-1][1] if joins else head).append(stage)
    shape = _shape(head, parts)
    return LinearStep(
        shape or _unchanged,
        tuple(_step_join(compiler, join, rest, plan.name, parts) for join, rest in joins),
        mark,
    )


def _step_join(
    compiler: _Builder,
    join: Join,
    rest: list[Filter | Project],
    name: str,
    parts: list[object],
) -> StepJoin:
    recursive_left = recursive_side(join, name) == "left"
    inner, outer = (join.left, join.right) if recursive_left else (join.right, join.left)
    on = join.on if recursive_left else tuple((right, left) for left, right in join.on)
    own, other = _names(inner), _names(outer)
    mine = tuple(own.index(pair[0]) for pair in on)
    theirs = tuple(other.index(pair[1]) for pair in on)
    # Part lists keep the order in which things happen, so equal lists mean equal steps.
    parts.append(("join", recursive_left, mine))
    side = _input(compiler, outer, theirs, parts)
    residual = None
    if join.residual is not None:
        residual = compile_predicate(join.residual, join.columns)
        parts.append(("residual", _spelt(join.residual, join.columns)))
    shape = _shape(rest, parts)
    return StepJoin(side, key_of(mine), _after(residual, shape, recursive_left=recursive_left))


def _names(plan: Plan) -> list[str]:
    return [column.name for column in plan.columns]


def _spelt(expr: Expr, columns: tuple[Column, ...]) -> str:
    return repr(substitute(expr, {c.name: Col(str(i)) for i, c in enumerate(columns)}))


def _shape(stages: list[Filter | Project], parts: list[object]) -> Shape | None:
    """Compose filters and projections into one function, None when there are none."""
    shape: Shape | None = None
    for stage in stages:
        columns = stage.child.columns
        if isinstance(stage, Filter):
            parts.append(("filter", _spelt(stage.predicate, columns)))
            shape = _kept(shape, compile_predicate(stage.predicate, columns))
        else:
            exprs = [expr for _, expr in stage.outputs]
            parts.append(("project", *(_spelt(expr, columns) for expr in exprs)))
            shape = _computed(shape, compile_row(exprs, columns))
    return shape


def _kept(inner: Shape | None, test: Callable[[Row], bool]) -> Shape:
    if inner is None:
        return lambda row: row if test(row) else None

    def shape(row: Row) -> Row | None:
        shaped = inner(row)
        return shaped if shaped is not None and test(shaped) else None

    return shape


def _computed(inner: Shape | None, compute: Callable[[Row], Row]) -> Shape:
    if inner is None:
        return compute

    def shape(row: Row) -> Row | None:
        shaped = inner(row)
        return None if shaped is None else compute(shaped)

    return shape


def _after(
    residual: Callable[[Row], bool] | None, shape: Shape | None, *, recursive_left: bool
) -> Callable[[Row, Row], Row | None]:
    """Give what happens to a pair of rows up to the next join, in as few calls as can be."""
    if residual is not None:
        shape = _after_residual(residual, shape)
    if shape is None:
        if recursive_left:
            return lambda row, partner: row + partner
        return lambda row, partner: partner + row
    then = shape
    if recursive_left:
        return lambda row, partner: then(row + partner)
    return lambda row, partner: then(partner + row)


def _after_residual(residual: Callable[[Row], bool], shape: Shape | None) -> Shape:
    if shape is None:
        return lambda row: row if residual(row) else None
    then = shape
    return lambda row: then(row) if residual(row) else None


def _unchanged(row: Row) -> Row:
    return row
