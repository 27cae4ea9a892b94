"""Where a query reads a name, and through what: negation, an aggregate, a sub-select."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from aspen.errors import Position
from aspen.streamsql.ast import (
    Binary,
    CompareQuery,
    Cte,
    DerivedSource,
    Exists,
    Expression,
    JoinedSource,
    NamedSource,
    OrderedQuery,
    Query,
    Scalar,
    SelectQuery,
    Source,
    Star,
    UnionQuery,
    ValuesQuery,
    WithQuery,
    leaves,
)
from aspen.streamsql.bind_expr import has_aggregate, operands


@dataclass(frozen=True, slots=True)
class Reading:
    """One place where a query reads a name.

    Args:
        through: what lies between, outermost first: `NOT EXISTS`, `GROUP BY`, `a sub-select`.
    """

    at: Position
    through: tuple[str, ...]


def readings(query: Query, name: str) -> list[Reading]:
    """Returns every place where `query` reads `name`, in the order of the text."""
    return list(_query(query, name, ()))


def names_read(query: Query) -> frozenset[str]:
    """Returns the names of all relations and views a query reads, its own CTEs aside."""
    match query:
        case SelectQuery():
            found: frozenset[str] = frozenset()
            for source in (leaf for whole in query.sources for leaf in leaves(whole)):
                if isinstance(source, NamedSource):
                    found |= {source.name}
                else:
                    found |= names_read(source.query)
            for inner in _subqueries(query):
                found |= names_read(inner.query)
            return found
        case UnionQuery() | CompareQuery():
            return names_read(query.left) | names_read(query.right)
        case OrderedQuery():
            found = names_read(query.query)
            inside = (part for key in query.keys for part in _exists(key.value))
            return found.union(*(names_read(part.query) for part in inside))
        case ValuesQuery():
            return frozenset()
        case WithQuery():
            own = frozenset(cte.name for cte in query.ctes)
            bodies = frozenset[str]().union(*(names_read(cte.query) for cte in query.ctes))
            return (bodies | names_read(query.body)) - own


def _query(query: Query, name: str, through: tuple[str, ...]) -> Iterator[Reading]:
    match query:
        case SelectQuery():
            yield from _select(query, name, through)
        case UnionQuery():
            yield from _query(query.left, name, through)
            yield from _query(query.right, name, through)
        case CompareQuery():
            yield from _query(query.left, name, (*through, query.function))
            yield from _query(query.right, name, (*through, query.function))
        case OrderedQuery():
            yield from _query(query.query, name, (*through, "ORDER BY"))
        case ValuesQuery():
            return
        case WithQuery():
            yield from _with(query.ctes, query.body, name, through)


def _with(
    ctes: tuple[Cte, ...], body: Query, name: str, through: tuple[str, ...]
) -> Iterator[Reading]:
    for cte in ctes:
        if cte.name == name:
            return
        yield from _query(cte.query, name, (*through, "a sub-select"))
    yield from _query(body, name, through)


def _select(query: SelectQuery, name: str, through: tuple[str, ...]) -> Iterator[Reading]:
    for whole in query.sources:
        for source in leaves(whole):
            if isinstance(source, DerivedSource):
                yield from _query(source.query, name, (*through, _inside(whole, source)))
            elif source.name == name:
                yield Reading(source.at, through)
    plain = {id(part) for part in _conjuncts(query.where) if isinstance(part, Exists)}
    for found in _subqueries(query):
        word = "a sub-query"
        if id(found) in plain:
            word = "a sub-select" if not _groups(found.query) else "GROUP BY"
        elif isinstance(found, Exists):
            word = "IN" if found.needle is not None else "NOT EXISTS"
        yield from _query(found.query, name, (*through, word))


def _inside(whole: Source, source: DerivedSource) -> str:
    """Say what stands between a query and a sub-select in its FROM."""
    if isinstance(whole, JoinedSource) and whole.kind != "INNER":
        return f"{whole.kind} JOIN"
    return "GROUP BY" if _groups(source.query) else "a sub-select"


def _conjuncts(where: Expression | None) -> Iterator[Expression]:
    if isinstance(where, Binary) and where.symbol == "AND":
        yield from _conjuncts(where.left)
        yield from _conjuncts(where.right)
    elif where is not None:
        yield where


def _groups(query: Query) -> bool:
    match query:
        case SelectQuery():
            values = [i.value for i in query.items if not isinstance(i.value, Star)]
            return bool(query.group_by or query.having or any(map(has_aggregate, values)))
        case UnionQuery() | CompareQuery():
            return _groups(query.left) or _groups(query.right)
        case OrderedQuery():
            return _groups(query.query)
        case ValuesQuery():
            return False
        case WithQuery():
            return any(_groups(cte.query) for cte in query.ctes) or _groups(query.body)


def _subqueries(query: SelectQuery) -> Iterator[Exists | Scalar]:
    items = (item.value for item in query.items if not isinstance(item.value, Star))
    for node in (query.where, query.having, *query.group_by, *items):
        if node is not None:
            yield from _exists(node)


def _exists(node: Expression) -> Iterator[Exists | Scalar]:
    if isinstance(node, Exists | Scalar):
        yield node
    for part in operands(node):
        yield from _exists(part)
