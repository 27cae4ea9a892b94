"""Filters over joins: each conjunct goes to the side it reads, or becomes a key."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from aspen.algebra.expr import Col, Expr, Op, columns_in, conjuncts
from aspen.algebra.joined import join_on
from aspen.algebra.plan import AntiJoin, Filter, Join, Plan
from aspen.algebra.renaming import filtered, parted
from aspen.algebra.rewrite.rule import Rule


def _joined(join: Join, predicates: Iterable[Expr]) -> Plan:
    left, rest = parted(predicates, join.left.names)
    right, across = parted(rest, join.right.names)
    keys = [Op("=", Col(one), Col(other)) for one, other in join.on]
    return join_on(filtered(join.left, left), filtered(join.right, right), [*keys, *across])


def _into_join(plan: Plan) -> Plan | None:
    match plan:
        case Filter(Join() as join, predicate):
            return _joined(join, [*conjuncts(join.residual), *conjuncts(predicate)])
    return None


def _into_keys(plan: Plan) -> Plan | None:
    if isinstance(plan, Join) and plan.residual is not None:
        return _joined(plan, conjuncts(plan.residual))
    return None


def _below_anti_join(plan: Plan) -> Plan | None:
    match plan:
        case Filter(AntiJoin(left, right, on, residual), predicate):
            return AntiJoin(Filter(left, predicate), right, on, residual)
    return None


def _anti_join_below(plan: Plan) -> Plan | None:
    match plan:
        case AntiJoin(Join(left, right) as join, partners, on, residual):
            read = {pair[0] for pair in on} | (columns_in(residual) - partners.names)
            if read <= left.names:
                return replace(join, left=AntiJoin(left, partners, on, residual))
            if read <= right.names:
                return replace(join, right=AntiJoin(right, partners, on, residual))
    return None


# Claim: an inner join is a filtered product; p over one side alone filters that side, and
# equality of two columns is what `on` means, null included (null equals nothing).
FILTER_INTO_JOIN = Rule(
    name="filter_into_join",
    claim="filter[p(l) AND q(r) AND a = b AND s(l, r)](l ⋈ r)"
    " = filter[p](l) ⋈[a = b, s] filter[q](r)",
    counter_example="an outer join would keep the rows whose partners the filter took",
    build=_into_join,
)

RESIDUAL_INTO_JOIN_KEYS = Rule(
    name="residual_into_join_keys",
    claim="l ⋈[p(l) AND a = b] r = filter[p](l) ⋈[a = b] r",
    counter_example="a < b or a + 1 = b is no key: it stays a residual",
    build=_into_keys,
)

# Claim: an anti-join only drops left rows, whatever the filter does.
FILTER_BELOW_ANTI_JOIN = Rule(
    name="filter_below_anti_join",
    claim="filter[p](l ▷ r) = filter[p](l) ▷ r",
    counter_example="below the right side it would let back rows whose partner fails p",
    build=_below_anti_join,
)

# Claim: whether a partner exists depends on one side alone, so rows may go before they are joined.
# It also moves NOT EXISTS off the recursive view, where it stands over a join with it.
ANTI_JOIN_BELOW_JOIN = Rule(
    name="anti_join_below_join",
    claim="(l ⋈ r) ▷[p(l, x)] x = (l ▷[p(l, x)] x) ⋈ r, and likewise for r",
    counter_example="p(l, r, x) reads both sides: NOT EXISTS a way shorter than l and r together",
    build=_anti_join_below,
)
