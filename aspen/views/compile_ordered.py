"""Compile what reads rows in an order: ORDER BY … LIMIT, and OVER."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from aspen.algebra.order import row_order
from aspen.algebra.plan import Framed, Over, OverFunction, Pick, Rank, SortKey, TopK, reads
from aspen.model.schema import Column
from aspen.views.node import Indices, Node
from aspen.views.operators.over import OverOperator
from aspen.views.operators.top_k import TopKOperator
from aspen.views.over_functions import SortedRows, computation

if TYPE_CHECKING:
    from aspen.views.compile import Compiler


def indices(names: Iterable[str], columns: tuple[Column, ...]) -> Indices:
    """Returns the indices of columns by name."""
    existing = [column.name for column in columns]
    return tuple(existing.index(name) for name in names)


def build_top_k(compiler: Compiler, plan: TopK) -> Node:
    """Returns the node of some rows of an order."""
    child, columns = compiler.build(plan.child), plan.columns
    parts = indices(plan.partition_by, columns)
    return compiler.node(
        ("top", id(child), parts, _spelt(plan.keys, columns), plan.limit, plan.offset),
        lambda: TopKOperator(child, parts, row_order(plan.keys, columns), plan.limit, plan.offset),
    )


def build_over(compiler: Compiler, plan: Over) -> Node:
    """Returns the node of columns computed from the rows around each."""
    child, columns = compiler.build(plan.child), plan.child.columns
    parts = indices(plan.partition_by, columns)
    keys = indices((key.column for key in plan.keys), columns)
    falling = bool(plan.keys) and plan.keys[0].descending
    timed = bool(keys) and columns[keys[0]].type.is_time
    computed = [computation(one, columns) for one in plan.functions]
    spelt = tuple(_spelt_function(one, columns) for one in plan.functions)
    order = row_order(plan.keys, columns)
    sort = partial(SortedRows, keys=keys, falling=falling, timed=timed)
    return compiler.node(
        ("over", id(child), parts, _spelt(plan.keys, columns), spelt),
        lambda: OverOperator(child, parts, order, sort, computed, len(columns)),
    )


def _spelt(keys: Iterable[SortKey], columns: tuple[Column, ...]) -> Hashable:
    """Spells an order by column indices, so that equal ones are spelt equally."""
    return tuple((indices((k.column,), columns), k.descending, k.nulls_last) for k in keys)


def _spelt_function(one: OverFunction, columns: tuple[Column, ...]) -> Hashable:
    read = indices(reads(one), columns)
    match one:
        case Rank():
            return (one.function, one.parts)
        case Pick():
            # repr tells 1 from 1.0 and TRUE, which are equal in Python.
            default = repr(one.default)
            return (one.function, read, one.frame, one.offset, default, one.ignores_nulls)
        case Framed(aggregate, frame):
            said = (aggregate.distinct, aggregate.falling, repr(aggregate.constant))
            return (aggregate.function, read, said, frame)
