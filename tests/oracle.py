"""Oracle: the answer from scratch, slow and obvious, that every incremental view must equal.

It shares no code with the operators except the evaluation of expressions.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from aspen.algebra.evaluate import compile_expr
from aspen.algebra.expr import Const, Expr, Outer, parts, with_parts
from aspen.algebra.order import row_order
from aspen.algebra.plan import (
    PAIRED,
    Aggregate,
    AggregateFunction,
    AntiJoin,
    Apply,
    ApplyKind,
    Distinct,
    Filter,
    Fixpoint,
    GroupBy,
    Join,
    MarkJoin,
    OuterJoin,
    Over,
    Plan,
    Project,
    Recursive,
    RecursiveRef,
    Scan,
    SetFunction,
    SetOperation,
    Ship,
    TopK,
    Union,
    Values,
    Window,
)
from aspen.model.arrays import Array
from aspen.model.delta import Delta, accumulate, delta_of, merge
from aspen.model.schema import Column, Row, Type, Value
from tests.oracle_over import over_rows


@dataclass(frozen=True)
class _Tables:
    contents: Mapping[str, Delta]
    windows: Mapping[Plan, Delta]
    recursive: Mapping[str, Delta] = field(default_factory=dict)
    around: Mapping[str, Value] = field(default_factory=dict)

    def function(self, expr: Expr, columns: tuple[Column, ...]) -> Callable[[Row], Value]:
        """Compiles an expression, with the values of the rows around it written in."""
        return compile_expr(_with_values(expr, self.around), columns)


def _with_values(expr: Expr, around: Mapping[str, Value]) -> Expr:
    if isinstance(expr, Outer):
        return Const(around[expr.name])
    return with_parts(expr, (_with_values(part, around) for part in parts(expr)))


def evaluate(
    plan: Plan, contents: Mapping[str, Delta], windows: Mapping[Plan, Delta] | None = None
) -> Delta:
    """Compute a plan's answer over the given contents.

    Args:
        contents: rows of every relation and view the plan scans; an absent one is empty.
        windows: what each Window node holds now; an absent one holds its whole child.

    Returns:
        The rows with their multiplicities.

    Law: the reference for every incremental strategy.
    Source: own.
    """
    return _rows(plan, _Tables(contents, windows or {}))


def _rows(plan: Plan, tables: _Tables) -> Delta:
    match plan:
        case Scan():
            return dict(tables.contents.get(plan.relation, {}))
        case RecursiveRef():
            return dict(tables.recursive[plan.name])
        case Window():
            held = tables.windows.get(plan)
            return _rows(plan.child, tables) if held is None else dict(held)
        case Ship():
            return _rows(plan.child, tables)
        case Filter():
            keep = tables.function(plan.predicate, plan.child.columns)
            return {r: w for r, w in _rows(plan.child, tables).items() if keep(r) is True}
        case Project():
            compute = [tables.function(expr, plan.child.columns) for _, expr in plan.outputs]
            projected: Delta = {}
            for row, weight in _rows(plan.child, tables).items():
                accumulate(projected, tuple(c(row) for c in compute), weight)
            return projected
        case Join():
            joined: Delta = {}
            right = _rows(plan.right, tables)
            partners = _Partners(plan, right, tables)
            for one, weight in _rows(plan.left, tables).items():
                for other in partners.of(one):
                    accumulate(joined, one + other, weight * right[other])
            return joined
        case AntiJoin():
            partners = _Partners(plan, _rows(plan.right, tables), tables)
            return {r: w for r, w in _rows(plan.left, tables).items() if not partners.of(r)}
        case MarkJoin():
            partners = _Partners(plan, _rows(plan.right, tables), tables)
            lefts = _rows(plan.left, tables)
            return {(*r, bool(partners.of(r))): w for r, w in lefts.items()}
        case OuterJoin():
            return _outer(plan, tables)
        case Apply():
            return _apply(plan, tables)
        case Union():
            total: Delta = {}
            for child in plan.children:
                merge(total, _rows(child, tables))
            return total
        case Values():
            return delta_of((tuple(value.value for value in row), 1) for row in plan.rows)
        case SetOperation():
            return _set_operation(plan, _rows(plan.left, tables), _rows(plan.right, tables))
        case TopK():
            return _top_k(plan, _rows(plan.child, tables))
        case Distinct():
            return dict.fromkeys(_rows(plan.child, tables), 1)
        case GroupBy():
            return _group(plan, _rows(plan.child, tables))
        case Over():
            return over_rows(plan, _rows(plan.child, tables), _aggregate)
        case Fixpoint():
            return _fixpoint(plan, tables)


def _outer(plan: OuterJoin, tables: _Tables) -> Delta:
    right = _rows(plan.right, tables)
    partners = _Partners(plan, right, tables)
    nothing = (None,) * len(plan.right.columns)
    joined: Delta = {}
    for row, weight in _rows(plan.left, tables).items():
        found = partners.of(row)
        for other in found:
            accumulate(joined, row + other, weight * right[other])
        if not found:
            accumulate(joined, row + nothing, weight)
    return joined


def _apply(plan: Apply, tables: _Tables) -> Delta:
    """Computes the right plan anew for every left row."""
    names = [column.name for column in plan.left.columns]
    found: Delta = {}
    for row, weight in _rows(plan.left, tables).items():
        around = {**tables.around, **dict(zip(names, row, strict=True))}
        right = _rows(plan.right, replace(tables, around=around))
        match plan.kind:
            case ApplyKind.ROWS:
                for other, times in right.items():
                    accumulate(found, row + other, weight * times)
            case ApplyKind.MARK:
                accumulate(found, (*row, bool(right)), weight)
            case ApplyKind.VALUE:
                single = [other[0] for other, times in right.items() if len(right) == times == 1]
                accumulate(found, (*row, *(single or [None])), weight)
            case kind:
                if bool(right) is (kind is ApplyKind.EXISTS):
                    accumulate(found, row, weight)
    return found


class _Partners:
    """The right rows that match a left row."""

    def __init__(
        self, plan: Join | AntiJoin | OuterJoin | MarkJoin, right: Delta, tables: _Tables
    ) -> None:
        lefts = [column.name for column in plan.left.columns]
        rights = [column.name for column in plan.right.columns]
        self.places = [lefts.index(left) for left, _ in plan.on]
        others = [rights.index(other) for _, other in plan.on]
        both = plan.left.columns + plan.right.columns
        self.residual = None if plan.residual is None else tables.function(plan.residual, both)
        self.by_key: dict[Row, list[Row]] = {}
        for row in right:
            self.by_key.setdefault(tuple(row[place] for place in others), []).append(row)

    def of(self, row: Row) -> list[Row]:
        key = tuple(row[place] for place in self.places)
        if None in key:
            return []
        found = self.by_key.get(key, [])
        if self.residual is None:
            return found
        return [other for other in found if self.residual(row + other) is True]


def _set_operation(plan: SetOperation, left: Delta, right: Delta) -> Delta:
    result: Delta = {}
    for row, weight in left.items():
        other = right.get(row, 0)
        if plan.function is SetFunction.INTERSECT:
            kept = min(weight, other)
        elif plan.keeps_duplicates:
            kept = weight - other
        else:
            kept = 0 if other else 1
        if kept > 0:
            result[row] = kept if plan.keeps_duplicates else 1
    return result


def _top_k(plan: TopK, rows: Delta) -> Delta:
    names = [column.name for column in plan.columns]
    places = [names.index(name) for name in plan.partition_by]
    parts: dict[Row, list[Row]] = {}
    for row, weight in rows.items():
        parts.setdefault(tuple(row[p] for p in places), []).extend([row] * weight)
    end = None if plan.limit is None else plan.offset + plan.limit
    order = row_order(plan.keys, plan.columns)
    kept = [row for part in parts.values() for row in sorted(part, key=order)[plan.offset : end]]
    return delta_of((row, 1) for row in kept)


def _group(plan: GroupBy, rows: Delta) -> Delta:
    names = [column.name for column in plan.child.columns]
    places = [names.index(key) for key in plan.keys]
    groups: dict[Row, Delta] = {} if plan.keys else {(): {}}
    for row, weight in rows.items():
        groups.setdefault(tuple(row[p] for p in places), {})[row] = weight
    return {
        key + tuple(_aggregate(a, plan.child.columns, members) for a in plan.aggregates): 1
        for key, members in groups.items()
    }


def _aggregate(aggregate: Aggregate, columns: tuple[Column, ...], rows: Delta) -> Any:
    if aggregate.argument is None:
        return sum(rows.values())
    names = [column.name for column in columns]
    place = names.index(aggregate.argument)
    every = [row for row, weight in rows.items() for _ in range(weight)]
    every = [row for row in every if row[place] is not None]
    if aggregate.order is not None:
        return _in_order(aggregate, place, names.index(aggregate.order.column), every)
    values: list[Any] = [row[place] for row in every]
    if aggregate.distinct:
        values = list(dict.fromkeys(values))
    if aggregate.function is AggregateFunction.COUNT:
        return len(values)
    if not values:
        return None
    match aggregate.function:
        case AggregateFunction.MIN | AggregateFunction.BOOL_AND:
            return min(values)
        case AggregateFunction.MAX | AggregateFunction.BOOL_OR:
            return max(values)
        case AggregateFunction.MODE:
            return min(values, key=lambda value: (-values.count(value), value))
        case AggregateFunction.QUANTILE_DISC:
            ranks = len(values) - math.floor(len(values) * (1 - _fraction(aggregate)))
            return sorted(values)[max(ranks, 1) - 1]
        case AggregateFunction.QUANTILE_CONT:
            place_in = (len(values) - 1) * _fraction(aggregate)
            low, high = math.floor(place_in), math.ceil(place_in)
            one, other = sorted(values)[low], sorted(values)[high]
            return one + (other - one) * (place_in - low)
        case AggregateFunction.VAR_POP:
            return float(statistics.pvariance(map(Fraction, values)))
        case AggregateFunction.STDDEV_POP:
            return math.sqrt(statistics.pvariance(map(Fraction, values)))
        case AggregateFunction.VAR_SAMP:
            return float(statistics.variance(map(Fraction, values))) if values[1:] else None
        case AggregateFunction.STDDEV_SAMP:
            return math.sqrt(statistics.variance(map(Fraction, values))) if values[1:] else None
        case function:
            numbers: list[float] = values
            # fsum rounds once, so the order of the rows cannot matter.
            exact = columns[place].type is Type.INT
            try:
                total = sum(numbers) if exact else math.fsum(numbers)
                return total if function is AggregateFunction.SUM else total / len(numbers)
            except OverflowError:
                return None


def _fraction(aggregate: Aggregate) -> float:
    assert isinstance(aggregate.constant, float)
    return aggregate.constant


def _in_order(aggregate: Aggregate, place: int, by: int, rows: list[Row]) -> Any:
    pairs: list[Any] = [(row[by], row[place]) for row in rows]
    known = [pair for pair in pairs if pair[0] is not None]
    if aggregate.function in PAIRED:
        return _of_pairs(aggregate.function, set(known) if aggregate.distinct else known)
    if aggregate.function is AggregateFunction.ARG_MIN:
        return min(known, default=(None, None))[1]
    if aggregate.function is AggregateFunction.ARG_MAX:
        return max(known, default=(None, None))[1]
    falling, nulls_last = aggregate.falling
    nulls = sorted(
        (pair for pair in pairs if pair[0] is None), key=lambda pair: pair[1], reverse=falling
    )
    known.sort(reverse=falling)
    texts = known + nulls if nulls_last else nulls + known
    if aggregate.distinct:
        texts = list(dict.fromkeys(texts))
    if aggregate.function is AggregateFunction.ARRAY_AGG and texts:
        return Array(one for _, values in texts for one in values)
    return str(aggregate.constant).join(text for _, text in texts) if texts else None


def _of_pairs(function: AggregateFunction, pairs: Collection[Any]) -> float | None:
    """Returns a statistic of pairs by its definition, rounded at the end."""
    if not pairs:
        return None
    xs, ys = ([Fraction(value) for value in side] for side in zip(*pairs, strict=True))
    x_mean, y_mean = statistics.mean(xs), statistics.mean(ys)
    both = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True))
    x_spread, y_spread = (sum((v - statistics.mean(vs)) ** 2 for v in vs) for vs in (xs, ys))
    match function:
        case AggregateFunction.COVAR_POP:
            return float(both / len(xs))
        case AggregateFunction.COVAR_SAMP:
            return float(both / (len(xs) - 1)) if xs[1:] else None
        case AggregateFunction.REGR_SLOPE:
            return float(both / x_spread) if x_spread else None
        case AggregateFunction.REGR_INTERCEPT:
            return float(y_mean - both / x_spread * x_mean) if x_spread else None
        case AggregateFunction.REGR_R2 if x_spread and not y_spread:
            return 1.0
    if not x_spread * y_spread:
        return None
    determined = float(both**2 / (x_spread * y_spread))
    if function is AggregateFunction.REGR_R2:
        return determined
    return math.sqrt(determined) if both >= 0 else -math.sqrt(determined)


def _fixpoint(plan: Fixpoint, tables: _Tables) -> Delta:
    """Apply all rules to all relations at once, again and again, until nothing moves."""
    bases = {one.name: dict.fromkeys(_rows(one.base, tables), 1) for one in plan.relations}
    rows: dict[str, Delta] = {one.name: {} for one in plan.relations}
    while True:
        inner = replace(tables, recursive={**tables.recursive, **rows})
        found: dict[str, Delta] = {}
        for one in plan.relations:
            derived = {**bases[one.name], **dict.fromkeys(_rows(one.step, inner), 1)}
            found[one.name] = derived if one.best is None else best_rows(one, derived)
        if found == rows:
            return rows[plan.name]
        rows = found


def best_rows(relation: Recursive, rows: Iterable[Row]) -> Delta:
    """Returns the rows that aggregate selection keeps: per key, the best of each choice."""
    best, names = relation.best, [column.name for column in relation.columns]
    assert best is not None
    places = [names.index(key) for key in best.keys]
    costs = [(names.index(column), function) for column, function in best.choices]
    kept: Delta = {}
    for cost, function in costs:
        order = [(cost, function), *(other for other in costs if other[0] != cost)]
        chosen: dict[Row, Row] = {}
        for row in rows:
            key = tuple(row[p] for p in places)
            if row[cost] is not None and (key not in chosen or _beats(row, chosen[key], order)):
                chosen[key] = row
        kept.update(dict.fromkeys(chosen.values(), 1))
    return kept


def _beats(row: Row, other: Row, order: list[tuple[int, AggregateFunction]]) -> bool:
    """Whether a row is better: by the first cost that differs; ties by spelling.

    So no order of arrival shows. A null is worse than any cost.
    """
    for place, function in order:
        mine, its = row[place], other[place]
        if mine != its:
            if mine is None or its is None:
                return its is None
            return bool((mine < its) == (function is AggregateFunction.MIN))  # type: ignore[operator]
    return repr(row) < repr(other)
