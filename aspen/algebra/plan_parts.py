"""What plans begin with and are made of: leaves, aggregates, sort keys, shared checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from aspen.algebra.expr import Const
from aspen.effort import spend, too_complex
from aspen.errors import AspenError
from aspen.model.schema import Column, Value

if TYPE_CHECKING:
    from aspen.algebra.plan import Plan

MOST_NODES = 10_000
"""Of one plan, what stands twice counted twice; own choice: 64 joined tables take about 300."""
MOST_HEIGHT = 300
"""Own choice: walks over plans are recursive, and Python's stack has room for three times that."""


class PlanError(AspenError, code="aspen.algebra.plan"):
    """A plan node that makes no sense."""


class PlanBase:
    """What every node knows of itself, worked out once: walks ask for it all the time."""

    if TYPE_CHECKING:

        @property
        def columns(self) -> tuple[Column, ...]:
            """What its rows have; a field of some nodes."""

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """What it reads, left to right."""
        return ()

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of its columns."""
        return frozenset(column.name for column in self.columns)

    size: int
    """How many nodes it has with everything below; one that stands twice counts twice."""
    height: int
    """How many nodes stand above each other."""

    def __post_init__(self) -> None:
        size = 1 + sum(one.size for one in self.inputs)
        height = 1 + max((one.height for one in self.inputs), default=0)
        self.__dict__.update(size=size, height=height)
        spend(len(self.columns), f"a {type(self).__name__} of {len(self.columns)} columns")


def refuse_large(plan: Plan) -> None:
    """Refuse a plan that no engine should be given.

    Raises:
        TooComplex: it has too many nodes, or too many above each other.
    """
    if plan.size > MOST_NODES:
        raise too_complex(f"its plan has more than {MOST_NODES:,} operators", f"{plan.size:,}")
    if plan.height > MOST_HEIGHT:
        raise too_complex(
            f"its plan has more than {MOST_HEIGHT} operators above each other", f"{plan.height}"
        )


def refuse_twins(node: PlanBase) -> None:
    """Refuse columns of one name."""
    if len(node.names) == len(node.columns):
        return
    counted = Counter(column.name for column in node.columns)
    twice = sorted(name for name, count in counted.items() if count > 1)
    kind = type(node).__name__
    raise PlanError(f"{kind} gives two columns one name", found=", ".join(twice))


def require_columns(names: Iterable[str], existing: Collection[str], node: str) -> None:
    """Refuse names that no column has."""
    for name in names:
        if name not in existing:
            raise PlanError(f"{node} names {name!r}", found=name, exists=sorted(existing))


class SetFunction(Enum):
    """What two bags of rows can be combined to, besides their union."""

    EXCEPT = "Except"
    INTERSECT = "Intersect"


@dataclass(frozen=True, slots=True)
class SortKey:
    """One column of an order.

    Args:
        nulls_last: whether nulls come behind all values; else before them.
    """

    column: str
    descending: bool = False
    nulls_last: bool = False


class WindowBounds(NamedTuple):
    """How much of a stream a window holds; each None for no bound.

    Args:
        rows: newest rows kept per partition.
        slide_rows: the window moves only when the stream has brought so many more rows.
        range_s: seconds of log time a row stays.
        slide_s: the window moves only at multiples of so many seconds, else with every tick.
        session_s: the rows since nothing came for so many seconds, until nothing does again.
        lateness_s: of a window over event time, by how many seconds that may be ahead of the log's
            or behind the window.
    """

    rows: int | None = None
    slide_rows: int | None = None
    range_s: float | None = None
    slide_s: float | None = None
    session_s: float | None = None
    lateness_s: float | None = None

    @property
    def by_time_alone(self) -> bool:
        """Whether a row is inside by its own time, whatever else came."""
        return self.rows is None and self.session_s is None

    @property
    def moves_itself(self) -> bool:
        """Whether it moves at times of its own, not with every row and tick."""
        return self.slide_rows is not None or self.slide_s is not None

    @property
    def words(self) -> list[tuple[str, int | float, bool]]:
        """The bounds there are: word, amount, and whether it counts seconds."""
        found = zip(self._fields, self, strict=True)
        return [(n.split("_")[0], v, n.endswith("_s")) for n, v in found if v is not None]


class AggregateFunction(Enum):
    """The aggregates StreamSQL knows."""

    COUNT = "COUNT"
    SUM = "SUM"
    MIN = "MIN"
    MAX = "MAX"
    AVG = "AVG"
    VAR_SAMP = "VAR_SAMP"
    VAR_POP = "VAR_POP"
    STDDEV_SAMP = "STDDEV_SAMP"
    STDDEV_POP = "STDDEV_POP"
    QUANTILE_CONT = "QUANTILE_CONT"
    QUANTILE_DISC = "QUANTILE_DISC"
    MODE = "MODE"
    BOOL_AND = "BOOL_AND"
    BOOL_OR = "BOOL_OR"
    ARG_MIN = "ARG_MIN"
    ARG_MAX = "ARG_MAX"
    STRING_AGG = "STRING_AGG"
    ARRAY_AGG = "ARRAY_AGG"
    CORR = "CORR"
    COVAR_POP = "COVAR_POP"
    COVAR_SAMP = "COVAR_SAMP"
    REGR_SLOPE = "REGR_SLOPE"
    REGR_INTERCEPT = "REGR_INTERCEPT"
    REGR_R2 = "REGR_R2"


MERGEABLE = (
    AggregateFunction.COUNT,
    AggregateFunction.SUM,
    AggregateFunction.MIN,
    AggregateFunction.MAX,
    AggregateFunction.AVG,
)
"""Those of which parts of a group have partial results of a few bytes that merge."""
PAIRED = frozenset(
    {
        AggregateFunction.CORR,
        AggregateFunction.COVAR_POP,
        AggregateFunction.COVAR_SAMP,
        AggregateFunction.REGR_SLOPE,
        AggregateFunction.REGR_INTERCEPT,
        AggregateFunction.REGR_R2,
    }
)
"""Those of two numbers, y and x."""
ORDERED = PAIRED | {
    AggregateFunction.ARG_MIN,
    AggregateFunction.ARG_MAX,
    AggregateFunction.ARRAY_AGG,
    AggregateFunction.STRING_AGG,
}
"""Those that look at a second column."""
WITH_CONSTANT = frozenset(
    {
        AggregateFunction.QUANTILE_CONT,
        AggregateFunction.QUANTILE_DISC,
        AggregateFunction.STRING_AGG,
    }
)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate of a GroupBy.

    Args:
        argument: column aggregated; None for COUNT(*).
        distinct: whether equal values count once.
        order: what ARG_MIN and ARG_MAX choose by, what STRING_AGG and ARRAY_AGG sort by; x of those
            of pairs.
        constant: the fraction of a quantile, or what STRING_AGG writes between two texts.

    Raises:
        PlanError: an order or a constant that the function does not have, or lacks.
    """

    function: AggregateFunction
    argument: str | None
    output: Column
    distinct: bool = False
    order: SortKey | None = None
    constant: Value = None

    def __post_init__(self) -> None:
        if (self.order is not None) != (self.function in ORDERED):
            wanted = "needs an" if self.order is None else "has no"
            raise PlanError(f"{self.function.value} {wanted} order")
        if (self.constant is not None) != (self.function in WITH_CONSTANT):
            wanted = "needs a" if self.constant is None else "has no"
            raise PlanError(f"{self.function.value} {wanted} constant")

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns it looks at: its argument, and what orders it."""
        order = None if self.order is None else self.order.column
        return tuple(name for name in (self.argument, order) if name is not None)

    @property
    def falling(self) -> tuple[bool, bool]:
        """Whether its order falls, and whether nulls come last in it."""
        order = self.order
        return (False, False) if order is None else (order.descending, order.nulls_last)


@dataclass(frozen=True, slots=True)
class Best:
    """Aggregate selection inside recursion: per key, only the best row goes on.

    With further choices, the rows go on that are the best for at least one; among rows equal in
    one choice, the others decide in their order.

    Args:
        keys: columns of the recursive relation that form the group.
        column: the column minimised or maximised; costs may only grow (shrink) along the step.
        function: MIN or MAX.
        more: further choices, each a column and MIN or MAX.
    """

    keys: tuple[str, ...]
    column: str
    function: AggregateFunction
    more: tuple[tuple[str, AggregateFunction], ...] = ()

    @property
    def choices(self) -> tuple[tuple[str, AggregateFunction], ...]:
        """Every column chosen by, with how."""
        return ((self.column, self.function), *self.more)


@dataclass(frozen=True)
class Scan(PlanBase):
    """The rows of a relation, each column prefixed by the alias: `m.mid`.

    Args:
        deletable: whether base rows get provenance variables (see Relation.deletable).
        stream: whether the relation only grows; a stream must pass a Window before anything
            that keeps state.
    """

    relation: str
    alias: str
    columns: tuple[Column, ...]
    deletable: bool = True
    stream: bool = False


@dataclass(frozen=True)
class Values(PlanBase):
    """Rows written in the query itself; one row without columns is what `SELECT 1` reads.

    Args:
        demand: whether the rows are those that a filter above asks for once more, so that with
            further rows here the plan's answer would be the same.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Const, ...], ...] = ((),)
    demand: bool = False

    def __post_init__(self) -> None:
        refuse_twins(self)
        for row in self.rows:
            if len(row) != len(self.columns):
                raise PlanError(
                    f"Values has {len(self.columns)} columns", found=f"a row of {len(row)} values"
                )
        if self.demand and (
            len(self.rows) != 1 or any(value.value is None for value in self.rows[0])
        ):
            raise PlanError("a demand is one row without nulls")
        super().__post_init__()
