"""Sub-queries → joins: Apply where the sub-query is one condition, one group, or any plan."""

from __future__ import annotations

from dataclasses import replace

from aspen.algebra.expr import (
    Case,
    Col,
    Const,
    Expr,
    Op,
    as_own,
    columns_in,
    conjuncts,
    outer_in,
    substitute,
)
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
    Plan,
    Project,
)
from aspen.algebra.renaming import as_they_are, filtered, narrowed
from aspen.algebra.rewrite.dependent import (
    Pairs,
    apart,
    domain_of,
    is_one_row,
    keys_of,
    matching,
    outer_names,
    partners,
)
from aspen.algebra.rewrite.rule import Rule
from aspen.algebra.rewrite.rules.apply_rows import or_empty
from aspen.model.schema import Column, Type

_ROWS = Column("rows", Type.INT)
_MARK = Column("exists__mark", Type.BOOL)
_ASKS = (ApplyKind.EXISTS, ApplyKind.NOT_EXISTS, ApplyKind.MARK)


def _asks(plan: Plan) -> bool:
    return isinstance(plan, Apply) and plan.kind in _ASKS


def _is_value(plan: Plan) -> bool:
    return isinstance(plan, Apply) and plan.kind is ApplyKind.VALUE


def _reads(plan: Apply) -> frozenset[str]:
    return outer_names(plan.right) & plan.left.names


def _matched(plan: Apply, left: Plan, right: Plan, on: Pairs, residual: Expr | None) -> Plan:
    """Returns the left rows with or without partners, or marked; with `plan`'s columns."""
    made: Plan
    if plan.kind is ApplyKind.MARK:
        assert plan.output is not None
        made = MarkJoin(left, right, on, residual, mark=plan.output)
    elif plan.kind is ApplyKind.NOT_EXISTS:
        made = AntiJoin(left, right, on, residual)
    elif residual is not None:
        made = Filter(MarkJoin(left, right, on, residual, mark=_MARK), Col(_MARK.name))
    else:
        by_name = {column.name: column for column in right.columns}
        keys = dict.fromkeys(other for _, other in on)
        few = Distinct(Project(right, tuple((by_name[key], Col(key)) for key in keys)))
        made = Join(left, few, on)
    return narrowed(made, plan.columns)


def _by_conditions(plan: Plan) -> Plan | None:
    assert isinstance(plan, Apply)
    right, across = partners(plan.right, plan.left.names)
    if outer_names(right) & plan.left.names:
        return None
    return _matched(plan, plan.left, right, *matching(plan.left, right, across))


def _lifted(plan: Plan, around: frozenset[str]) -> tuple[Plan, list[Expr]] | None:
    """Takes the conditions over rows around out of a plan, which keeps the columns they read."""
    match plan:
        case Filter(child, predicate) if (found := _lifted(child, around)) is not None:
            rows, across = found
            parts = list(conjuncts(predicate))
            more = [part for part in parts if outer_in(part) & around]
            return filtered(rows, (part for part in parts if part not in more)), across + more
        case Project(child, outputs) if (found := _lifted(child, around)) is not None:
            rows, across = found
            if not across:
                same = replace(plan, child=rows)
                return None if outer_names(same) & around else (same, [])
            own = {column.name: expr for column, expr in outputs}
            kept = {column.name: column for column in rows.columns}
            read = sorted(frozenset[str]().union(*map(columns_in, across)))
            if any(own.get(name, Col(name)) != Col(name) for name in read):
                return None
            more_outputs = tuple((kept[name], Col(name)) for name in read if name not in own)
            made = Project(rows, outputs + more_outputs)
            return None if outer_names(made) & around else (made, across)
        case _:
            return None if outer_names(plan) & around else (plan, [])


def _by_group(plan: Plan) -> Plan | None:
    """Looks an aggregate over equal columns up among groups."""
    match plan:
        case Apply(
            left, Project(GroupBy(child, ()) as group, ((_, made),)), output=Column() as out
        ):
            around = left.names
            found = _lifted(child, around)
            if found is None or not found[1]:
                return None
            rows, across = found
            on, residual = matching(left, rows, across)
            if residual is not None or len({one for one, _ in on}) < len(across):
                return None
            by_name = {column.name: column for column in rows.columns}
            names = {one: f"{out.name}_{i}" for i, (one, _) in enumerate(on)}
            keys = tuple(
                (replace(by_name[other], name=names[one]), Col(other)) for one, other in on
            )
            used = dict.fromkeys(name for one in group.aggregates for name in one.reads)
            read = tuple((by_name[name], Col(name)) for name in used)
            groups = GroupBy(Project(rows, keys + read), tuple(names.values()), group.aggregates)
            beside = OuterJoin(left, groups, tuple(names.items()))
            values = {one.output.name: or_empty(one) for one in group.aggregates}
            value = as_own(substitute(made, values), around)
            kept = as_they_are(left.columns)
            return Project(beside, (*kept, (out, value)))
    return None


