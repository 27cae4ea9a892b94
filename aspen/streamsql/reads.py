"""Where a query reads a name, and through what: negation, an aggregate, a sub-select."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from aspen.errors import Position
from aspen.streamsql.bind_order import is_ordered
from aspen.streamsql.bind_source import relation_name
from aspen.streamsql.positions import at
from aspen.streamsql.tree import conjuncts, is_grouped, is_query, subquery_test, within


@dataclass(frozen=True, slots=True)
class NameUse:
    """One position where a query reads a name.

    Args:
        through: what lies between, outermost first: `NOT EXISTS`, `GROUP BY`, `a sub-select`.
    """

    at: Position
    through: tuple[str, ...]


def readings(query: exp.Expr) -> dict[str, list[NameUse]]:
    """Returns every position where a query reads a name, in the order of reading."""
    found: dict[str, list[NameUse]] = {}
    for table, way in _tables(query, (), frozenset()):
        found.setdefault(relation_name(table), []).append(NameUse(at(table.this), way))
    return found


def names_read(query: exp.Expr) -> frozenset[str]:
    """Returns the names of all relations and views a query reads, its own CTEs aside."""
    return frozenset(relation_name(table) for table, _ in _tables(query, (), frozenset()))


def sources_of(select: exp.Expr) -> Iterator[exp.Expr]:
    """Returns the tables and sub-selects in a FROM, left to right."""
    found = select.args.get("from_")
    joins = [join.this for join in select.args.get("joins") or ()]
    waiting = ([] if found is None else [found.this]) + joins
    while waiting:
        source = waiting.pop(0)
        nested = [join.this for join in source.args.get("joins") or ()]
        if isinstance(source, exp.Subquery) and isinstance(source.this, exp.Table):
            waiting = [source.this, *nested, *waiting]
        else:
            yield source
            waiting = nested + waiting


def conditions_of(select: exp.Expr) -> Iterator[exp.Expr]:
    """Returns the conditions of joins and of WHERE, taken apart at their ANDs."""
    for join in select.args.get("joins") or ():
        yield from conjuncts(join.args.get("on"))
    where = select.args.get("where")
    yield from conjuncts(None if where is None else where.this)


def _tables(
    tree: exp.Expr, through: tuple[str, ...], hidden: frozenset[str]
) -> Iterator[tuple[exp.Table, tuple[str, ...]]]:
    """Returns the tables a query reads, but for those that a CTE of their name hides."""
    found = tree.args.get("with_")
    ctes = [] if found is None else found.expressions
    if found is not None and found.args.get("recursive"):
        hidden |= {cte.alias for cte in ctes}
    for cte in ctes:
        hidden |= {cte.alias}
        yield from _tables(cte.this, (*through, "a sub-select"), hidden)
    if is_ordered(tree):
        through = (*through, "ORDER BY")
    match tree:
        case exp.Subquery():
            yield from _tables(tree.this, through, hidden)
        case exp.SetOperation():
            if not isinstance(tree, exp.Union):
                through = (*through, type(tree).__name__.upper())
            for side in (tree.this, tree.expression):
                yield from _tables(side, through, hidden)
        case exp.Select():
            for source in sources_of(tree):
                if isinstance(source, exp.Table):
                    known = isinstance(source.this, exp.Identifier)
                    if known and relation_name(source) not in hidden:
                        yield source, through
                else:
                    yield from _tables(source, (*through, _inside(tree, source)), hidden)
            for query, word in _subqueries(tree):
                yield from _tables(query, (*through, word), hidden)


def _inside(select: exp.Expr, source: exp.Expr) -> str:
    """Says what stands between a query and a sub-select in its FROM."""
    sides = [join.args["side"] for join in select.args.get("joins") or () if join.args.get("side")]
    return f"{sides[0]} JOIN" if sides else _group_or_select(source)


def _group_or_select(query: exp.Expr) -> str:
    return "GROUP BY" if _groups(query) else "a sub-select"


def _groups(tree: exp.Expr) -> bool:
    found = tree.args.get("with_")
    if found is not None and any(_groups(cte.this) for cte in found.expressions):
        return True
    match tree:
        case exp.Subquery():
            return _groups(tree.this)
        case exp.SetOperation():
            return _groups(tree.this) or _groups(tree.expression)
    return isinstance(tree, exp.Select) and is_grouped(tree)


def _subqueries(select: exp.Expr) -> Iterator[tuple[exp.Expr, str]]:
    """Returns the queries in the expressions of a SELECT, each with what it does there."""
    conditions = list(conditions_of(select))
    group, having = select.args.get("group"), select.args.get("having")
    more = [*([] if having is None else [having]), *([] if group is None else [group])]
    plain = {id(condition) for condition in conditions}
    tested: set[int] = set()
    for node in (n for e in (*conditions, *more, *select.expressions) for n in within(e)):
        test = subquery_test(node)
        if test is not None:
            tested.add(id(test.query))
            word = "NOT EXISTS" if test.needle is None else "IN"
            if id(node) in plain and not test.negated:
                word = _group_or_select(test.query)
            yield test.query, word
        elif is_query(node) and id(node) not in tested:
            yield node, "a sub-query"
