"""Apply, the dependent join: a plan computed anew for every row of another, as sub-queries are.

The right plan reads a column of the left row as `Outer(name)`. No engine runs an Apply: the rules
of `aspen.algebra.rewrite` write each as joins (`flat`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from aspen.algebra.plan_parts import PlanBase, PlanError, refuse_twins
from aspen.model.schema import Column

if TYPE_CHECKING:
    from aspen.algebra.plan import Plan


class ApplyKind(Enum):
    """What becomes of a left row and the right rows computed for it."""

    ROWS = "rows"
    """One row beside each of them."""
    EXISTS = "exists"
    """The left row, if there are any."""
    NOT_EXISTS = "without"
    """The left row, if there is none."""
    MARK = "mark"
    """The left row, and whether there are any."""
    VALUE = "value"
    """The left row, and the only value of their only row; null where there is no single one."""


class NotFlat(PlanError, code="aspen.algebra.not_flat"):
    """An Apply where a plan is computed: its rules have not written it as joins."""

    def __init__(self) -> None:
        super().__init__("an Apply is no plan of an engine", attempt="aspen.algebra.rewrite.flat")


@dataclass(frozen=True)
class Apply(PlanBase):
    """The right plan for every left row.

    Args:
        output: the column MARK and VALUE add.
    """

    left: Plan
    right: Plan
    kind: ApplyKind
    output: Column | None = None

    def __post_init__(self) -> None:
        if (self.output is not None) != (self.kind in (ApplyKind.MARK, ApplyKind.VALUE)):
            raise PlanError("MARK and VALUE name the column they add", found=self.kind.name)
        if self.kind is ApplyKind.VALUE and len(self.right.columns) != 1:
            raise PlanError("a value has one column", found=str(len(self.right.columns)))
        refuse_twins(self)
        super().__post_init__()

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """The left, the right."""
        return (self.left, self.right)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The left's, and what the kind adds."""
        if self.kind is ApplyKind.ROWS:
            return self.left.columns + self.right.columns
        return self.left.columns if self.output is None else (*self.left.columns, self.output)
