"""Sources beside each other, and what an outer join, USING and NATURAL make of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce

from aspen.algebra.expr import Col, Const, Expr
from aspen.algebra.plan import AntiJoin, Join, OuterJoin, Plan, Project, Union, Values
from aspen.algebra.renaming import filtered
from aspen.errors import Position
from aspen.model.schema import Column
from aspen.streamsql.errors import DuplicateAlias
from aspen.streamsql.scope import NamedSource, Scope, bare
from aspen.streamsql.typing_rules import Typed


@dataclass(slots=True)
class Joined:
    """Sources bound so far.

    Args:
        leaves: what names may be looked up in, by the alias the user gave.
        merged: plan names of columns that USING merged into others, with the names of those.
    """

    plans: list[Plan] = field(default_factory=list)
    predicates: list[Expr] = field(default_factory=list)
    leaves: dict[str, NamedSource] = field(default_factory=dict)
    merged: dict[str, str] = field(default_factory=dict)

    @property
    def plan(self) -> Plan:
        """Their product, as far as it passes the conditions; one row where there are none."""
        whole = reduce(Join, self.plans) if self.plans else Values(())
        return filtered(whole, self.predicates)


def side_by_side(parts: Iterable[tuple[Joined, Position]]) -> Joined:
    """Returns sources beside each other.

    Raises:
        DuplicateAlias: two of one name.
    """
    joined = Joined()
    for part, here in parts:
        for alias in part.leaves:
            if alias in joined.leaves:
                raise DuplicateAlias(
                    f"two sources are called {alias!r}",
                    position=here,
                    found=alias,
                    exists=tuple(joined.leaves),
                    attempt=f"give one an alias: … AS {alias}_2",
                )
        joined.plans += part.plans
        joined.predicates += part.predicates
        joined.leaves |= part.leaves
        joined.merged |= part.merged
    return joined


def outer_join(
    kind: str, left: Plan, right: Plan, on: Expr | None, columns: tuple[Column, ...]
) -> Plan:
    """Returns the joined rows, and those without a partner beside nulls.

    Law: FULL == LEFT, and what the right has no partner for beside nulls.
    """
    if kind == "RIGHT":
        return padded(OuterJoin(right, left, residual=on), columns)
    whole = OuterJoin(left, right, residual=on)
    if kind == "LEFT":
        return whole
    alone = AntiJoin(right, left, residual=on)
    return Union((padded(whole, columns), padded(alone, columns)))


def padded(plan: Plan, columns: tuple[Column, ...]) -> Plan:
    """Returns rows with nulls for the columns they have not."""
    existing = {column.name for column in plan.columns}
    outputs = ((c, Col(c.name) if c.name in existing else Const(None)) for c in columns)
    return Project(plan, tuple(outputs))


def nullable(source: NamedSource) -> NamedSource:
    """Returns a source whose columns may all be null, as on the far side of an outer join."""
    columns = (c if c.nullable else replace(c, nullable=True) for c in source.columns)
    return replace(source, columns=tuple(columns))


def shared_columns(
    using: list[str], left: Scope, right: Scope, here: Position, *, natural: bool
) -> list[tuple[Column, Column]]:
    """Returns the pairs of columns that USING and NATURAL make one.

    Raises:
        UnknownColumn: one side has no such column.
    """
    if natural:
        others = {bare(column) for column in _visible(right)}
        using = list(dict.fromkeys(bare(c) for c in _visible(left) if bare(c) in others))
    return [(left.find("", name, here), right.find("", name, here)) for name in using]


def _visible(scope: Scope) -> list[Column]:
    columns = [column for source in scope.sources.values() for column in source.columns]
    return [column for column in columns if column.name not in scope.merged]


def column_typed(column: Column, here: Position) -> Typed:
    """Returns a column of the rows at hand as an expression."""
    return Typed(Col(column.name), column.type, column.unit, column.nullable, here)


def merged(shared: list[tuple[Column, Column]], *, right: bool) -> dict[str, str]:
    """Returns which columns that USING shares give way to which.

    Args:
        right: whether the right side's stand for both, as in a RIGHT JOIN.
    """
    return {(a if right else b).name: (b if right else a).name for a, b in shared}
