"""Filters over unions."""

from __future__ import annotations

from aspen.algebra.expr import substitute
from aspen.algebra.plan import Filter, Plan, Union
from aspen.algebra.renaming import by_position
from aspen.algebra.rewrite.rule import Rule


def _below(plan: Plan) -> Plan | None:
    match plan:
        case Filter(Union(branches) as union, predicate):
            names = [by_position(union.columns, branch.columns) for branch in branches]
            below = map(Filter, branches, (substitute(predicate, own) for own in names))
            return Union(tuple(below))
    return None


# Claim: a union's rows are its branches' rows. The predicate names the first branch's columns;
# in the others the same positions have other names.
FILTER_BELOW_UNION = Rule(
    name="filter_below_union",
    claim="filter[p](r ⊎ s) = filter[p](r) ⊎ filter[p](s)",
    counter_example="by name instead of by position: SELECT a, b … UNION ALL SELECT b, a …",
    build=_below,
)
