"""Over: what SQL's OVER computes beside each row, from the rows of its partition in an order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from aspen.algebra.plan_parts import (
    Aggregate,
    PlanBase,
    PlanError,
    SortKey,
    refuse_twins,
    require_columns,
)
from aspen.model.schema import Column, Value

if TYPE_CHECKING:
    from aspen.algebra.plan import Plan


class RankFunction(Enum):
    """What a row's place in its partition gives."""

    ROW_NUMBER = "ROW_NUMBER"
    RANK = "RANK"
    DENSE_RANK = "DENSE_RANK"
    PERCENT_RANK = "PERCENT_RANK"
    CUME_DIST = "CUME_DIST"
    NTILE = "NTILE"


class PickFunction(Enum):
    """Which other row of the partition gives the value."""

    LAG = "LAG"
    LEAD = "LEAD"
    FIRST_VALUE = "FIRST_VALUE"
    LAST_VALUE = "LAST_VALUE"
    NTH_VALUE = "NTH_VALUE"


SHIFTS = (PickFunction.LAG, PickFunction.LEAD)
"""Those that count rows from the current one, whatever the frame."""


class FrameUnit(Enum):
    """What the bounds of a frame count.

    RANGE: differences of the order's only key, those of times in µs; 0 stands for the rows that
    are equal under the order. GROUPS: sets of rows that are equal under the order.
    """

    RANGE = "range"
    ROWS = "rows"
    GROUPS = "groups"


class Exclusion(Enum):
    """Which rows of a frame do not count: the current one, those equal to it under the order."""

    NO_OTHERS = "none"
    CURRENT_ROW = "current"
    GROUP = "group"
    TIES = "ties"


@dataclass(frozen=True, slots=True)
class Frame:
    """Which rows of its partition count for a row.

    Args:
        start: offset from the current row, negative before it; None for the partition's begin.
        end: None for the partition's end.
        without: rows between the bounds that are left out.
    """

    unit: FrameUnit = FrameUnit.RANGE
    start: float | None = None
    end: float | None = 0
    without: Exclusion = Exclusion.NO_OTHERS

    def __post_init__(self) -> None:
        if self.start is not None and self.end is not None and self.start > self.end:
            raise PlanError("a frame begins before it ends", found=f"{self.start} to {self.end}")


WHOLE = Frame(end=None)
"""The whole partition."""
SO_FAR = Frame()
"""What stands before a row or is equal to it under the order."""


@dataclass(frozen=True, slots=True)
class Rank:
    """One function of a row's place.

    Args:
        parts: of NTILE.
    """

    function: RankFunction
    output: Column
    parts: int = 1


@dataclass(frozen=True, slots=True)
class Pick:
    """The value of another row of the partition.

    Args:
        offset: how many rows off LAG and LEAD look; which row of the frame NTH_VALUE gives.
        default: what LAG and LEAD give where there is no such row.
        ignores_nulls: whether rows without a value are left out.
    """

    function: PickFunction
    argument: str
    output: Column
    frame: Frame = WHOLE
    offset: int = 1
    default: Value = None
    ignores_nulls: bool = False


@dataclass(frozen=True, slots=True)
class Framed:
    """An aggregate over the frame of each row."""

    aggregate: Aggregate
    frame: Frame = WHOLE

    @property
    def output(self) -> Column:
        """The aggregate's."""
        return self.aggregate.output


OverFunction = Rank | Pick | Framed


@dataclass(frozen=True)
class Over(PlanBase):
    """The rows of a plan, with further columns computed from the rows around each.

    Args:
        functions: what is computed, one column each.
        partition_by: columns whose every value has rows of its own.
        keys: the order within a partition; ties by the whole row.

    Raises:
        PlanError: a column that the child does not have; bounds by difference without one key.
    """

    child: Plan
    functions: tuple[OverFunction, ...]
    partition_by: tuple[str, ...] = ()
    keys: tuple[SortKey, ...] = ()

    def __post_init__(self) -> None:
        names = self.child.names
        require_columns(self.partition_by, names, "Over")
        require_columns((key.column for key in self.keys), names, "Over")
        for one in self.functions:
            require_columns(reads(one), names, "Over")
            frame = WHOLE if isinstance(one, Rank) else one.frame
            apart = {frame.start, frame.end} - {None, 0}
            if frame.unit is FrameUnit.RANGE and apart and len(self.keys) != 1:
                raise PlanError("RANGE with an offset needs one key in ORDER BY")
        refuse_twins(self)
        super().__post_init__()

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """The child."""
        return (self.child,)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The child's, and one for each function."""
        return (*self.child.columns, *(one.output for one in self.functions))


def reads(function: OverFunction) -> tuple[str, ...]:
    """Returns the columns a function looks at, besides partition and order."""
    match function:
        case Rank():
            return ()
        case Pick():
            return (function.argument,)
        case Framed():
            return function.aggregate.reads
