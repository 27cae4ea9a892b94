"""Apply over a domain goes down its right plan, until nothing there reads the domain."""

from __future__ import annotations

from dataclasses import replace

from aspen.algebra.expr import Call, Col, Const, Expr, as_own
from aspen.algebra.plan import (
    Aggregate,
    AggregateFunction,
    AntiJoin,
    Apply,
    ApplyKind,
    Distinct,
    Filter,
    GroupBy,
    Join,
    MarkJoin,
    OuterJoin,
    Over,
    Plan,
    Project,
    SetOperation,
    TopK,
    Union,
)
from aspen.algebra.renaming import as_they_are, narrowed
from aspen.algebra.rewrite.dependent import apart, keys_of, outer_names
from aspen.algebra.rewrite.rule import Rule


def _rows(left: Plan, right: Plan) -> Plan:
    """Returns the rows of a plan for those of another; a plain product where it reads none."""
    if outer_names(right) & left.names:
        return Apply(left, right, ApplyKind.ROWS)
    return Join(left, right)


def is_rows(plan: Plan) -> bool:
    """Whether a plan is an Apply that keeps all rows of its right."""
    return isinstance(plan, Apply) and plan.kind is ApplyKind.ROWS


def _over(plan: Plan, *kinds: type) -> bool:
    """Whether a plan is such an Apply, over a node of some kinds that reads it."""
    return (
        isinstance(plan, Apply)
        and is_rows(plan)
        and isinstance(plan.right, kinds)
        and bool(outer_names(plan.right) & plan.left.names)
    )


def _on_domain(plan: Plan) -> bool:
    return isinstance(plan, Apply) and bool(keys_of(plan.left))


def _alone(plan: Plan) -> Plan | None:
    assert isinstance(plan, Apply)
    return Join(plan.left, plan.right)


def _below_row_by_row(plan: Plan) -> Plan | None:
    assert isinstance(plan, Apply)
    left, names = plan.left, plan.left.names
    match plan.right:
        case Filter(child, predicate):
            return Filter(_rows(left, child), as_own(predicate, names))
        case Project(child, outputs):
            own = as_they_are(left.columns)
            made = tuple((column, as_own(expr, names)) for column, expr in outputs)
            return Project(_rows(left, child), own + made)
        case Apply(inner) as apply:
            return replace(apply, left=_rows(left, inner))
    return None


def _below_union(plan: Plan) -> Plan | None:
    match plan:
        case Apply(left, Union(children)):
            return Union(tuple(_rows(left, child) for child in children))
    return None


def _below_set(plan: Plan) -> Plan | None:
    match plan:
        case Apply(left, Distinct(child)):
            return Distinct(_rows(left, child))
        case Apply(left, SetOperation(one, other) as whole):
            return replace(whole, left=_rows(left, one), right=_rows(left, other))
        case Apply(left, TopK(child) | Over(child) as ordered):
            per = tuple(column.name for column in left.columns)
            parts = per + ordered.partition_by
            return replace(ordered, child=_rows(left, child), partition_by=parts)
    return None


def _below_join(plan: Plan) -> Plan | None:
    assert isinstance(plan, Apply)
    domain, join, names = plan.left, plan.right, plan.left.names
    assert isinstance(join, Join | AntiJoin | OuterJoin | MarkJoin)
    left, right, on = _rows(domain, join.left), join.right, join.on
    if outer_names(right) & names:
        right, pairs = apart(_rows(domain, right), domain, left.names)
        on = pairs + on
    residual = None if join.residual is None else as_own(join.residual, names)
    made = replace(join, left=left, right=right, on=on, residual=residual)
    return narrowed(made, plan.columns)


def _below_group(plan: Plan) -> Plan | None:
    match plan:
        case Apply(domain, GroupBy(child, keys, aggregates)):
            own = tuple(column.name for column in domain.columns)
            made = GroupBy(_rows(domain, child), own + keys, aggregates)
            if keys:
                return made
            # Without keys there is a group for every value of the domain, also of no rows.
            groups, pairs = apart(made, domain, domain.names)
            whole = OuterJoin(domain, groups, pairs)
            kept = as_they_are(domain.columns)
            return Project(whole, kept + tuple((a.output, or_empty(a)) for a in aggregates))
    return None


def or_empty(found: Aggregate) -> Expr:
    """Returns the value of an aggregate beside an outer join: what it is of no rows, if missing."""
    value = Col(found.output.name)
    if found.function is not AggregateFunction.COUNT:
        return value
    return Call("coalesce", (value, Const(0)))


# Claim: a plan that reads nothing of a row is the same for every row.
APPLY_ROWS_ALONE = Rule(
    name="apply_rows_alone",
    claim="l apply r = l ⋈ r, where r reads nothing of l",
    counter_example="r = filter[^l.a = r.a](s) has other rows for other a",
    match=is_rows,
    guard=lambda plan: isinstance(plan, Apply) and not outer_names(plan.right) & plan.left.names,
    build=_alone,
)

# Claim: whether a row passes, and what is computed of it, depends on it and the left row alone;
# with the left row beside it, both are columns of one row.
APPLY_BELOW_ROW_BY_ROW = Rule(
    name="apply_below_row_by_row",
    claim="l apply filter[p(^l, r)](r) = filter[p(l, r)](l apply r), likewise project and Apply",
    counter_example="without the left columns a projection would forget whose rows they are",
    match=lambda plan: _over(plan, Filter, Project, Apply),
    build=_below_row_by_row,
)

APPLY_BELOW_UNION = Rule(
    name="apply_below_union",
    claim="l apply (r ∪ s) = (l apply r) ∪ (l apply s)",
    counter_example="one branch alone: rows of the other are lost",
    match=lambda plan: _over(plan, Union),
    build=_below_union,
)

# Claim: the rows of each left row stay apart, for its columns are among theirs.
# Guard: no left row is there twice, or its copies would count as duplicates.
APPLY_BELOW_SET = Rule(
    name="apply_below_set",
    claim="d apply distinct(r) = distinct(d apply r), likewise EXCEPT, INTERSECT; TopK, Over per d",
    counter_example="a left row that is there twice would be there once",
    match=lambda plan: _over(plan, Distinct, SetOperation, TopK, Over),
    guard=_on_domain,
    build=_below_set,
)

# Claim: what meets in a join belongs to the same row of the domain, which its keys identify.
# Guard: no row of it is there twice, and its keys are never null, so they equal themselves.
APPLY_BELOW_JOIN = Rule(
    name="apply_below_join",
    claim="d apply (r ⋈ s) = (d apply r) ⋈[d = d'] ρ[d'](d apply s), likewise ▷, ⟕ and mark",
    counter_example="a key that is null does not equal itself: its rows would be lost",
    match=lambda plan: _over(plan, Join, AntiJoin, OuterJoin, MarkJoin),
    guard=_on_domain,
    build=_below_join,
)

APPLY_BELOW_GROUP = Rule(
    name="apply_below_group",
    claim="d apply γ[k](r) = γ[d, k](d apply r); without k, d ⟕ γ[d](d apply r)",
    counter_example="COUNT(*) of no rows is a row with 0, which no group gives",
    match=lambda plan: _over(plan, GroupBy),
    guard=_on_domain,
    build=_below_group,
)
