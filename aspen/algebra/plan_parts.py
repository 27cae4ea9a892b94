"""What plans begin with and are made of: leaves, aggregates, sort keys, shared checks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from aspen.algebra.expr import Const
from aspen.errors import AspenError
from aspen.model.schema import Column


class PlanError(AspenError, code="aspen.algebra.plan"):
    """A plan node that makes no sense."""


def refuse_twins(columns: tuple[Column, ...], node: str) -> None:
    """Refuse columns of one name."""
    names = [column.name for column in columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise PlanError(f"{node} gives two columns one name", found=", ".join(twice))


def require_columns(names: Iterable[str], columns: tuple[Column, ...], node: str) -> None:
    """Refuse names that no column has."""
    existing = tuple(column.name for column in columns)
    for name in names:
        if name not in existing:
            raise PlanError(f"{node} names {name!r}", found=name, exists=existing)


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
        range_s: seconds of log time a row stays.
        slide_s: the window moves only at multiples of so many seconds, else with every tick.
    """

    rows: int | None = None
    range_s: float | None = None
    slide_s: float | None = None

    @property
    def words(self) -> list[tuple[str, int | float, bool]]:
        """The bounds there are: word, amount, and whether it counts seconds."""
        found = zip(self._fields, self, strict=True)
        return [(n.removesuffix("_s"), v, n.endswith("_s")) for n, v in found if v is not None]


class AggregateFunction(Enum):
    """The aggregates StreamSQL knows."""

    COUNT = "COUNT"
    SUM = "SUM"
    MIN = "MIN"
    MAX = "MAX"
    AVG = "AVG"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate of a GroupBy.

    Args:
        argument: column aggregated; None for COUNT(*).
        distinct: whether equal values count once.
    """

    function: AggregateFunction
    argument: str | None
    output: Column
    distinct: bool = False


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


@dataclass(frozen=True, slots=True)
class Scan:
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


@dataclass(frozen=True, slots=True)
class Values:
    """Rows written in the query itself; one row without columns is what `SELECT 1` reads.

    Args:
        demand: whether the rows are those that a filter above asks for once more, so that with
            further rows here the plan's answer would be the same.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Const, ...], ...] = ((),)
    demand: bool = False

    def __post_init__(self) -> None:
        refuse_twins(self.columns, "Values")
        for row in self.rows:
            if len(row) != len(self.columns):
                raise PlanError(
                    f"Values has {len(self.columns)} columns", found=f"a row of {len(row)} values"
                )
        if self.demand and (
            len(self.rows) != 1 or any(value.value is None for value in self.rows[0])
        ):
            raise PlanError("a demand is one row without nulls")
