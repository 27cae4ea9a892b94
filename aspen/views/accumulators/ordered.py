"""MIN, MAX, quantiles, MODE, ARG_MIN, STRING_AGG and others: what needs the values in order."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from typing import Any, cast

from aspen.algebra import arrays, texts
from aspen.model.arrays import Array
from aspen.model.schema import Value
from aspen.views.accumulators.base import Accumulator, Weighed


class Ordered(Accumulator):
    """The distinct values in order, so that a deleted one has its successor."""

    __slots__ = ("_ordered", "_weights")

    def __init__(self) -> None:
        self._ordered: list[Any] = []
        self._weights: dict[Any, int] = {}

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


class Extreme(Ordered):
    """MIN or MAX.

    Args:
        index: 0 for the least, -1 for the greatest.
    """

    __slots__ = ("_index",)

    def __init__(self, index: int) -> None:
        super().__init__()
        self._index = index

    def value(self) -> Value:
        """Returns the best value, null when there is none."""
        best: Value = self._ordered[self._index] if self._ordered else None
        return best


class Quantile(Ordered):
    """The value below which a fraction of the values lies.

    Args:
        fraction: 0 for the least, 0.5 for the median, 1 for the greatest.
        between: whether it may lie between two values; else it is one of them.

    Source: Hyndman, Fan, Sample Quantiles in Statistical Packages (1996), types 7 and 1.
    """

    __slots__ = ("_between", "_count", "_fraction")

    def __init__(self, fraction: float, *, between: bool) -> None:
        super().__init__()
        self._fraction = fraction
        self._between = between
        self._count = 0

    def take(self, values: Sequence[Weighed]) -> None:
        """Count the values in their order."""
        self._count += sum([weight for _, weight in values])
        super().take(values)

    def value(self) -> Value:
        """Returns the quantile, null when there are no values."""
        count = self._count
        if not count:
            return None
        if not self._between:
            index = max(1, count - math.floor(count - self._fraction * count)) - 1
            found: Value = next(self._from(index))
            return found
        place = (count - 1) * self._fraction
        index = math.floor(place)
        following = self._from(index)
        low = float(next(following))
        share = place - index
        return low if not share else low + (float(next(following)) - low) * share

    def _from(self, index: int) -> Iterator[Any]:
        """Returns the values from an index on, each as often as it came."""
        for value in self._ordered:
            weight = self._weights[value]
            if index < weight:
                yield from repeat(value, weight - max(index, 0))
            index -= weight


class Mode(Ordered):
    """The most frequent value, the least of them where several are."""

    __slots__ = ()

    def value(self) -> Value:
        """Returns the value, null when there is none."""
        most: Value = max(self._ordered, key=self._weights.__getitem__, default=None)
        return most


class Chosen(Extreme):
    """ARG_MIN or ARG_MAX: the value beside the best of what is chosen by; ties by the value.

    Args:
        index: 0 for the least, -1 for the greatest.
    """

    __slots__ = ()

    def take(self, values: Sequence[Weighed]) -> None:
        """Take pairs; those without what is chosen by do not count."""
        super().take([item for item in values if item[0][0] is not None])

    def value(self) -> Value:
        """Returns the value of the best pair, null when there is none."""
        best: Value = self._ordered[self._index][1] if self._ordered else None
        return best


class Concatenated(Ordered):
    """STRING_AGG and ARRAY_AGG: what is sorted, by its key and by itself, one behind the other.

    Args:
        between: stands between two texts; None where arrays are put together.
        descending: whether the order falls.
        nulls_last: whether what has no key comes last.
    """

    __slots__ = ("_between", "_descending", "_nulls_last")

    def __init__(self, between: str | None, *, descending: bool, nulls_last: bool) -> None:
        super().__init__()
        self._between = between
        self._descending = descending
        self._nulls_last = nulls_last

    def take(self, values: Sequence[Weighed]) -> None:
        """Take pairs of a key and what is sorted by it."""
        last = self._nulls_last != self._descending
        super().take(
            [
                (((by is None) == last, 0 if by is None else by, value), weight)
                for (by, value), weight in values
            ]
        )

    def value(self) -> Value:
        """Returns all of them in order, null when there are none, and where it grows too long."""
        if not self._ordered:
            return None
        between = self._between
        measure = arrays.size if between is None else lambda text: len(text) + len(between)
        length = -len(between or "")
        found: list[Any] = []
        for key in reversed(self._ordered) if self._descending else self._ordered:
            weight = self._weights[key]
            length += weight * measure(key[2])
            if length > texts.TEXT_MOST:
                return None
            found += repeat(key[2], weight)
        whole: Any = Array(chain.from_iterable(found)) if between is None else between.join(found)
        return cast("Value", whole)
