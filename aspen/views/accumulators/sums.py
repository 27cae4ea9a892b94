"""COUNT, SUM, AVG, variances and standard deviations: what adds up.

A sum of floats is kept exactly, as an integer multiple of a power of two: no rounding drifts in,
and the order in which rows came and went cannot show. The power is the least that any value so far
needed; readings of sensors need about 2**-50, so that their sums are small integers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from aspen.algebra.whole import fits, refuse
from aspen.model.schema import Value
from aspen.views.accumulators.base import Accumulator, Weighed


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


class ExactSum:
    """A sum of numbers or of their squares: `total / 2**bits`.

    Args:
        whole: the values are integers.
        power: 1 for the values, 2 for their squares.
    """

    __slots__ = ("_power", "_whole", "bits", "total")

    def __init__(self, *, whole: bool, power: int = 1) -> None:
        self._whole = whole
        self._power = power
        self.total = 0
        self.bits = 0

    def take(self, values: Sequence[Weighed]) -> None:
        """Add all values, exactly."""
        power = self._power
        if self._whole:
            self.total += sum([value**power * weight for value, weight in values])
            return
        total, bits = self.total, self.bits
        for value, weight in values:
            numerator, denominator = float(value).as_integer_ratio()
            spare = bits + power - power * denominator.bit_length()
            if spare < 0:
                total <<= -spare
                bits -= spare
                spare = 0
            total += (numerator**power << spare) * weight
        self.total, self.bits = total, bits


class Sum(Accumulator):
    """SUM, and AVG from sum and count; null over nothing, and beyond the largest FLOAT.

    Args:
        whole: the values are integers.
        mean: give the average instead.
        scale: digits behind the point of whole values that are decimals, for their average.
    """

    __slots__ = ("_count", "_mean", "_parts", "_sum", "_whole")

    def __init__(self, *, whole: bool, mean: bool, scale: int = 0) -> None:
        self._whole = whole
        self._mean = mean
        self._parts = 10**scale
        self._count = 0
        self._sum = ExactSum(whole=whole)

    def take(self, values: Sequence[Weighed]) -> None:
        """Add all values, exactly."""
        self._count += sum([weight for _, weight in values])
        self._sum.take(values)

    def value(self) -> Value:
        """Returns the sum or the mean.

        Raises:
            OutOfRange: a sum of INT that is none, when all values are in it.
        """
        if not self._count:
            return None
        try:
            # The division of integers rounds once and correctly.
            kept = self._sum
            if self._whole and not self._mean and not fits(kept.total):
                refuse("=", "SUM", kept.total)
            total: float = kept.total if self._whole else kept.total / (1 << kept.bits)
            return total / (self._count * self._parts) if self._mean else total
        except OverflowError:
            return None  # as an expression that overflows does


class Spread(Accumulator):
    """Variance or standard deviation, of a sample or of all there is.

    Args:
        whole: the values are integers.
        sample: divide by one fewer than there are; null for a single value.
        root: give the standard deviation instead.
    """

    __slots__ = ("_count", "_root", "_sample", "_squares", "_sum")

    def __init__(self, *, whole: bool, sample: bool, root: bool) -> None:
        self._sample = sample
        self._root = root
        self._count = 0
        self._sum = ExactSum(whole=whole)
        self._squares = ExactSum(whole=whole, power=2)

    def take(self, values: Sequence[Weighed]) -> None:
        """Add all values and their squares, exactly."""
        self._count += sum([weight for _, weight in values])
        self._sum.take(values)
        self._squares.take(values)

    def value(self) -> Value:
        """Returns the spread, rounded once."""
        count, values, squares = self._count, self._sum, self._squares
        free = count - self._sample
        if free <= 0:
            return None
        # n Σx² - (Σx)², over one power of two.
        above = (count * squares.total << 2 * values.bits) - (values.total**2 << squares.bits)
        try:
            variance = above / (count * free << squares.bits + 2 * values.bits)
        except OverflowError:
            return None
        return math.sqrt(variance) if self._root else variance
