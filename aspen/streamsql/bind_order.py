"""ORDER BY, LIMIT, OFFSET: keys name outputs by index, by name, or compute from the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from aspen.algebra.evaluate import compile_expr
from aspen.algebra.expr import Col, Expr
from aspen.algebra.plan import Plan, SortKey, TopK
from aspen.algebra.renaming import extended
from aspen.model.schema import Column, Type
from aspen.streamsql.bind_expr import ExpressionBinder
from aspen.streamsql.decimals import kept
from aspen.streamsql.errors import BadOrder
from aspen.streamsql.positions import whole
from aspen.streamsql.scope import NamedSource, Scope
from aspen.streamsql.tree import Item, constant, is_query, items_of, unsupported, within
from aspen.streamsql.typing_decimals import as_float

_OUTPUTS_ALONE = "only outputs can be sorted by here"


@dataclass(frozen=True, slots=True)
class OrderedQuery:
    """A query with an order.

    Args:
        plan: cut as LIMIT and OFFSET say; its first columns are the query's, and what only the
            order needs comes behind them.
        keys: the order, most important first; for readers, where nothing is cut.
    """

    plan: Plan
    keys: tuple[SortKey, ...]
    columns: tuple[Column, ...]


def is_ordered(tree: exp.Expr) -> bool:
    """Whether a query has an order, a limit or an offset of its own."""
    cut = any(tree.args.get(key) is not None for key in ("order", "limit", "offset"))
    return cut or bool(distinct_on(tree))


def distinct_on(tree: exp.Expr | None) -> list[exp.Expr]:
    """Returns what DISTINCT ON names: of the rows equal in it, the first in the order stays."""
    distinct = None if tree is None else tree.args.get("distinct")
    on = distinct.args.get("on") if isinstance(distinct, exp.Distinct) else None
    if on is None:
        return []
    return list(on.expressions) if isinstance(on, exp.Tuple) else [on]


def is_bare(tree: exp.Expr) -> bool:
    """Whether a query has neither a WITH nor an order of its own."""
    return tree.args.get("with_") is None and not is_ordered(tree)


def unwrapped(tree: exp.Expr) -> exp.Expr:
    """Returns the query in brackets that say nothing more."""
    while isinstance(tree, exp.Subquery) and is_bare(tree):
        tree = tree.this
    return tree


def bind_order(
    tree: exp.Expr, select: exp.Select | None, bind: Callable[[list[Item]], Plan]
) -> OrderedQuery:
    """Bind the order of a query.

    Args:
        select: the SELECT that is ordered, None where it is something else.
        bind: binds what is ordered, with more outputs behind its own.

    Raises:
        BadOrder: a key that is no output where only outputs can be sorted by.
    """
    order = tree.args.get("order")
    keys = [] if order is None else list(order.expressions)
    on = distinct_on(select)
    items = None if select is None else items_of(select)
    limit = _count(tree.args.get("limit"))
    offset = _count(tree.args.get("offset")) or 0
    if len(keys) == 1 and _is_all(keys[0], items):
        if on:
            raise unsupported("ORDER BY ALL beside DISTINCT ON", keys[0], "name the columns")
        bound = bind([])
        every = tuple(sort_key(column.name, keys[0]) for column in bound.columns)
        return OrderedQuery(_cut(bound, every, limit, offset), every, bound.columns)
    hidden = {
        number: Item(_value(key), f"order_by_{number + 1}", whole(key))
        for number, key in enumerate((*on, *keys))
        if not _is_output(_value(key), items)
    }
    distinct = select is not None and not on and select.args.get("distinct") is not None
    if items is None or distinct:
        why = "SELECT DISTINCT has lost the rows behind" if distinct else _OUTPUTS_ALONE
        bound = bind([])
        columns = bound.columns
        bound = extended(bound, [_of_outputs(item, columns, why) for item in hidden.values()])
    else:
        bound = bind(list(hidden.values()))
        columns = bound.columns[: len(bound.columns) - len(hidden)]
    waiting = iter(bound.columns[len(columns) :])
    sorts = tuple(
        sort_key(
            next(waiting).name if number in hidden else _output(key, columns, items).name,
            key,
        )
        for number, key in enumerate((*on, *keys))
    )
    if on:
        apart, sorts = tuple(key.column for key in sorts[: len(on)]), sorts[len(on) :]
        bound = TopK(bound, sorts, 1, partition_by=apart)
    return OrderedQuery(_cut(bound, sorts, limit, offset), sorts, columns)


def kept_in_order(ordered: OrderedQuery) -> OrderedQuery:
    """Returns an ordered query as its rows are kept: what sorts by a DECIMAL comes behind them."""
    plan = ordered.plan
    numbers = {
        column.name: Column(f"order_by_{column.name}", Type.INT, "", column.nullable)
        for column in plan.columns
        if column.type.digits is not None
    }
    sorts = [name for name in dict.fromkeys(key.column for key in ordered.keys) if name in numbers]
    plan = extended(plan, [(numbers[name], Col(name)) for name in sorts])
    keys = tuple(
        replace(key, column=numbers[key.column].name) if key.column in sorts else key
        for key in ordered.keys
    )
    return replace(ordered, plan=kept(plan), keys=keys)


def _value(key: exp.Expr) -> exp.Expr:
    value: exp.Expr = key.this if isinstance(key, exp.Ordered) else key
    return value


def sort_key(column: str, key: exp.Expr) -> SortKey:
    """Returns a column with the direction that a key of ORDER BY gives it."""
    if not isinstance(key, exp.Ordered):
        return SortKey(column)
    return SortKey(column, bool(key.args.get("desc")), not key.args.get("nulls_first"))


def _cut(plan: Plan, keys: tuple[SortKey, ...], limit: int | None, offset: int) -> Plan:
    return plan if limit is None and not offset else TopK(plan, keys, limit, offset)


def _count(tree: exp.Expr | None) -> int | None:
    """Returns the number behind LIMIT, OFFSET or FETCH; None for all."""
    if tree is None:
        return None
    options = tree.args.get("limit_options")
    more = options is not None and (options.args.get("percent") or options.args.get("with_ties"))
    if more or tree.args.get("expressions"):
        raise unsupported("LIMIT … BY, PERCENT and WITH TIES", tree, "LIMIT 10")
    number = tree.args.get("count") if isinstance(tree, exp.Fetch) else tree.expression
    if number is None or isinstance(number, exp.Var):
        return None
    if any(isinstance(node, exp.Column) or is_query(node) for node in number.walk()):
        raise unsupported("computed LIMIT", tree, "a whole number: LIMIT 10")
    found = compile_expr(as_float(ExpressionBinder(Scope({})).bind(number)).expr, ())(())
    if found is None:
        return None
    if isinstance(found, bool | str) or found != int(found):
        raise unsupported("computed LIMIT", tree, "a whole number: LIMIT 10")
    return None if found < 0 else int(found)


def _of_outputs(item: Item, columns: tuple[Column, ...], why: str) -> tuple[Column, Expr]:
    """Returns a key that is computed from the outputs, as the rows behind them are gone."""
    names = {column.name for column in columns}
    for node in within(item.value):
        if isinstance(node, exp.Column) and (node.table or node.name not in names):
            raise _not_an_output(node, why)
    made = ExpressionBinder(Scope({"": NamedSource("", columns)})).bind(item.value)
    return Column(item.alias, made.type or Type.TEXT, made.unit, made.nullable), made.expr


def _is_output(value: exp.Expr, items: list[Item] | None) -> bool:
    """Whether a key is one of the outputs: an index, an output's name, or the same expression."""
    if constant(value) is not None:
        return True
    if items is None:
        return isinstance(value, exp.Column)
    bare = isinstance(value, exp.Column) and not value.table
    return (bare and value.name in [i.name for i in items]) or value in [i.value for i in items]


