"""EXISTS, IN and scalar sub-queries → joins with what they give for each row around them."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from aspen.algebra.expr import Case, Col, Const, Expr, Op, conjunction, substitute
from aspen.algebra.plan import (
    Aggregate,
    AggregateFunction,
    AntiJoin,
    Distinct,
    Filter,
    GroupBy,
    Join,
    MarkJoin,
    OuterJoin,
    Plan,
    Project,
)
from aspen.model.schema import Column, Type
from aspen.streamsql.bound import BoundExists, BoundFrom, BoundQuery, BoundScalar, BoundSelect
from aspen.streamsql.build_group import grouped, or_empty
from aspen.streamsql.domain import Domain, domain_of, extended, narrowed
from aspen.streamsql.free import columns_of, free_columns, free_in_from

_ROWS = Column("rows", Type.INT)
_MARK = Column("exists__mark", Type.BOOL)


class _Builder(Protocol):
    def query(self, query: BoundQuery, domain: Domain | None) -> Plan: ...
    def origin(self, origin: BoundFrom, domain: Domain | None) -> Plan: ...
    def apart(self, plan: Plan, domain: Domain) -> tuple[Plan, tuple[tuple[str, str], ...]]: ...


def valued(builder: _Builder, plan: Plan, found: BoundScalar, around: Plan) -> Plan:
    """Returns a plan's rows with the value of a scalar sub-query beside them."""
    columns = plan.columns
    looked_up = _looked_up(builder, plan, found)
    if looked_up is not None:
        return looked_up
    free = free_columns(found.query)
    pairs: tuple[tuple[str, str], ...] = ()
    if free:
        plan, domain = domain_of(plan, free, around)
        inner, pairs = builder.apart(builder.query(found.query, domain), domain)
    else:
        inner = builder.query(found.query, None)
    keys = tuple(name for _, name in pairs)
    kept = tuple((c, Col(c.name)) for c in inner.columns if c.name in keys)
    value = next(column for column in inner.columns if column.name not in keys)
    if _one_row(found.query):
        inner = Project(inner, (*kept, (found.output, Col(value.name))))
        return narrowed(Join(plan, inner, pairs), (*columns, found.output))
    # No single row, no value: null, instead of one of several.
    least = Column(found.output.name, value.type, value.unit, nullable=True)
    counted = Aggregate(AggregateFunction.COUNT, None, _ROWS)
    smallest = Aggregate(AggregateFunction.MIN, value.name, least)
    only = Case(((Op("=", Col(_ROWS.name), Const(1)), Col(least.name)),), Const(None))
    inner = Project(GroupBy(inner, keys, (counted, smallest)), (*kept, (found.output, only)))
    joined = OuterJoin(plan, inner, pairs) if free else Join(plan, inner)
    return narrowed(joined, (*columns, found.output))


def _one_row(query: BoundQuery) -> bool:
    """Whether a query surely has exactly one row for every value around it."""
    if not isinstance(query, BoundSelect) or query.group is None:
        return False
    return not query.group.keys and query.group.having is None


def _looked_up(builder: _Builder, plan: Plan, found: BoundScalar) -> Plan | None:
    """Returns the rows with an aggregate over those equal in some columns: groups, looked up.

    Returns:
        None where the sub-query reads the rows around it in any other way.
    """
    query = found.query
    if not (isinstance(query, BoundSelect) and query.group is not None and _one_row(query)):
        return None
    free, inside = free_columns(query), columns_of(query.origin)
    pairs: list[tuple[str, str]] = []
    own: list[Expr] = []
    for predicate in query.origin.predicates:
        match predicate:
            case Op("=", Col(one), Col(other)) if one in inside and other in free:
                pairs.append((other, one))
            case Op("=", Col(one), Col(other)) if other in inside and one in free:
                pairs.append((one, other))
            case _:
                own.append(predicate)
    origin = replace(query.origin, predicates=tuple(own))
    rest = replace(query, origin=origin)
    if not pairs or query.late or query.distinct or free_columns(rest):
        return None
    names = {outer: f"{found.output.name}_{i}" for i, (outer, _) in enumerate(pairs)}
    rows = builder.origin(origin, None)
    by_name = {column.name: column for column in rows.columns}
    keys = tuple(
        (replace(by_name[inner], name=names[outer]), Col(inner))
        for outer, inner in dict(pairs).items()
    )
    if len(keys) < len(pairs):
        return None
    made = grouped(rows, replace(query.group, keys=keys), None)
    assert isinstance(made, GroupBy)
    beside = OuterJoin(plan, made, tuple(names.items()))
    values = {aggregate.output.name: or_empty(aggregate) for aggregate in made.aggregates}
    value = substitute(query.outputs[0][1], values)
    kept = tuple((column, Col(column.name)) for column in plan.columns)
    return Project(beside, (*kept, (found.output, value)))


def answered(builder: _Builder, plan: Plan, found: BoundExists, around: Plan) -> Plan:
    """Keep the rows for which EXISTS (or NOT EXISTS) is true, or mark all with the answer."""
    columns = plan.columns
    if found.needle is not None:
        plan = extended(plan, (found.needle,))
    inner, plan, on, residual = _partners(builder, plan, found, around)
    if found.mark is not None:
        assert not found.negated
        return narrowed(MarkJoin(plan, inner, found.mark, on, residual), (*columns, found.mark))
    if found.negated:
        return narrowed(AntiJoin(plan, inner, on, residual), columns)
    if residual is not None:
        marked = MarkJoin(plan, inner, _MARK, on, residual)
        return narrowed(Filter(marked, Col(_MARK.name)), columns)
    by_name = {column.name: column for column in inner.columns}
    keys = dict.fromkeys(right for _, right in on)
    partners = Distinct(Project(inner, tuple((by_name[key], Col(key)) for key in keys)))
    semi = Join(plan, partners, on)
    # The partners' keys stay where nobody minds: a recursive step takes a plain join.
    return semi if plan.columns == columns else narrowed(semi, columns)


def _partners(
    builder: _Builder, plan: Plan, found: BoundExists, around: Plan
) -> tuple[Plan, Plan, tuple[tuple[str, str], ...], Expr | None]:
    """Returns the partners, the plan they are looked up from, and how they match."""
    residual = conjunction(found.residual)
    free = free_in_from(found.inner)
    if not free:
        return builder.origin(found.inner, None), plan, found.on, residual
    plan, domain = domain_of(plan, free, around)
    inner, pairs = builder.apart(builder.origin(found.inner, domain), domain)
    return inner, plan, (*pairs, *found.on), residual
