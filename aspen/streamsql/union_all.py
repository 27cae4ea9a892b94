"""UNION ALL in recursion, where it surely means the same as UNION.

A recursion is a set here. From one row, by a step that reads nothing but the view, at most one row
follows each: a chain. If its rows differ, both spellings give it; if one comes back, UNION ALL
would never end and so has no answer to differ from.
"""

from __future__ import annotations

from sqlglot import exp

from aspen.streamsql.bind_order import is_bare, unwrapped
from aspen.streamsql.reads import conditions_of, sources_of
from aspen.streamsql.tree import has_aggregate, has_subquery, items_of


def means_union(cte: exp.CTE) -> bool:
    """Whether UNION ALL in a CTE's query means UNION.

    Law: the rows SQL gives, each as often.
    Source: own.
    """
    query = unwrapped(cte.this)
    return (
        isinstance(query, exp.Union)
        and not query.args.get("distinct")
        and _has_one_row(unwrapped(query.this))
        and _reads_only(unwrapped(query.expression), cte.alias)
    )


def _is_plain(query: exp.Expr) -> bool:
    """Whether a query is one SELECT without groups."""
    grouped = query.args.get("group") or query.args.get("having")
    return isinstance(query, exp.Select) and not grouped and is_bare(query)


def _has_one_row(query: exp.Expr) -> bool:
    if isinstance(query, exp.Values):
        return len(query.expressions) == 1
    lone = query.args.get("from_") is None and query.args.get("where") is None
    return _is_plain(query) and (lone or any(map(has_aggregate, _values(query))))


def _reads_only(query: exp.Expr, name: str) -> bool:
    """Whether a query gives at most one row for each row of the view, and reads nothing else."""
    if not _is_plain(query):
        return False
    values = [*_values(query), *conditions_of(query)]
    if any(has_aggregate(value) or has_subquery(value) for value in values):
        return False
    sources = sources_of(query)
    return [s.name if isinstance(s, exp.Table) else "" for s in sources] == [name]


def _values(select: exp.Expr) -> list[exp.Expr]:
    return [item.value for item in items_of(select) if not item.value.is_star]
