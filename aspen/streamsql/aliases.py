"""Aliases: names that the select list gives, read where no source in FROM has such a column.

    SELECT watts / 1000 AS kw, kw * 24 AS kwh FROM m WHERE kw > 1     kw is watts / 1000

Law:    a name means a column of FROM, else an output left of it, else a column around.
Source: as in DuckDB and SQLite.
"""

from __future__ import annotations

from collections import Counter

from sqlglot import exp

from aspen.effort import too_complex
from aspen.streamsql.scope import Scope
from aspen.streamsql.tree import Item, within

_MOST_NODES = 10_000


def spelt_out(items: list[Item], scope: Scope) -> tuple[list[Item], dict[str, exp.Expr]]:
    """Returns a select list whose entries read sources alone, and what its names stand for."""
    named: dict[str, exp.Expr] = {}
    found: list[Item] = []
    given = Counter(item.alias for item in items)
    for item in items:
        value = meant(item.value, named)
        found.append(item._replace(value=value))
        # A name that two outputs have means neither.
        if given[item.alias] == 1 and item.alias and item.alias not in scope.own_names:
            named[item.alias] = value
    return found, named


def meant(tree: exp.Expr, named: dict[str, exp.Expr]) -> exp.Expr:
    """Returns an expression with what its names stand for; queries in it keep theirs.

    Args:
        named: what the select list calls by a name that no source has.

    Raises:
        TooComplex: names that stand for names have made it too long.
    """
    read = [node for node in within(tree) if _is_named(node, named)] if named else []
    if not read:
        return tree
    if sum(1 for node in read for _ in named[node.name].walk()) > _MOST_NODES:
        raise too_complex("names of its select list stand for too much", f"{len(read)} names")
    if read == [tree]:
        return named[tree.name].copy()
    made = tree.copy()
    for node in [node for node in within(made) if _is_named(node, named)]:
        node.replace(named[node.name].copy())
    return made


def _is_named(node: exp.Expr, named: dict[str, exp.Expr]) -> bool:
    return isinstance(node, exp.Column) and not node.table and node.name in named
