"""EXISTS, IN and scalar sub-queries → joins with what they give for each row around them."""

from __future__ import annotations

from typing import Protocol

from aspen.algebra.expr import Case, Col, Const, Expr, Op, columns_in, conjunction
from aspen.algebra.plan import (
    Aggregate,
    AggregateFunction,
    AntiJoin,
    Distinct,
    Filter,
    GroupBy,
    Join,
    Plan,
    Project,
    Union,
)
from aspen.model.schema import Column, Type
from aspen.streamsql.bound import BoundExists, BoundFrom, BoundQuery, BoundScalar, BoundSelect
from aspen.streamsql.domain import Domain, domain_of, extended, found_or, narrowed
from aspen.streamsql.free import columns_of, free_columns, free_in_from

_ROWS = Column("rows", Type.INT)


class _Builder(Protocol):
    def query(self, query: BoundQuery, domain: Domain | None) -> Plan: ...
    def origin(self, origin: BoundFrom, domain: Domain | None) -> Plan: ...
    def apart(self, plan: Plan, domain: Domain) -> tuple[Plan, tuple[tuple[str, str], ...]]: ...


def valued(builder: _Builder, plan: Plan, found: BoundScalar) -> Plan:
    """Give a plan's rows with the value of a scalar sub-query beside them."""
    columns = plan.columns
    free = free_columns(found.query)
    pairs: tuple[tuple[str, str], ...] = ()
    if free:
        plan, domain = domain_of(plan, free)
        inner, pairs = builder.apart(builder.query(found.query, domain), domain)
    else:
        inner = builder.query(found.query, None)
    keys = tuple(name for _, name in pairs)
    kept = tuple((c, Col(c.name)) for c in inner.columns if c.name in keys)
    value = next(column for column in inner.columns if column.name not in keys)
    if not _one_row(found.query):
        # No single row, no value: null, instead of one of several.
        least = Column(found.output.name, value.type, value.unit, nullable=True)
        counted = Aggregate(AggregateFunction.COUNT, None, _ROWS)
        smallest = Aggregate(AggregateFunction.MIN, value.name, least)
        inner = GroupBy(inner, keys, (counted, smallest))
        only: Expr = Case(((Op("=", Col("rows"), Const(1)), Col(least.name)),), Const(None))
    else:
        only = Col(value.name)
    inner = Project(inner, (*kept, (found.output, only)))
    if free and not _one_row(found.query):
        missing = (*(Const(None) for _ in keys), Const(None))
        joined = found_or(plan, inner, pairs, missing)
    else:
        joined = Join(plan, inner, pairs)
    return narrowed(joined, (*columns, found.output))


def _one_row(query: BoundQuery) -> bool:
    """Whether a query surely has exactly one row for every value around it."""
    if not isinstance(query, BoundSelect) or query.group is None:
        return False
    return not query.group.keys and query.group.having is None


def answered(builder: _Builder, plan: Plan, found: BoundExists) -> Plan:
    """Keep the rows for which EXISTS (or NOT EXISTS) is true, or mark all with the answer."""
    columns = plan.columns
    if found.needle is not None:
        plan = extended(plan, (found.needle,))
    inner, plan, on, residual = _partners(builder, plan, found)
    if found.mark is None and found.negated:
        return narrowed(AntiJoin(plan, inner, on, residual), columns)
    by_name = {column.name: column for column in inner.columns}
    keys = dict.fromkeys(right for _, right in on)
    partners = Distinct(Project(inner, tuple((by_name[key], Col(key)) for key in keys)))
    semi = Join(plan, partners, on)
    if found.mark is None:
        # The partners' keys stay where nobody minds: a recursive step takes a plain join.
        return semi if found.needle is None and plan.columns == columns else narrowed(semi, columns)
    yes, no = Const(not found.negated), Const(found.negated)
    kept = tuple((column, Col(column.name)) for column in columns)
    return Union(
        (
            Project(semi, (*kept, (found.mark, yes))),
            Project(AntiJoin(plan, partners, on), (*kept, (found.mark, no))),
        )
    )


def _partners(
    builder: _Builder, plan: Plan, found: BoundExists
) -> tuple[Plan, Plan, tuple[tuple[str, str], ...], Expr | None]:
    """Give the partners, the plan they are looked up from, and how they match."""
    inside = columns_of(found.inner)
    free = free_in_from(found.inner)
    lonely = found.negated and found.mark is None
    if found.residual and not (lonely and not free):
        # Only NOT EXISTS takes any condition as it is; else the condition moves inside.
        free |= frozenset[str]().union(*map(columns_in, found.residual)) - inside
    if not free:
        return builder.origin(found.inner, None), plan, found.on, conjunction(found.residual)
    plan, domain = domain_of(plan, free)
    inner = builder.origin(found.inner, domain)
    condition = conjunction(found.residual)
    if condition is not None:
        inner = Filter(inner, condition)
    inner, pairs = builder.apart(inner, domain)
    return inner, plan, (*pairs, *found.on), None
