"""GROUP BY → plan; inside a sub-query, the values of the rows around are further keys."""

from __future__ import annotations

from dataclasses import replace

from aspen.algebra.expr import Call, Col, Const, Expr
from aspen.algebra.plan import Aggregate, AggregateFunction, GroupBy, OuterJoin, Plan, Project
from aspen.streamsql.bound import BoundGroup
from aspen.streamsql.domain import Domain


def grouped(plan: Plan, group: BoundGroup, domain: Domain | None) -> Plan:
    """Group a plan's rows; HAVING is left to the caller."""
    given = () if domain is None else domain.columns
    computed = [*((column, Col(column.name)) for column in given), *group.keys]
    names = {column.name for column, _ in computed}
    for aggregate in group.aggregates:
        column, value = aggregate.argument, aggregate.value
        if column is not None and value is not None and column.name not in names:
            computed.append((column, value))
            names.add(column.name)
    if any(expr != Col(column.name) for column, expr in computed):
        plan = Project(plan, tuple(computed))
    keys = dict.fromkeys([*(c.name for c in given), *(column.name for column, _ in group.keys)])
    aggregates = tuple(
        Aggregate(
            found.function,
            found.argument.name if found.argument is not None else None,
            found.output,
            found.distinct,
        )
        for found in group.aggregates
    )
    made = GroupBy(plan, tuple(keys), aggregates)
    if domain is None or group.keys:
        return made
    # Without keys there is a group for every value of the domain, also where there are no rows.
    renamed = tuple((replace(c, name=f"{c.name}__group"), Col(c.name)) for c in given)
    outputs = tuple((found.output, Col(found.output.name)) for found in aggregates)
    on = tuple((name, f"{name}__group") for name in domain.on)
    whole = OuterJoin(domain.plan, Project(made, renamed + outputs), on)
    kept = tuple((column, Col(column.name)) for column in given)
    return Project(whole, kept + tuple((found.output, or_empty(found)) for found in aggregates))


def or_empty(found: Aggregate) -> Expr:
    """Write the value of an aggregate beside an outer join: what it is of no rows, if missing."""
    value = Col(found.output.name)
    if found.function is not AggregateFunction.COUNT:
        return value
    return Call("coalesce", (value, Const(0)))
