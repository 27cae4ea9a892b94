"""Clauses that sqlglot reads and StreamSQL leaves out, each with what to write instead."""

from __future__ import annotations

from sqlglot import exp

from aspen.streamsql.tree import unsupported

_LEFT_OUT = {
    "qualify": ("QUALIFY", "filter in an outer SELECT"),
    "windows": ("WINDOW", "windows stand in brackets behind a stream: [RANGE 30 SECONDS]"),
    "laterals": ("LATERAL", "write a join"),
    "pivots": ("PIVOT", "write CASE expressions"),
    "sample": ("TABLESAMPLE", "filter with WHERE"),
    "into": ("INTO", "write CREATE VIEW … AS SELECT …"),
    "locks": ("FOR UPDATE", "a query only reads"),
    "hint": ("a hint", "the optimizer decides; see EXPLAIN"),
    "connect": ("CONNECT BY", "write WITH RECURSIVE"),
    "cluster": ("CLUSTER BY", "leave it out"),
    "distribute": ("DISTRIBUTE BY", "leave it out"),
    "sort": ("SORT BY", "a maintained view has no order"),
    "match": ("MATCH_RECOGNIZE", "write joins over windows"),
    "prewhere": ("PREWHERE", "write WHERE"),
    "kind": ("SELECT AS", "name the columns"),
    "by_name": ("UNION BY NAME", "list the columns in one order on both sides"),
}


def refuse_clauses(tree: exp.Expr) -> None:
    """Refuse what StreamSQL leaves out behind a query or a source.

    Raises:
        Unsupported: one of them is there.
    """
    for key, (name, attempt) in _LEFT_OUT.items():
        found = tree.args.get(key)
        if found:
            piece = found[0] if isinstance(found, list) else found
            raise unsupported(name, piece if isinstance(piece, exp.Expr) else tree, attempt)
