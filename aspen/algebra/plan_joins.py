"""Plan nodes with two inputs whose rows are matched: join, anti-join, outer join, mark join.

All four match by columns that are equal and by a further predicate over both rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from aspen.algebra.expr import Expr, columns_in
from aspen.algebra.plan_parts import PlanBase, PlanError, refuse_twins, require_columns
from aspen.model.schema import Column

if TYPE_CHECKING:
    from aspen.algebra.plan import Plan


@dataclass(frozen=True)
class Matching(PlanBase):
    """What all four have.

    Args:
        on: pairs of (left column, right column); a null equals nothing, no pair is every row.
        residual: a further predicate over left and right columns that a partner must pass.
    """

    left: Plan
    right: Plan
    on: tuple[tuple[str, str], ...] = ()
    residual: Expr | None = None

    def __post_init__(self) -> None:
        name = type(self).__name__
        require_columns((pair[0] for pair in self.on), self.left.names, name)
        require_columns((pair[1] for pair in self.on), self.right.names, name)
        if len(self.columns) > len(self.left.columns):
            refuse_twins(self)
        if self.residual is not None:
            twice = sorted(self.left.names & self.right.names)
            if twice:
                raise PlanError(f"{name} reads two columns of one name", found=", ".join(twice))
            require_columns(columns_in(self.residual) - self.left.names, self.right.names, name)
        super().__post_init__()

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """The left, the right."""
        return (self.left, self.right)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The left's."""
        return self.left.columns


@dataclass(frozen=True)
class Join(Matching):
    """Left columns then right columns, for pairs that match."""

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Left then right."""
        return self.left.columns + self.right.columns


@dataclass(frozen=True)
class AntiJoin(Matching):
    """Left rows without a partner on the right: `NOT EXISTS`; weights stay as they are."""


@dataclass(frozen=True)
class OuterJoin(Matching):
    """`LEFT JOIN`: left columns then right columns; nulls where a left row has no partner."""

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Left then right, which may all be null."""
        right = self.right.columns
        missing = (c if c.nullable else replace(c, nullable=True) for c in right)
        return (*self.left.columns, *missing)


@dataclass(frozen=True)
class MarkJoin(Matching):
    """All left rows, each with whether it has a partner: `EXISTS` as a value.

    Args:
        mark: the column that says so.
    """

    mark: Column = field(kw_only=True)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The left's and the mark."""
        return (*self.left.columns, self.mark)
