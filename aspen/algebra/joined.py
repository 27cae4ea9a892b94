"""Joined: inputs and conditions → joins from the left, each condition where it can be tested."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aspen.algebra.expr import Col, Expr, Op, columns_in, conjunction, conjuncts
from aspen.algebra.plan import Join, Plan, PlanError
from aspen.algebra.renaming import filtered


def joined(inputs: Sequence[Plan], conditions: Iterable[Expr]) -> Plan:
    """Joins inputs from the left, the next one tied to those before where that can be.

    Every condition is tested where its columns first meet; equal columns become keys.

    Args:
        inputs: at least one; no two columns have one name.
    """
    waiting, untested = list(inputs), list(conditions)
    plan: Plan | None = None
    while waiting:
        have = frozenset[str]() if plan is None else plan.names
        near = waiting[_nearest(have, waiting, untested)]
        waiting.remove(near)
        own, untested = _split(untested, near.names)
        side = filtered(near, own)
        if plan is None:
            plan = side
            continue
        ready, untested = _split(untested, have | side.names)
        plan = join_on(plan, side, ready)
    if plan is None:
        raise PlanError("a block has an input at least")
    return plan


def join_on(left: Plan, right: Plan, conditions: Iterable[Expr]) -> Join:
    """Joins two plans on conditions over their columns; equalities become keys."""
    parts = [part for condition in conditions for part in conjuncts(condition)]
    pairs = [across(left, right, part) for part in parts]
    rest = [part for part, pair in zip(parts, pairs, strict=True) if pair is None]
    return Join(left, right, tuple(dict.fromkeys(filter(None, pairs))), conjunction(rest))


def across(left: Plan, right: Plan, condition: Expr) -> tuple[str, str] | None:
    """Returns the column of the left and that of the right that a condition says are equal."""
    match condition:
        case Op("=", Col(one), Col(other)):
            lefts, rights = left.names, right.names
            if one in lefts and other in rights:
                return one, other
            if other in lefts and one in rights:
                return other, one
    return None


def _split(conditions: Iterable[Expr], have: frozenset[str]) -> tuple[list[Expr], list[Expr]]:
    ready: list[Expr] = []
    rest: list[Expr] = []
    for condition in conditions:
        (ready if columns_in(condition) <= have else rest).append(condition)
    return ready, rest


def _nearest(have: frozenset[str], waiting: Sequence[Plan], conditions: Sequence[Expr]) -> int:
    """Returns the index of the next input: tied by an equality, by any condition, or the first."""
    rank = [(_tie(have, plan.names, conditions), index) for index, plan in enumerate(waiting)]
    return min(rank)[1]


def _tie(have: frozenset[str], own: frozenset[str], conditions: Sequence[Expr]) -> int:
    found = 2
    for condition in conditions:
        read = columns_in(condition)
        if not (read & have and read & own):
            continue
        match condition:
            case Op("=", Col(), Col()):
                return 0
        found = 1
    return found
