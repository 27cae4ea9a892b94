"""Oracle: the answer from scratch, slow and obvious, that every incremental view must equal.

It shares no code with the operators except the evaluation of expressions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from aspen.algebra.evaluate import compile_expr
from aspen.algebra.order import row_order
from aspen.algebra.plan import (
    Aggregate,
    AggregateFunction,
    AntiJoin,
    Best,
    Distinct,
    Filter,
    Fixpoint,
    GroupBy,
    Join,
    Plan,
    Project,
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
from aspen.model.delta import Delta, accumulate, delta_of, merge
from aspen.model.schema import Column, Row, Type, Value


@dataclass(frozen=True)
class _Tables:
    contents: Mapping[str, Delta]
    windows: Mapping[Plan, Delta]
    recursive: Mapping[str, Delta] = field(default_factory=dict)


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
            keep = compile_expr(plan.predicate, plan.child.columns)
            return {r: w for r, w in _rows(plan.child, tables).items() if keep(r) is True}
        case Project():
            compute = [compile_expr(expr, plan.child.columns) for _, expr in plan.outputs]
            projected: Delta = {}
            for row, weight in _rows(plan.child, tables).items():
                accumulate(projected, tuple(c(row) for c in compute), weight)
            return projected
        case Join():
            joined: Delta = {}
            right = _rows(plan.right, tables)
            partners = _Partners(plan, right)
            for one, weight in _rows(plan.left, tables).items():
                for other in partners.of(one):
                    accumulate(joined, one + other, weight * right[other])
            return joined
        case AntiJoin():
            partners = _Partners(plan, _rows(plan.right, tables))
            return {r: w for r, w in _rows(plan.left, tables).items() if not partners.of(r)}
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
        case Fixpoint():
            return _fixpoint(plan, tables)


class _Partners:
    """The right rows that match a left row."""

    def __init__(self, plan: Join | AntiJoin, right: Delta) -> None:
        lefts = [column.name for column in plan.left.columns]
        rights = [column.name for column in plan.right.columns]
        self.places = [lefts.index(left) for left, _ in plan.on]
        others = [rights.index(other) for _, other in plan.on]
        both = plan.left.columns + plan.right.columns
        self.residual = None if plan.residual is None else compile_expr(plan.residual, both)
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


def _aggregate(aggregate: Aggregate, columns: tuple[Column, ...], rows: Delta) -> Value:
    if aggregate.argument is None:
        return sum(rows.values())
    place = [column.name for column in columns].index(aggregate.argument)
    values = [row[place] for row, weight in rows.items() for _ in range(weight)]
    values = [value for value in values if value is not None]
    if aggregate.distinct:
        values = list(dict.fromkeys(values))
    if aggregate.function is AggregateFunction.COUNT:
        return len(values)
    if not values:
        return None
    match aggregate.function:
        case AggregateFunction.MIN:
            return min(values)  # type: ignore[type-var]
        case AggregateFunction.MAX:
            return max(values)  # type: ignore[type-var]
        case function:
            numbers: list[float] = values  # type: ignore[assignment]
            # fsum rounds once, so the order of the rows cannot matter.
            exact = columns[place].type is Type.INT
            try:
                total = sum(numbers) if exact else math.fsum(numbers)
                return total if function is AggregateFunction.SUM else total / len(numbers)
            except OverflowError:
                return None


def _fixpoint(plan: Fixpoint, tables: _Tables) -> Delta:
    base = dict.fromkeys(_rows(plan.base, tables), 1)
    rows: Delta = {}
    while True:
        inner = _Tables(tables.contents, tables.windows, {**tables.recursive, plan.name: rows})
        derived = dict.fromkeys(_rows(plan.step, inner), 1)
        found = {**base, **derived}
        if plan.best is not None:
            found = _best(plan.best, plan.columns, found)
        if found == rows:
            return rows
        rows = found


def _best(best: Best, columns: tuple[Column, ...], rows: Delta) -> Delta:
    names = [column.name for column in columns]
    places = [names.index(key) for key in best.keys]
    cost = names.index(best.column)
    sign = 1 if best.function is AggregateFunction.MIN else -1
    chosen: dict[Row, Row] = {}
    for row in rows:
        if row[cost] is None:
            continue
        key = tuple(row[p] for p in places)
        other = chosen.get(key)
        if other is None or better(row, other, cost, sign):
            chosen[key] = row
    return dict.fromkeys(chosen.values(), 1)


def better(row: Row, other: Row, cost: int, sign: int) -> bool:
    """Whether `row` beats `other`: by cost, ties by spelling, so no order of arrival shows.

    Args:
        cost: place of the cost column.
        sign: +1 when the smaller wins, -1 when the larger does.
    """
    mine, its = row[cost], other[cost]
    if mine != its:
        return bool((mine < its) == (sign > 0))  # type: ignore[operator]
    return repr(row) < repr(other)
