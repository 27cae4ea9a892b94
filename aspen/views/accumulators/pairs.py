"""CORR, COVAR_POP, COVAR_SAMP, REGR_SLOPE, REGR_INTERCEPT, REGR_R2: how two values go together.

Sums are exact, as in `sums`: x is kept in multiples of a power of two, y in those of another one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from aspen.algebra.plan import AggregateFunction
from aspen.model.schema import Value
from aspen.views.accumulators.base import Accumulator, Weighed

# n: pairs   x, y, xx, xy, yy: sums of values and products, in units of 2**-x_bits and 2**-y_bits


class Pairs(Accumulator):
    """A statistic of pairs of numbers, rounded once; pairs with a null do not count."""

    __slots__ = ("_function", "_n", "_x", "_x_bits", "_xx", "_xy", "_y", "_y_bits", "_yy")

    def __init__(self, function: AggregateFunction) -> None:
        self._function = function
        self._n = self._x = self._y = self._xx = self._xy = self._yy = 0
        self._x_bits = self._y_bits = 0

    def take(self, values: Sequence[Weighed]) -> None:
        """Add all pairs, exactly."""
        for (x, y), weight in values:
            if x is None:
                continue
            across, x_unit = x.as_integer_ratio()
            up, y_unit = y.as_integer_ratio()
            x_bits, y_bits = x_unit.bit_length() - 1, y_unit.bit_length() - 1
            if x_bits > self._x_bits or y_bits > self._y_bits:
                self._refine(max(x_bits - self._x_bits, 0), max(y_bits - self._y_bits, 0))
            across <<= self._x_bits - x_bits
            up <<= self._y_bits - y_bits
            self._n += weight
            self._x += across * weight
            self._y += up * weight
            self._xx += across * across * weight
            self._xy += across * up * weight
            self._yy += up * up * weight

    def _refine(self, x_more: int, y_more: int) -> None:
        self._x <<= x_more
        self._y <<= y_more
        self._xx <<= 2 * x_more
        self._xy <<= x_more + y_more
        self._yy <<= 2 * y_more
        self._x_bits += x_more
        self._y_bits += y_more

    def value(self) -> Value:
        """Returns the statistic; null where there are too few pairs, or no spread to divide by."""
        try:
            return self._statistic()
        except (OverflowError, ZeroDivisionError):
            return None

    def _statistic(self) -> float | None:
        n, x_bits, y_bits = self._n, self._x_bits, self._y_bits
        # n² times the variances and the covariance.
        x_spread = n * self._xx - self._x**2
        y_spread = n * self._yy - self._y**2
        shared = n * self._xy - self._x * self._y
        match self._function:
            case AggregateFunction.COVAR_POP:
                return shared / (n * n << x_bits + y_bits)
            case AggregateFunction.COVAR_SAMP:
                return shared / (n * (n - 1) << x_bits + y_bits)
            case AggregateFunction.REGR_SLOPE:
                return (shared << x_bits) / (x_spread << y_bits)
            case AggregateFunction.REGR_INTERCEPT:
                return (self._y * x_spread - shared * self._x) / (n * x_spread << y_bits)
            case AggregateFunction.REGR_R2 if x_spread and not y_spread:
                return 1.0
        determined = shared**2 / (x_spread * y_spread)
        if self._function is AggregateFunction.REGR_R2:
            return determined
        root = math.sqrt(determined)
        return root if shared >= 0 else -root
