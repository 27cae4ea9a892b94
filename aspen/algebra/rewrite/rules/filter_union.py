"""Filters over unions."""

from __future__ import annotations

from aspen.algebra.expr import Col, Expr, substitute
from aspen.algebra.plan import Filter, Plan, Union
from aspen.algebra.rewrite.rule import Rule


def _below(plan: Plan) -> Plan | None:
    match plan:
        case Filter(Union(branches) as union, predicate):
            names = [column.name for column in union.columns]
            below: list[Plan] = []
            for branch in branches:
                values: dict[str, Expr] = {
                    name: Col(column.name)
                    for name, column in zip(names, branch.columns, strict=True)
                }
                below.append(Filter(branch, substitute(predicate, values)))
            return Union(tuple(below))
    return None


# Claim: a union's rows are its branches' rows. The predicate names the first branch's columns;
# in the others the same positions have other names.
FILTER_BELOW_UNION = Rule(
    name="filter_below_union",
    claim="filter[p](r ⊎ s) = filter[p](r) ⊎ filter[p](s)",
    counter_example="by name instead of by position: SELECT a, b … UNION ALL SELECT b, a …",
    match=lambda plan: isinstance(plan, Filter) and isinstance(plan.child, Union),
    build=_below,
)
