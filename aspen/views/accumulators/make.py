"""Which accumulator keeps which aggregate."""

from __future__ import annotations

from aspen.algebra.plan import Aggregate, AggregateFunction
from aspen.model.schema import Type
from aspen.views.accumulators.base import Accumulator, DistinctOf
from aspen.views.accumulators.ordered import Chosen, Concatenated, Extreme, Mode, Quantile
from aspen.views.accumulators.pairs import Pairs
from aspen.views.accumulators.sums import Count, Spread, Sum


def accumulator(aggregate: Aggregate, kind: Type | None) -> Accumulator:
    """Returns an empty accumulator.

    Args:
        kind: of the values, None for COUNT(*).
    """
    digits = None if kind is None else kind.digits
    if digits is not None and aggregate.function is AggregateFunction.AVG:
        inner: Accumulator = Sum(whole=True, mean=True, scale=digits[1])
    else:
        inner = _inner(aggregate, whole=kind is Type.INT or digits is not None)
    return DistinctOf(inner) if aggregate.distinct else inner


def _inner(aggregate: Aggregate, *, whole: bool) -> Accumulator:
    match aggregate.function:
        case AggregateFunction.COUNT:
            return Count()
        case AggregateFunction.SUM:
            return Sum(whole=whole, mean=False)
        case AggregateFunction.AVG:
            return Sum(whole=whole, mean=True)
        case AggregateFunction.MIN | AggregateFunction.BOOL_AND:
            return Extreme(0)
        case AggregateFunction.MAX | AggregateFunction.BOOL_OR:
            return Extreme(-1)
        case AggregateFunction.VAR_SAMP:
            return Spread(whole=whole, sample=True, root=False)
        case AggregateFunction.VAR_POP:
            return Spread(whole=whole, sample=False, root=False)
        case AggregateFunction.STDDEV_SAMP:
            return Spread(whole=whole, sample=True, root=True)
        case AggregateFunction.STDDEV_POP:
            return Spread(whole=whole, sample=False, root=True)
        case AggregateFunction.QUANTILE_CONT:
            return Quantile(float(aggregate.constant or 0), between=True)
        case AggregateFunction.QUANTILE_DISC:
            return Quantile(float(aggregate.constant or 0), between=False)
        case AggregateFunction.MODE:
            return Mode()
        case AggregateFunction.ARG_MIN:
            return Chosen(0)
        case AggregateFunction.ARG_MAX:
            return Chosen(-1)
        case (
            AggregateFunction.CORR
            | AggregateFunction.COVAR_POP
            | AggregateFunction.COVAR_SAMP
            | AggregateFunction.REGR_SLOPE
            | AggregateFunction.REGR_INTERCEPT
            | AggregateFunction.REGR_R2
        ):
            return Pairs(aggregate.function)
        case AggregateFunction.STRING_AGG | AggregateFunction.ARRAY_AGG:
            descending, nulls_last = aggregate.falling
            between = None if aggregate.constant is None else str(aggregate.constant)
            return Concatenated(between, descending=descending, nulls_last=nulls_last)
