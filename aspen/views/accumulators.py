"""Accumulators: one aggregate's state over one group, under insertion and deletion.

A float sum is kept exactly, as an integer multiple of the smallest float: no rounding drifts in,
and the order in which rows came and went cannot show.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, insort
from typing import Any

from aspen.algebra.plan import Aggregate, AggregateFunction
from aspen.model.schema import Column, Type, Value

_SCALE_BITS = 1074  # the smallest positive float is 2**-1074
_SCALE = 1 << _SCALE_BITS


class Accumulator(ABC):
    """State of one aggregate over one group."""

    __slots__ = ()

    @abstractmethod
    def add(self, value: Value, weight: int) -> None:
        """Take a value in (weight > 0) or out (weight < 0). Null values never come here."""

    @abstractmethod
    def value(self) -> Value:
        """Give the aggregate."""


class Count(Accumulator):
    """COUNT of non-null values."""

    __slots__ = ("_count",)

    def __init__(self) -> None:
        self._count = 0

    def add(self, value: Value, weight: int) -> None:
        """Count."""
        del value
        self._count += weight

    def value(self) -> Value:
        """Give the count, 0 when there is nothing."""
        return self._count


class Sum(Accumulator):
    """SUM, and AVG from sum and count; null over nothing, and beyond the largest float.

    Args:
        exact: the values are integers.
        mean: give the average instead.
    """

    __slots__ = ("_count", "_exact", "_mean", "_total")

    def __init__(self, *, exact: bool, mean: bool) -> None:
        self._exact = exact
        self._mean = mean
        self._count = 0
        self._total = 0

    def add(self, value: Any, weight: int) -> None:
        """Add the value, exactly."""
        self._count += weight
        if self._exact:
            self._total += value * weight
            return
        numerator, denominator = float(value).as_integer_ratio()
        self._total += (numerator << (_SCALE_BITS + 1 - denominator.bit_length())) * weight

    def value(self) -> Value:
        """Give the sum or the mean."""
        if not self._count:
            return None
        try:
            # The division of integers rounds once and correctly.
            total: float = self._total if self._exact else self._total / _SCALE
            return total / self._count if self._mean else total
        except OverflowError:
            return None  # as an expression that overflows does


class Extreme(Accumulator):
    """MIN or MAX: the distinct values in order, so that a deleted best has its successor.

    Args:
        place: 0 for the least, -1 for the greatest.
    """

    __slots__ = ("_ordered", "_place", "_weights")

    def __init__(self, place: int) -> None:
        self._place = place
        self._ordered: list[Any] = []
        self._weights: dict[Value, int] = {}

    def add(self, value: Any, weight: int) -> None:
        """Count the value; keep the order when it comes or goes."""
        old = self._weights.get(value, 0)
        new = old + weight
        if new:
            self._weights[value] = new
            if not old:
                insort(self._ordered, value)
        else:
            del self._weights[value]
            if old:
                del self._ordered[bisect_left(self._ordered, value)]

    def value(self) -> Value:
        """Give the best value, null when there is none."""
        best: Value = self._ordered[self._place] if self._ordered else None
        return best


class DistinctOf(Accumulator):
    """Another aggregate over each value once."""

    __slots__ = ("_inner", "_weights")

    def __init__(self, inner: Accumulator) -> None:
        self._inner = inner
        self._weights: dict[Value, int] = {}

    def add(self, value: Value, weight: int) -> None:
        """Tell the inner aggregate when a value comes to be or ceases to be."""
        old = self._weights.get(value, 0)
        new = old + weight
        if new:
            self._weights[value] = new
        else:
            self._weights.pop(value, None)
        if (old > 0) != (new > 0):
            self._inner.add(value, 1 if new > 0 else -1)

    def value(self) -> Value:
        """Give the inner aggregate."""
        return self._inner.value()


def accumulator(aggregate: Aggregate, column: Column | None) -> Accumulator:
    """Give an empty accumulator.

    Args:
        column: the aggregated one, None for COUNT(*).
    """
    match aggregate.function:
        case AggregateFunction.COUNT:
            inner: Accumulator = Count()
        case AggregateFunction.MIN:
            inner = Extreme(0)
        case AggregateFunction.MAX:
            inner = Extreme(-1)
        case function:
            exact = column is not None and column.type is Type.INT
            inner = Sum(exact=exact, mean=function is AggregateFunction.AVG)
    return DistinctOf(inner) if aggregate.distinct else inner
