"""What the builders share."""

from __future__ import annotations

from aspen.algebra.expr import Col
from aspen.algebra.plan import Plan, Project
from aspen.model.schema import Column
from aspen.streamsql.typing_rules import widened


def relabelled(plan: Plan, columns: tuple[Column, ...]) -> Plan:
    """Rename and widen columns by place, where they are not yet as wanted."""
    if plan.columns == columns:
        return plan
    outputs = tuple(
        (wanted, widened(Col(column.name), column.type, wanted.type))
        for column, wanted in zip(plan.columns, columns, strict=True)
    )
    if isinstance(plan, Project):
        values = tuple(
            (wanted, widened(expr, column.type, wanted.type))
            for (column, expr), wanted in zip(plan.outputs, columns, strict=True)
        )
        return Project(plan.child, values)
    return Project(plan, outputs)
