"""Plan nodes with two inputs whose rows are matched: join, anti-join, outer join, mark join.

All four match by `on`, pairs of (left column, right column) that are equal (a null equals
nothing; no pairs: every row), and by `residual`, a further predicate over both rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aspen.algebra.expr import Expr, columns_in
from aspen.algebra.plan_parts import refuse_twins, require_columns
from aspen.model.schema import Column

if TYPE_CHECKING:
    from aspen.algebra.plan import Plan


@dataclass(frozen=True, slots=True)
class Join:
    """Left columns then right columns, for pairs equal on `on` that pass `residual`.

    Args:
        on: pairs of (left column, right column); empty for a theta join.
        residual: a further predicate over the joined row.
    """

    left: Plan
    right: Plan
    on: tuple[tuple[str, str], ...] = ()
    residual: Expr | None = None

    def __post_init__(self) -> None:
        require_columns((pair[0] for pair in self.on), self.left.columns, "Join")
        require_columns((pair[1] for pair in self.on), self.right.columns, "Join")
        refuse_twins(self.columns, "Join")
        require_columns(columns_in(self.residual), self.columns, "Join")

    @property
    def columns(self) -> tuple[Column, ...]:
        """Left then right."""
        return self.left.columns + self.right.columns


@dataclass(frozen=True, slots=True)
class AntiJoin:
    """Left rows without a partner on the right: `NOT EXISTS`; weights stay as they are.

    Args:
        on: pairs of (left column, right column); a null equals nothing.
        residual: a further predicate over left and right columns that a partner must pass.
    """

    left: Plan
    right: Plan
    on: tuple[tuple[str, str], ...] = ()
    residual: Expr | None = None

    def __post_init__(self) -> None:
        require_columns((pair[0] for pair in self.on), self.left.columns, "AntiJoin")
        require_columns((pair[1] for pair in self.on), self.right.columns, "AntiJoin")
        both = self.left.columns + self.right.columns
        if self.residual is not None:
            refuse_twins(both, "AntiJoin")
            require_columns(columns_in(self.residual), both, "AntiJoin")

    @property
    def columns(self) -> tuple[Column, ...]:
        """The left's."""
        return self.left.columns


@dataclass(frozen=True, slots=True)
class OuterJoin:
    """`LEFT JOIN`: left columns then right columns; nulls where a left row has no partner."""

    left: Plan
    right: Plan
    on: tuple[tuple[str, str], ...] = ()
    residual: Expr | None = None

    def __post_init__(self) -> None:
        _check(self, "OuterJoin")
        refuse_twins(self.columns, "OuterJoin")

    @property
    def columns(self) -> tuple[Column, ...]:
        """Left then right, which may all be null."""
        missing = tuple(replace(column, nullable=True) for column in self.right.columns)
        return self.left.columns + missing


@dataclass(frozen=True, slots=True)
class MarkJoin:
    """All left rows, each with whether it has a partner: `EXISTS` as a value.

    Args:
        mark: the column that says so.
    """

    left: Plan
    right: Plan
    mark: Column
    on: tuple[tuple[str, str], ...] = ()
    residual: Expr | None = None

    def __post_init__(self) -> None:
        _check(self, "MarkJoin")
        refuse_twins(self.columns, "MarkJoin")

    @property
    def columns(self) -> tuple[Column, ...]:
        """The left's and the mark."""
        return (*self.left.columns, self.mark)


def _check(node: OuterJoin | MarkJoin, name: str) -> None:
    require_columns((pair[0] for pair in node.on), node.left.columns, name)
    require_columns((pair[1] for pair in node.on), node.right.columns, name)
    if node.residual is not None:
        both = node.left.columns + node.right.columns
        refuse_twins(both, name)
        require_columns(columns_in(node.residual), both, name)
