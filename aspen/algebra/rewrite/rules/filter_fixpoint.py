"""Filters over recursion: on columns the step passes on, they restrict the base."""

from __future__ import annotations

from dataclasses import replace

from aspen.algebra.expr import Col, conjuncts, substitute
from aspen.algebra.linearise import mentions
from aspen.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    Fixpoint,
    Join,
    Plan,
    Project,
    RecursiveRef,
    Union,
)
from aspen.algebra.renaming import by_position, filtered, parted
from aspen.algebra.rewrite.rule import Rule


def unchanged(plan: Fixpoint) -> frozenset[str]:
    """Returns the columns every derived row has from the row it was derived from.

    A column is unchanged when it can be followed down the step, through nodes that handle one
    row of the recursive view at a time, to the same column of the view.
    """
    keys = None if plan.best is None else plan.best.keys
    return frozenset(
        column.name
        for index, column in enumerate(plan.columns)
        if (keys is None or column.name in keys)
        and _origin(plan.step, plan.step.columns[index].name, plan.name) == index
    )


def _origin(step: Plan, name: str, view: str) -> int | None:
    """Follow a column down to the recursive view; give its index there."""
    match step:
        case RecursiveRef(found, _, columns) if found == view:
            return [column.name for column in columns].index(name)
        case Project(child, outputs):
            expr = next(expr for column, expr in outputs if column.name == name)
            return _origin(child, expr.name, view) if isinstance(expr, Col) else None
        case Filter(child) | Distinct(child):
            return _origin(child, name, view)
        case Join(left, right) | AntiJoin(left, right):
            side = left if name in left.names else right
            other = right if side is left else left
            # The view must be read on the side the column comes from, and only there.
            return None if mentions(other, (view,)) else _origin(side, name, view)
        case Union(branches):
            index = [column.name for column in step.columns].index(name)
            origins = {_origin(one, one.columns[index].name, view) for one in branches}
            return origins.pop() if len(origins) == 1 else None
        case _:
            return None


def _into_base(plan: Plan) -> Plan | None:
    match plan:
        case Filter(Fixpoint(others=()) as fixpoint, predicate):
            own, rest = parted(conjuncts(predicate), unchanged(fixpoint))
            if not own:
                return None
            names = by_position(fixpoint.columns, fixpoint.base.columns)
            base = filtered(fixpoint.base, (substitute(p, names) for p in own))
            return filtered(replace(fixpoint, base=base), rest)
    return None


# Claim: when the step passes column c on unchanged, every row descends from a base row with the
# same c, so rows with p(c) descend from base rows with p(c) alone.
# Guard: c is followed through the step to itself, and under MIN/MAX it is a key: groups then
# never mix values of c.
FILTER_INTO_FIXPOINT = Rule(
    name="filter_into_fixpoint",
    claim="filter[p(c)](μX. b ∪ step(X)) = μX. filter[p(c)](b) ∪ step(X), c unchanged by step",
    counter_example="WHERE node = 7 on walk(origin, node): a walk reaches 7 through other nodes",
    build=_into_base,
)
