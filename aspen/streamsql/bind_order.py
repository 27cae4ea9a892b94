"""ORDER BY, LIMIT, OFFSET: keys name outputs by place, by name, or compute from the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from aspen.algebra.plan import Plan, SortKey, TopK
from aspen.model.schema import Column
from aspen.streamsql.ast import (
    Expression,
    Item,
    Literal,
    Name,
    OrderedQuery,
    OrderKey,
    Query,
    SelectQuery,
    Star,
)
from aspen.streamsql.errors import BadOrder
from aspen.streamsql.scope import Environment


class BindQuery(Protocol):
    """Binds a query; see `aspen.streamsql.bind.bind_query`."""

    def __call__(self, query: Query, environment: Environment, *, named: bool = True) -> Plan:
        """Bind a query."""
        ...


@dataclass(frozen=True, slots=True)
class Ordered:
    """A query with an order.

    Args:
        plan: cut as LIMIT and OFFSET say; its first columns are the query's, and what only the
            order needs comes behind them.
        keys: the order, most important first; for readers, where nothing is cut.
    """

    plan: Plan
    keys: tuple[SortKey, ...]
    columns: tuple[Column, ...]


def bind_order(
    query: OrderedQuery, environment: Environment, bind_query: BindQuery, *, named: bool
) -> Ordered:
    """Bind an ordered query.

    Raises:
        BadOrder: a key that is no output where only outputs can be sorted by.
    """
    inner = query.query
    if len(query.keys) == 1 and _is_all(query.keys[0], inner):
        bound = bind_query(inner, environment, named=named)
        key = query.keys[0]
        every = tuple(SortKey(c.name, key.descending, key.nulls_last) for c in bound.columns)
        return Ordered(_cut(bound, every, query), every, bound.columns)
    hidden: list[Item] = []
    if isinstance(inner, SelectQuery):
        hidden = [
            Item(key.value, f"order_by_{number}", key.at)
            for number, key in enumerate(query.keys, start=1)
            if not _is_output(key.value, inner)
        ]
        if hidden and inner.distinct:
            raise _not_an_output(query.keys[0], "SELECT DISTINCT has lost the rows behind")
        inner = replace(inner, items=(*inner.items, *hidden))
    bound = bind_query(inner, environment, named=named)
    columns = bound.columns[: len(bound.columns) - len(hidden)]
    waiting = iter(bound.columns[len(columns) :])
    keys: list[SortKey] = []
    for key in query.keys:
        if isinstance(query.query, SelectQuery) and not _is_output(key.value, query.query):
            found = next(waiting)
        else:
            found = _output(key, columns, query.query)
        keys.append(SortKey(found.name, key.descending, key.nulls_last))
    return Ordered(_cut(bound, tuple(keys), query), tuple(keys), columns)


def _cut(plan: Plan, keys: tuple[SortKey, ...], query: OrderedQuery) -> Plan:
    if query.limit is None and not query.offset:
        return plan
    return TopK(plan, keys, query.limit, query.offset)


def _is_output(value: Expression, select: SelectQuery) -> bool:
    """Whether a key is one of the outputs: a place, an output's name, or the same expression."""
    if isinstance(value, Literal):
        return True
    bare = isinstance(value, Name) and not value.qualifier
    if isinstance(value, Name) and bare and value.name in map(_name, select.items):
        return True
    return any(item.value == value for item in select.items)


def _is_all(key: OrderKey, query: Query) -> bool:
    """Whether a key is ALL: every output, from left to right."""
    if key.value != Name("", "all"):
        return False
    return not (isinstance(query, SelectQuery) and "all" in map(_name, query.items))


def _name(item: Item) -> str:
    return item.alias or (item.value.name if isinstance(item.value, Name) else "")


def _output(key: OrderKey, columns: tuple[Column, ...], query: Query) -> Column:
    match key.value:
        case Literal(int(index)) if not isinstance(index, bool):
            if 1 <= index <= len(columns):
                return columns[index - 1]
            raise BadOrder(
                f"there is no output {index}",
                position=key.at,
                found=str(index),
                exists=[f"1 to {len(columns)}"],
                attempt="count the outputs from 1",
            )
        case Name("", name):
            named = [column for column in columns if column.name == name]
            if named:
                return named[0]
    if isinstance(query, SelectQuery) and not any(isinstance(i.value, Star) for i in query.items):
        for item, column in zip(query.items, columns, strict=True):
            if item.value == key.value:
                return column
    raise _not_an_output(key, "only outputs can be sorted by here")


def _not_an_output(key: OrderKey, why: str) -> BadOrder:
    return BadOrder(
        f"ORDER BY names no output: {why}",
        position=key.at,
        attempt="name an output column or its place: ORDER BY 1",
    )
