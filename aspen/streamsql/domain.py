"""Sub-queries that read the rows around them, made into joins.

The distinct values of the columns they read form a *domain*; the sub-query is built for all of it
at once, each row carrying the values it belongs to, and joined back. Any depth of nesting works,
since a domain may be taken from rows that carry another one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aspen.algebra.expr import Call, Case, Col, Const, Expr, IsNull, Op
from aspen.algebra.plan import Distinct, Plan, Project
from aspen.model.schema import Column, Type


@dataclass(frozen=True, slots=True)
class Domain:
    """The values of outer columns a sub-query is computed for.

    Args:
        plan: one row per combination of values.
        on: names of the columns of `plan` that identify one; none of them is ever null.
    """

    plan: Plan
    on: tuple[str, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns of the domain's rows."""
        return self.plan.columns


def domain_of(plan: Plan, names: Iterable[str], around: Plan) -> tuple[Plan, Domain]:
    """Returns the domain of some columns of a plan.

    Args:
        around: where their values are taken from: `plan` itself, or a smaller plan that has all
            the values `plan` has.

    Returns:
        The plan, with a column that is never null beside each nullable one of them, and the
        domain over both.

    Source: own, after Neumann and Kemper, Unnesting Arbitrary Queries (BTW 2015).
    """
    wanted = frozenset(names)
    picked = [column for column in plan.columns if column.name in wanted]
    keys = {c.name: Column(f"{c.name}__key", Type.TEXT) for c in picked if c.nullable}
    kinds = {column.name: column.type for column in picked}
    spelt = {key: spelt_key(name, kinds[name]) for name, key in keys.items()}
    plan = extended(plan, spelt.items())
    if not wanted <= {column.name for column in around.columns}:
        around = plan
    around = extended(around, spelt.items())
    kept = {key.name: key for key in keys.values()} | {column.name: column for column in picked}
    outputs = tuple((column, Col(name)) for name, column in kept.items())
    on = tuple(keys[column.name].name if column.nullable else column.name for column in picked)
    return plan, Domain(Distinct(Project(around, outputs)), on)


def spelt_key(name: str, kind: Type) -> Expr:
    """Write the expression that spells a column's value, its null included, as one text."""
    # Adding 0.0 gives -0.0 and 0.0, which are equal, one spelling.
    value = Op("+", Col(name), Const(0.0)) if kind is Type.FLOAT else Col(name)
    spelt = Call("concat", (Const("="), Call("to_text", (value,))))
    return Case(((IsNull(Col(name)), Const("")),), spelt)


def extended(plan: Plan, added: Iterable[tuple[Column, Expr]]) -> Plan:
    """Compute further columns beside a plan's own, those it has not yet."""
    existing = {column.name for column in plan.columns}
    new = tuple((column, expr) for column, expr in added if column.name not in existing)
    if not new:
        return plan
    own = tuple((column, Col(column.name)) for column in plan.columns)
    return Project(plan, own + new)


def narrowed(plan: Plan, columns: Iterable[Column]) -> Plan:
    """Keep some columns of a plan, by name."""
    wanted = tuple(columns)
    return (
        plan if plan.columns == wanted else Project(plan, tuple((c, Col(c.name)) for c in wanted))
    )
