"""What every accumulator does: take values in and out, and say what they come to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from aspen.model.schema import Row, Value

Weighed = tuple[Any, int]
"""A value and how often it came (or went); where an order counts, a pair of (by, value)."""


class Accumulator(ABC):
    """State of one aggregate over one group."""

    __slots__ = ()

    @abstractmethod
    def take(self, values: Sequence[Weighed]) -> None:
        """Take values in (weight > 0) and out (weight < 0). Null values never come here."""

    @abstractmethod
    def value(self) -> Value:
        """Returns the aggregate."""


def weighed(rows: Sequence[tuple[Row, int]], reads: Sequence[int]) -> Sequence[Weighed]:
    """Returns what an accumulator takes of some rows.

    Args:
        reads: index of the column that is aggregated, and of what it is ordered by; none for
            COUNT(*).
    """
    if not reads:
        return rows
    if len(reads) == 1:
        (at,) = reads
        return [(row[at], weight) for row, weight in rows if row[at] is not None]
    at, by = reads
    return [((row[by], row[at]), weight) for row, weight in rows if row[at] is not None]


class DistinctOf(Accumulator):
    """Another aggregate over each value once."""

    __slots__ = ("_inner", "_weights")

    def __init__(self, inner: Accumulator) -> None:
        self._inner = inner
        self._weights: dict[Value, int] = {}

    def take(self, values: Sequence[Weighed]) -> None:
        """Tell the inner aggregate which values come to be or cease to be."""
        weights = self._weights
        changed: list[Weighed] = []
        for value, weight in values:
            old = weights.get(value, 0)
            new = old + weight
            if new:
                weights[value] = new
            else:
                weights.pop(value, None)
            if (old > 0) != (new > 0):
                changed.append((value, 1 if new > 0 else -1))
        self._inner.take(changed)

    def value(self) -> Value:
        """Returns the inner aggregate."""
        return self._inner.value()
