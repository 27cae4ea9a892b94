"""Filters over outer joins, mark joins and set operations."""

from __future__ import annotations

from dataclasses import replace

from aspen.algebra.expr import (
    Const,
    Expr,
    columns_in,
    conjuncts,
    substitute,
)
from aspen.algebra.plan import Filter, Join, MarkJoin, OuterJoin, Plan, SetOperation
from aspen.algebra.renaming import by_position, filtered, narrowed, parted
from aspen.algebra.rewrite.rule import Rule
from aspen.algebra.rewrite.rules.fold import fold


def _below(plan: Plan) -> Plan | None:
    match plan:
        case Filter(OuterJoin(left) | MarkJoin(left) as joined, predicate):
            sunk, rest = parted(conjuncts(predicate), left.names)
            if sunk:
                return filtered(replace(joined, left=filtered(left, sunk)), rest)
    return None


def _rejects_nulls(predicate: Expr, names: frozenset[str]) -> bool:
    """Whether a predicate over some columns is never true where all of them are null."""
    if not columns_in(predicate) or not columns_in(predicate) <= names:
        return False
    nothing: dict[str, Expr] = dict.fromkeys(names, Const(None))
    folded = fold(substitute(predicate, nothing))
    return isinstance(folded, Const) and folded.value is not True


def _to_join(plan: Plan) -> Plan | None:
    match plan:
        case Filter(OuterJoin(left, right, on, residual) as joined, predicate):
            names = right.names
            if any(_rejects_nulls(part, names) for part in conjuncts(predicate)):
                inner = Join(left, right, on, residual)
                return Filter(narrowed(inner, joined.columns), predicate)
    return None


def _below_set_operation(plan: Plan) -> Plan | None:
    match plan:
        case Filter(SetOperation(left, right) as whole, predicate):
            values = by_position(left.columns, right.columns)
            other = Filter(right, substitute(predicate, values))
            return replace(whole, left=Filter(left, predicate), right=other)
    return None


# Claim: an outer join and a mark join keep every left row; which partners it has does not depend
# on other left rows.
FILTER_BELOW_OUTER_JOIN = Rule(
    name="filter_below_outer_join",
    claim="filter[p(l) AND q](l ⟕ r) = filter[q](filter[p](l) ⟕ r)",
    counter_example="p(r) below the right side would let rows come back beside nulls",
    build=_below,
)

# Claim: rows beside nulls do not pass, so they need not be made.
OUTER_JOIN_TO_JOIN = Rule(
    name="outer_join_to_join",
    claim="filter[p(r)](l ⟕ r) = filter[p(r)](l ⋈ r), p not true of nulls",
    counter_example="WHERE r.x IS NULL keeps exactly the rows the join would lose",
    build=_to_join,
)

# Claim: equal rows pass or fail alike, so counting them before or after makes no difference.
FILTER_BELOW_SET_OPERATION = Rule(
    name="filter_below_set_operation",
    claim="filter[p](r EXCEPT s) = filter[p](r) EXCEPT filter[p](s), and likewise INTERSECT",
    counter_example="by name instead of by position: SELECT a, b … EXCEPT SELECT b, a …",
    build=_below_set_operation,
)
