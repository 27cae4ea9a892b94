"""Compile an aggregate: groups of rows, or sums by key where it is over all ways of a recursion."""

from __future__ import annotations

from aspen.algebra.evaluate import compile_predicate
from aspen.algebra.expr import Expr
from aspen.algebra.plan import AggregateFunction, GroupBy
from aspen.views.accumulators import Accumulator, accumulator
from aspen.views.accumulators.sums import Sum
from aspen.views.compile_ordered import indices
from aspen.views.compile_rules import NodeBuilder, RuleBuilder
from aspen.views.node import Indices, Node
from aspen.views.operators.filter import FilterOperator
from aspen.views.operators.group_by import GroupByOperator
from aspen.views.operators.min_ship import SettledIndex
from aspen.views.operators.rules import Rules
from aspen.views.operators.summed_recursion import SummedRecursion, SumsAsked
from aspen.views.operators.support.strategies import TRAVERSAL
from aspen.views.spelling import spelling
from aspen.views.summed_shape import SummedShape, summed_shape

EXTREMES = (AggregateFunction.MIN, AggregateFunction.MAX)


def build_group(compiler: NodeBuilder, plan: GroupBy) -> Node:
    """Returns the node that keeps an aggregate."""
    shape = summed_shape(plan)
    if shape is None or compiler.strategy(shape.recursion) != TRAVERSAL:
        return _groups(compiler, plan)
    node = _sums(compiler, plan, shape)
    for test in shape.tests:
        node = _tested(compiler, node, test, plan)
    return node


def _groups(compiler: NodeBuilder, plan: GroupBy) -> Node:
    child = compiler.build(plan.child)
    columns = plan.child.columns
    keys = indices(plan.keys, columns)
    reads = [indices(one.reads, columns) for one in plan.aggregates]
    spelt = tuple(
        (a.function.value, read, a.distinct, a.falling, a.constant)
        for a, read in zip(plan.aggregates, reads, strict=True)
    )
    lone = len(plan.aggregates) == 1 and plan.aggregates[0].function in EXTREMES
    extreme = reads[0][0] if lone else None

    def fresh() -> list[Accumulator]:
        types = [columns[read[0]].type if read else None for read in reads]
        return [accumulator(a, kind) for a, kind in zip(plan.aggregates, types, strict=True)]

    return compiler.node(
        ("group", id(child), keys, spelt),
        lambda: GroupByOperator(child, keys, reads, fresh, extreme),
    )


def _tested(compiler: NodeBuilder, node: Node, test: Expr, plan: GroupBy) -> Node:
    passes = compile_predicate(test, plan.columns)
    spelt = spelling(test, plan.columns)
    return compiler.node(("filter", id(node), spelt), lambda: FilterOperator(node, passes))


def _sums(compiler: NodeBuilder, plan: GroupBy, shape: SummedShape) -> Node:
    functions = [one.function for one in plan.aggregates]
    finer = len(shape.keys) < len(shape.kept)
    keys = tuple(range(len(shape.kept))) if finer else shape.keys
    asked = SumsAsked(keys, tuple(zip(functions, shape.sums, strict=True)), finer)
    node = _recursion(compiler, shape, asked)
    if not finer:
        return node
    # Other columns lead on, which the query does not ask for: their sums are added up.
    reads: list[Indices] = [(len(keys) + number,) for number in range(len(functions))]

    def fresh() -> list[Accumulator]:
        return [Sum(whole=True, mean=False) for _ in functions]

    return compiler.node(
        ("added up", id(node), shape.keys),
        lambda: GroupByOperator(node, shape.keys, reads, fresh),
    )


def _recursion(compiler: NodeBuilder, shape: SummedShape, asked: SumsAsked) -> Node:
    indexes: dict[Indices, SettledIndex] = {}

    def index(_relation: int, by: Indices) -> SettledIndex:
        return indexes.setdefault(by, SettledIndex(by))

    recursion = shape.recursion
    build = RuleBuilder(compiler, {recursion.name: 0}, index)
    base = build.base(shape.starts)
    several = len(shape.rules) > 1
    steps = tuple(
        build.step(rule.block, 0, (number,) if several else ())
        for number, rule in enumerate(shape.rules)
    )
    anew = tuple(rule.anew for rule in shape.rules)
    how = (shape.kept, shape.values, anew, asked, recursion.most)
    return compiler.node(
        ("summed", how, *build.parts),
        lambda: SummedRecursion(
            Rules((base,), steps),
            anew,
            shape.kept,
            shape.values,
            tuple(indexes.values()),
            asked,
            recursion.most,
            recursion.name,
        ),
    )
