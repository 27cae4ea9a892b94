"""GROUP BY → plan; inside a sub-query, the values of the rows around are further keys."""

from __future__ import annotations

from aspen.algebra.expr import Col, Const
from aspen.algebra.plan import Aggregate, AggregateFunction, AntiJoin, GroupBy, Plan, Project, Union
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
    on = tuple((name, name) for name in domain.on)
    empty = tuple(
        (a.output, Const(0 if a.function is AggregateFunction.COUNT else None)) for a in aggregates
    )
    kept = tuple((column, Col(column.name)) for column in given)
    return Union((made, Project(AntiJoin(domain.plan, made, on), kept + empty)))