def _is_all(key: exp.Expr, items: list[Item] | None) -> bool:
    """Whether a key is ALL: every output, from left to right."""
    value = _value(key)
    if not isinstance(value, exp.Column) or (value.table, value.name) != ("", "all"):
        return False
    return "all" not in [item.name for item in items or ()]


def _output(key: exp.Expr, columns: tuple[Column, ...], items: list[Item] | None) -> Column:
    value, literal = _value(key), constant(_value(key))
    if literal is not None and type(literal.value) is int:
        if 1 <= literal.value <= len(columns):
            return columns[literal.value - 1]
        raise BadOrder(
            f"there is no output {literal.value}",
            position=whole(key),
            found=str(literal.value),
            exists=[f"1 to {len(columns)}"],
            attempt="count the outputs from 1",
        )
    if isinstance(value, exp.Column) and not value.table:
        named = [column for column in columns if column.name == value.name]
        if named:
            return named[0]
    if items is not None and not any(item.value.is_star for item in items):
        for item, column in zip(items, columns, strict=True):
            if item.value == value:
                return column
    raise _not_an_output(key, _OUTPUTS_ALONE)


def _not_an_output(key: exp.Expr, why: str) -> BadOrder:
    return BadOrder(
        f"ORDER BY names no output: {why}",
        position=whole(key),
        attempt="name an output column or its place: ORDER BY 1",
    )
