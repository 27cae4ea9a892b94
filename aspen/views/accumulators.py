"""Accumulators: one aggregate's state over one group, under insertion and deletion.

A float sum is kept exactly, as an integer multiple of a power of two: no rounding drifts in, and
the order in which rows came and went cannot show. The power is the least that any value so far
needed; readings of sensors need about 2**-50, so that their sums are small integers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, insort
from collections.abc import Sequence
from typing import Any

from aspen.algebra.plan import Aggregate, AggregateFunction
from aspen.model.schema import Column, Type, Value

Weighed = tuple[Any, int]
"""A value and how often it came (or went)."""


class Accumulator(ABC):
    """State of one aggregate over one group."""

    __slots__ = ()

    @abstractmethod
    def take(self, values: Sequence[Weighed]) -> None:
        """Take values in (weight > 0) and out (weight < 0). Null values never come here."""

    @abstractmethod
    def value(self) -> Value:
        """Returns the aggregate."""


class Count(Accumulator):
    """COUNT of non-null values."""

    __slots__ = ("_count",)

    def __init__(self) -> None:
        self._count = 0

    def take(self, values: Sequence[Weighed]) -> None:
        """Count them all."""
        self._count += sum([weight for _, weight in values])

    def value(self) -> Value:
        """Returns the count, 0 when there is nothing."""
        return self._count


class Sum(Accumulator):
    """SUM, and AVG from sum and count; null over nothing, and beyond the largest float.

    Args:
        exact: the values are integers.
        mean: give the average instead.
    """

    __slots__ = ("_bits", "_count", "_exact", "_mean", "_total")

    def __init__(self, *, exact: bool, mean: bool) -> None:
        self._exact = exact
        self._mean = mean
        self._count = 0
        # In units of 2**-bits; 0 bits for integers.
        self._total = 0
        self._bits = 0

    def take(self, values: Sequence[Weighed]) -> None:
        """Add all values, exactly."""
        self._count += sum([weight for _, weight in values])
        if self._exact:
            self._total += sum([value * weight for value, weight in values])
            return
        total, bits = self._total, self._bits
        for value, weight in values:
            numerator, denominator = float(value).as_integer_ratio()
            spare = bits + 1 - denominator.bit_length()
            if spare < 0:
                total <<= -spare
                bits -= spare
                spare = 0
            total += (numerator << spare) * weight
        self._total, self._bits = total, bits

    def value(self) -> Value:
        """Returns the sum or the mean."""
        if not self._count:
            return None
        try:
            # The division of integers rounds once and correctly.
            total: float = self._total if self._exact else self._total / (1 << self._bits)
            return total / self._count if self._mean else total
        except OverflowError:
            return None  # as an expression that overflows does


class Extreme(Accumulator):
    """MIN or MAX: the distinct values in order, so that a deleted best has its successor.

    Args:
        index: 0 for the least, -1 for the greatest.
    """

    __slots__ = ("_index", "_ordered", "_weights")

    def __init__(self, index: int) -> None:
        self._index = index
        self._ordered: list[Any] = []
        self._weights: dict[Value, int] = {}

    def take(self, values: Sequence[Weighed]) -> None:
        """Count the values; keep the order where they come or go."""
        weights, ordered = self._weights, self._ordered
        weigh = weights.get
        for value, weight in values:
            old = weigh(value, 0)
            new = old + weight
            if new:
                weights[value] = new
                if not old:
                    insort(ordered, value)
            else:
                del weights[value]
                if old:
                    del ordered[bisect_left(ordered, value)]

    def value(self) -> Value:
        """Returns the best value, null when there is none."""
        best: Value = self._ordered[self._index] if self._ordered else None
        return best


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


def accumulator(aggregate: Aggregate, column: Column | None) -> Accumulator:
    """Returns an empty accumulator.

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
