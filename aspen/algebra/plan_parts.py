"""What plan nodes are made of: aggregates, sort keys, and the checks they share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from aspen.errors import AspenError
from aspen.model.schema import Column


class PlanError(AspenError):
    """A plan node that makes no sense."""

    code = "aspen.algebra.plan"


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

    Args:
        keys: columns of the recursive view that form the group.
        column: the column minimised or maximised; costs may only grow (shrink) along the step.
        function: MIN or MAX.
    """

    keys: tuple[str, ...]
    column: str
    function: AggregateFunction