def _valued(plan: Apply, left: Plan, inner: Plan, pairs: Pairs) -> Plan:
    """Returns the left rows with the value of the inner rows of their keys."""
    output = plan.output
    assert output is not None
    keys = tuple(other for _, other in pairs)
    kept = as_they_are(column for column in inner.columns if column.name in keys)
    value = next(column for column in inner.columns if column.name not in keys)
    if is_one_row(plan.right):
        few = Project(inner, (*kept, (output, Col(value.name))))
        return narrowed(Join(left, few, pairs), plan.columns)
    # No single row, no value: null, instead of one of several.
    least = Column(output.name, value.type, value.unit, nullable=True)
    counted = Aggregate(AggregateFunction.COUNT, None, _ROWS)
    smallest = Aggregate(AggregateFunction.MIN, value.name, least)
    only = Case(((Op("=", Col(_ROWS.name), Const(1)), Col(least.name)),), Const(None))
    groups = Project(GroupBy(inner, keys, (counted, smallest)), (*kept, (output, only)))
    whole = OuterJoin(left, groups, pairs) if pairs else Join(left, groups)
    return narrowed(whole, plan.columns)


def _value_alone(plan: Plan) -> Plan | None:
    assert isinstance(plan, Apply)
    return _valued(plan, plan.left, plan.right, ())


def _needs_domain(plan: Plan) -> bool:
    if not isinstance(plan, Apply) or not _reads(plan):
        return False
    match plan.kind:
        case ApplyKind.ROWS:
            return not keys_of(plan.left)
        case ApplyKind.VALUE:
            return _by_group(plan) is None
        case _:
            return _by_conditions(plan) is None


def _by_domain(plan: Plan) -> Plan | None:
    assert isinstance(plan, Apply)
    right, across = plan.right, list[Expr]()
    if plan.kind in _ASKS:
        right, across = partners(right, plan.left.names)
    left, domain = domain_of(plan.left, outer_names(right) & plan.left.names)
    rows, pairs = apart(Apply(domain, right, ApplyKind.ROWS), domain, left.names)
    match plan.kind:
        case ApplyKind.ROWS:
            return narrowed(Join(left, rows, pairs), plan.columns)
        case ApplyKind.VALUE:
            return _valued(plan, left, rows, pairs)
        case _:
            on, residual = matching(left, rows, across)
            return _matched(plan, left, rows, pairs + on, residual)


# Claim: what a sub-query has for a row depends on the columns it reads alone, so it may be computed
# once for each of their values.
# Guard: no rule below does with less.
APPLY_BY_DOMAIN = Rule(
    name="apply_by_domain",
    claim="l apply r = l ⋈[d = d'] ρ[d'](d apply r), d = distinct(π[what r reads of l](l))",
    counter_example="keys that are null: a row whose key is null would find nothing",
    match=lambda plan: isinstance(plan, Apply),
    guard=_needs_domain,
    build=_by_domain,
)

# Claim: rows with equal columns are the group of their values; a row without a group has an
# aggregate over nothing.
APPLY_VALUE_BY_GROUP = Rule(
    name="apply_value_by_group",
    claim="l apply γ[f](filter[^a = k](r)) = l ⟕[a = k] γ[k, f](r)",
    counter_example="^a < k: the rows of several groups count for one a",
    match=lambda plan: _is_value(plan) and bool(_reads(plan)),  # type: ignore[arg-type]
    build=_by_group,
)

# Claim: a sub-query that is asked for existence alone is a set of partners, and its conditions are
# those of the join.
APPLY_BY_CONDITIONS = Rule(
    name="apply_by_conditions",
    claim="l apply[exists] filter[p(^l, r)](r) = l ⋉[p] r; without: l ▷[p] r; mark likewise",
    counter_example="LIMIT 0 over the filter: no row has partners then",
    match=_asks,
    build=_by_conditions,
)

APPLY_VALUE_ALONE = Rule(
    name="apply_value_alone",
    claim="l apply[value] r = l ⋈ γ[count = 1 ? min : null](r), where r reads nothing of l",
    counter_example="l ⋈ r has no row where r has none, and two where it has two",
    match=_is_value,
    guard=lambda plan: isinstance(plan, Apply) and not _reads(plan),
    build=_value_alone,
)
