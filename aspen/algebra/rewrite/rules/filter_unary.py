"""Filters over nodes with one input: merge them, or move below."""

from __future__ import annotations

from aspen.algebra.expr import Op, conjuncts, substitute
from aspen.algebra.plan import Distinct, Filter, GroupBy, Plan, Project
from aspen.algebra.renaming import filtered, parted
from aspen.algebra.rewrite.rule import Rule


def _merge(plan: Plan) -> Plan | None:
    match plan:
        case Filter(Filter(child, inner), outer):
            return Filter(child, Op("AND", inner, outer))
    return None


def _below_project(plan: Plan) -> Plan | None:
    match plan:
        case Filter(Project(child, outputs), predicate):
            values = {column.name: expr for column, expr in outputs}
            return Project(Filter(child, substitute(predicate, values)), outputs)
    return None


def _below_distinct(plan: Plan) -> Plan | None:
    match plan:
        case Filter(Distinct(child), predicate):
            return Distinct(Filter(child, predicate))
    return None


def _below_group(plan: Plan) -> Plan | None:
    match plan:
        case Filter(GroupBy(child, keys, aggregates), predicate):
            own, rest = parted(conjuncts(predicate), keys)
            if own:
                return filtered(GroupBy(filtered(child, own), keys, aggregates), rest)
    return None


# Claim: both keep exactly the rows for which p and q are true.
MERGE_FILTERS = Rule(
    name="merge_filters",
    claim="filter[q](filter[p](r)) = filter[p AND q](r)",
    counter_example="none: every expression is total, so p need not shield q",
    build=_merge,
)

# Claim: the predicate sees the same values either way. Equal output rows share their fate, so
# weights still add up above.
FILTER_BELOW_PROJECT = Rule(
    name="filter_below_project",
    claim="filter[p](project[e](r)) = project[e](filter[p∘e](r))",
    counter_example="none: expressions are total and read no clock",
    build=_below_project,
)

FILTER_BELOW_DISTINCT = Rule(
    name="filter_below_distinct",
    claim="filter[p](distinct(r)) = distinct(filter[p](r))",
    counter_example="none: p sees whole rows, and equal rows share their fate",
    build=_below_distinct,
)

# Guard: only conjuncts over the keys (and over at least one, so the row of an empty global group
# stays where it is).
FILTER_BELOW_GROUP = Rule(
    name="filter_below_group",
    claim="filter[p(k)](group[k, f](r)) = group[k, f](filter[p(k)](r))",
    counter_example="HAVING COUNT(*) > 2 below the grouping would count fewer rows",
    build=_below_group,
)
