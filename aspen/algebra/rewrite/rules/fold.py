"""Constant folding: what needs no row is computed now."""

from __future__ import annotations

from dataclasses import replace

from aspen.algebra.evaluate import compile_expr
from aspen.algebra.expr import TRUE, Case, Const, Expr, Not, Op, parts, with_parts
from aspen.algebra.plan import AntiJoin, Filter, Join, MarkJoin, OuterJoin, Plan, Project
from aspen.algebra.rewrite.rule import Rule
from aspen.algebra.whole import OutOfRange

_FALSE = Const(False)


def fold(expr: Expr) -> Expr:
    """Returns an expression with its constant parts computed.

    Law: it has the value of `expr` on every row, null included.
    """
    folded = with_parts(expr, (fold(part) for part in parts(expr)))
    operands = parts(folded)
    if operands and all(isinstance(operand, Const) for operand in operands):
        try:
            return Const(compile_expr(folded, ())(()))
        except OutOfRange:
            return folded  # an error where it is computed, if it ever is
    match folded:
        case Op("AND", left, right):
            return _absorbed(folded, left, right, keep=TRUE, win=_FALSE)
        case Op("OR", left, right):
            return _absorbed(folded, left, right, keep=_FALSE, win=TRUE)
        case Not(Not(inner)):
            return inner
        case Case(branches, otherwise):
            return _case(branches, otherwise)
        case _:
            return folded


def _absorbed(expr: Expr, left: Expr, right: Expr, *, keep: Const, win: Const) -> Expr:
    if win in (left, right):
        return win
    if left == keep:
        return right
    return left if right == keep else expr


def _case(branches: tuple[tuple[Expr, Expr], ...], otherwise: Expr) -> Expr:
    live: list[tuple[Expr, Expr]] = []
    for when, then in branches:
        if when == TRUE:
            return Case(tuple(live), then) if live else then
        if not isinstance(when, Const):
            live.append((when, then))
    return Case(tuple(live), otherwise) if live else otherwise


def _fold_filter(plan: Plan) -> Plan | None:
    assert isinstance(plan, Filter)
    return replace(plan, predicate=fold(plan.predicate))


def _fold_project(plan: Plan) -> Plan | None:
    assert isinstance(plan, Project)
    return replace(plan, outputs=tuple((column, fold(expr)) for column, expr in plan.outputs))


def _fold_join(plan: Plan) -> Plan | None:
    assert isinstance(plan, Join | AntiJoin | OuterJoin | MarkJoin)
    assert plan.residual is not None
    residual = fold(plan.residual)
    return replace(plan, residual=None if residual == TRUE else residual)


# Claim: a constant expression has one value. Counter-example: none; `1 / 0` is null here as it
# would be per row, and what is out of range stays.
FOLD_FILTER = Rule(
    name="fold_filter",
    claim="filter[p](r) = filter[fold p](r)",
    counter_example="x AND NULL must stay: it is FALSE where x is",
    match=lambda plan: isinstance(plan, Filter),
    build=_fold_filter,
)

FOLD_PROJECT = Rule(
    name="fold_project",
    claim="project[e](r) = project[fold e](r)",
    counter_example="0 * x must stay: it is null where x is",
    match=lambda plan: isinstance(plan, Project),
    build=_fold_project,
)

FOLD_JOIN = Rule(
    name="fold_join",
    claim="l ⋈[p] r = l ⋈[fold p] r",
    counter_example="x = x must stay: it is null where x is",
    match=lambda plan: (
        isinstance(plan, Join | AntiJoin | OuterJoin | MarkJoin) and plan.residual is not None
    ),
    build=_fold_join,
)

DROP_TRUE_FILTER = Rule(
    name="drop_true_filter",
    claim="filter[TRUE](r) = r",
    counter_example="filter[NULL](r) is empty: only TRUE keeps rows",
    match=lambda plan: isinstance(plan, Filter),
    guard=lambda plan: isinstance(plan, Filter) and plan.predicate == TRUE,
    build=lambda plan: plan.child if isinstance(plan, Filter) else None,
)
