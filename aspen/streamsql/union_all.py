"""UNION ALL in recursion, where it surely means the same as UNION.

A recursion is a set here. From one row, by a step that reads nothing but the view, at most one row
follows each: a chain. If its rows differ, both spellings give it; if one comes back, UNION ALL
would never end and so has no answer to differ from.
"""

from __future__ import annotations

from dataclasses import replace

from aspen.streamsql.ast import (
    Cte,
    NamedSource,
    Query,
    SelectQuery,
    Star,
    UnionQuery,
    ValuesQuery,
)
from aspen.streamsql.bind_expr import has_aggregate, has_subquery


def as_set(cte: Cte) -> Cte:
    """Read a CTE's UNION ALL as UNION, where both mean the same.

    Law: the rows SQL gives, each as often.
    Source: own.
    """
    query = cte.query
    chain = (
        isinstance(query, UnionQuery)
        and query.keeps_duplicates
        and _has_one_row(query.left)
        and _reads_only(query.right, cte.name)
    )
    if not chain or not isinstance(query, UnionQuery):
        return cte
    return replace(cte, query=replace(query, keeps_duplicates=False))


def _has_one_row(query: Query) -> bool:
    if isinstance(query, ValuesQuery):
        return len(query.rows) == 1
    if not isinstance(query, SelectQuery):
        return False
    lone = not query.sources and query.where is None
    return (lone or _is_total(query)) and not query.group_by and query.having is None


def _is_total(query: SelectQuery) -> bool:
    values = [item.value for item in query.items if not isinstance(item.value, Star)]
    return any(map(has_aggregate, values))


def _reads_only(query: Query, name: str) -> bool:
    """Whether a query gives at most one row for each row of the view, and reads nothing else."""
    if not isinstance(query, SelectQuery) or query.group_by or query.having is not None:
        return False
    values = [item.value for item in query.items if not isinstance(item.value, Star)]
    if query.where is not None:
        values.append(query.where)
    if any(has_aggregate(value) or has_subquery(value) for value in values):
        return False
    sources = [s.name if isinstance(s, NamedSource) else "" for s in query.sources]
    return sources == [name]
