"""What a node of a part carries: the columns that say which part a row belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from aspen.algebra.expr import Col, Expr, Op, conjuncts
from aspen.algebra.plan import Plan
from aspen.model.schema import Column


class Carried(Enum):
    """Why a column says which part a row belongs to."""

    VALUE = "value"
    KEY = "key"


@dataclass(frozen=True, slots=True)
class Root:
    """What rows are split by.

    Args:
        relation: a base relation.
        column: of it; rows of equal values are in one part.
        key: a column of it that no two rows have in common, empty to do without.
    """

    relation: str
    column: str
    key: str = ""

    def __str__(self) -> str:
        return f"{self.relation}.{self.column}"


Indexed = dict[int, Carried]
Kept = Mapping[str, Carried]
"""The carried columns of a node; empty where its rows are spread. A whole node has None."""


@dataclass(frozen=True, slots=True)
class PartNode:
    """A node of a part.

    Args:
        plan: what computes it.
        kept: the carried columns, empty for Spread, None for Whole.
    """

    plan: Plan
    kept: Kept | None = None


def value_column(kept: Kept) -> str | None:
    """Returns a column that has the root's value, None without one."""
    return next((column for column, how in kept.items() if how is Carried.VALUE), None)


def only(kept: Kept, columns: Iterable[str]) -> dict[str, Carried]:
    """Returns what is carried by some columns."""
    return {column: kept[column] for column in columns if column in kept}


def through(kept: Kept | None, outputs: Iterable[tuple[str, str]]) -> dict[str, Carried] | None:
    """Returns what is carried behind a projection of (output, column) pairs."""
    if kept is None:
        return None
    return {output: kept[column] for output, column in outputs if column in kept}


def meets(left: Kept, right: Kept, on: Iterable[tuple[str, str]]) -> bool:
    """Whether rows that join are always in one part."""
    return any(one in left and left[one] is right.get(other) for one, other in on)


def with_equals(kept: Kept, equal: Iterable[tuple[str, str]]) -> dict[str, Carried]:
    """Let columns that equal a carried one be carried too."""
    found, pairs = dict(kept), list(equal)
    for _ in pairs:
        for one, other in pairs:
            for known, new in ((one, other), (other, one)):
                if known in found:
                    found.setdefault(new, found[known])
    return found


def equalities(predicate: Expr | None) -> list[tuple[str, str]]:
    """Returns the pairs of columns that a predicate says are equal."""
    return [
        (part.left.name, part.right.name)
        for part in conjuncts(predicate)
        if isinstance(part, Op)
        and part.symbol == "="
        and isinstance(part.left, Col)
        and isinstance(part.right, Col)
    ]


def by_index(kept: Kept | None, plan: Plan) -> Indexed | None:
    """Returns what is carried by index, None for a whole node."""
    if kept is None:
        return None
    names = [column.name for column in plan.columns]
    return {names.index(column): how for column, how in kept.items()}


def by_name(indexed: Indexed, columns: Sequence[Column]) -> Kept:
    """Returns what is carried by name."""
    return {columns[index].name: how for index, how in indexed.items()}


def common_indices(found: Sequence[Indexed]) -> Indexed | None:
    """Returns what all carry, in the order of the columns; None when there are none."""
    if not found:
        return None
    return {
        index: found[0][index]
        for index in sorted(found[0])
        if all(other.get(index) is found[0][index] for other in found[1:])
    }
