"""Nothing is dropped in silence: what a text says and binding does not read is refused by name.

READ holds, by node of sqlglot's tree, the arguments that binding reads; NO_MATTER those that
change no row of an answer. A query that binds is searched for anything else.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from aspen.streamsql.dialect import StreamWindow
from aspen.streamsql.sql_types import names_decimal
from aspen.streamsql.tree import unsupported

_QUERY = {"with_", "order", "limit", "offset"}
_TWO = {"this", "expression"}
_TWO_SIDED = (
    *(exp.Add, exp.And, exp.Div, exp.DPipe, exp.EQ, exp.Escape, exp.Filter, exp.GT, exp.GTE),
    *(exp.IntDiv, exp.LT, exp.LTE, exp.Mod, exp.Mul, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.Or, exp.Sub, exp.WithinGroup),
)

READ: Mapping[type[exp.Expr], frozenset[str]] = {
    node: frozenset(read)
    for node, read in (
        *((node, _TWO) for node in _TWO_SIDED),
        *((node, {"this"}) for node in (exp.All, exp.Any, exp.Boolean, exp.Exists, exp.From)),
        *((node, {"this"}) for node in (exp.Having, exp.Neg, exp.Not, exp.Where)),
        *((node, {"this"}) for node in (exp.IgnoreNulls, exp.Qualify, exp.RespectNulls)),
        *((node, {*_QUERY, *_TWO, "distinct"}) for node in (exp.Except, exp.Intersect, exp.Union)),
        (exp.Alias, {"this", "alias"}),
        (exp.Array, {"expressions"}),
        (exp.Anonymous, {"this", "expressions"}),
        (exp.AtTimeZone, {"this", "zone"}),
        (exp.Between, {"this", "low", "high", "symmetric"}),
        *((node, {"expressions"}) for node in (exp.Cube, exp.GroupingSets, exp.Rollup)),
        (exp.Bracket, {"this", "expressions"}),
        (exp.CTE, {"this", "alias"}),
        (exp.Case, {"this", "ifs", "default"}),
        (exp.Cast, {"this", "to"}),
        (exp.Column, {"this", "table"}),
        (exp.DataType, {"this"}),
        (exp.DataTypeParam, {"this"}),
        (exp.Distinct, {"expressions", "on"}),
        (exp.Extract, _TWO),
        (exp.Fetch, {"count", "limit_options"}),
        (exp.Group, {"expressions", "all"}),
        (exp.ILike, {*_TWO, "negate"}),
        (exp.Identifier, {"this", "quoted"}),
        (exp.If, {"this", "true"}),
        (exp.In, {"this", "expressions", "field", "query"}),
        (exp.Interval, {"this", "unit"}),
        (exp.Is, _TWO),
        (exp.Join, {"this", "kind", "method", "on", "side", "using"}),
        (exp.Lateral, {"this", "alias"}),
        (exp.Like, {*_TWO, "negate"}),
        (exp.Limit, {"expression"}),
        (exp.LimitOptions, {"percent", "rows", "with_ties"}),
        (exp.Literal, {"this", "is_string"}),
        (exp.Null, set()),
        (exp.Offset, {"expression"}),
        (exp.Order, {"this", "expressions"}),
        (exp.Ordered, {"this", "desc", "nulls_first"}),
        (
            exp.Select,
            {
                *(*_QUERY, "distinct", "expressions", "from_", "group", "having", "joins"),
                *("qualify", "where", "windows"),
            },
        ),
        (exp.Slice, _TWO),
        (exp.Star, {"except_", "rename", "replace"}),
        (StreamWindow, set(StreamWindow.arg_types)),
        (exp.Subquery, {*_QUERY, "this", "alias", "joins"}),
        (exp.Substring, {"this", "start", "length"}),
        (exp.Table, {"this", "alias", "db", "joins", "stream_window"}),
        (exp.TableAlias, {"this", "columns"}),
        (exp.TryCast, {"this", "to", "safe"}),
        (exp.Trim, {"this", "expression", "position"}),
        (exp.Tuple, {"expressions"}),
        (exp.Var, {"this"}),
        (exp.Values, {"alias", "expressions", "limit", "offset", "order"}),
        (exp.Window, {"this", "alias", "order", "over", "partition_by", "spec"}),
        (exp.WindowSpec, {"kind", "start", "start_side", "end", "end_side", "exclude"}),
        (exp.With, {"expressions", "recursive"}),
    )
}
NO_MATTER = frozenset(
    {
        (exp.CTE, "materialized"),  # what is kept is the optimizer's choice
        (exp.DPipe, "safe"),  # this and the next: how other dialects read the sign
        (exp.Div, "safe"),
        (exp.Div, "typed"),
        (exp.Array, "bracket_notation"),
        (exp.DataType, "nested"),
        (exp.Fetch, "direction"),  # FIRST and NEXT are one
    }
)

_CLAUSES = {
    "laterals": ("LATERAL VIEW", "write LATERAL (SELECT …) behind a comma"),
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
"""Clauses behind a query or a source, by argument: their names, and what to write instead."""

_SPELT: Mapping[tuple[type[exp.Expr], str], tuple[str, str]] = {
    (exp.With, "search"): ("SEARCH and CYCLE", "carry a depth or a path as a column"),
    (exp.Cast, "format"): ("CAST … FORMAT", "take the text apart by substr"),
    (exp.DataType, "expressions"): ("length or precision of a type", "the type alone: VARCHAR"),
    (exp.Ordered, "with_fill"): ("WITH FILL", "join with generate_series(1, 10)"),
}


def refuse_unread(query: exp.Expr) -> None:
    """Refuses what a query says and binding does not read.

    Args:
        query: a tree that binds.

    Raises:
        Unsupported: there is something, by its name and place.
    """
    for node in query.walk():
        kind = type(node)
        if kind not in READ:
            raise unsupported(f"{kind.__name__.upper()} here", node, "leave it out")
        for name, value in node.args.items():
            given = value is not None and value is not False and value not in ([], "")
            # Only the columns that * stands for can be changed, not COUNT(*).
            read = name in READ[kind] and not (kind is exp.Star and _in_call(node))
            typed = names_decimal(node) or node.this == exp.DType.ARRAY
            read = read or (name == "expressions" and typed)
            if given and not read and (kind, name) not in NO_MATTER:
                words = f"{name.strip('_').replace('_', ' ').upper()} of {kind.__name__.upper()}"
                known = _SPELT.get((kind, name)) or _CLAUSES.get(name)
                spelt, attempt = known or (words, "leave it out")
                piece = value[0] if isinstance(value, list) else value
                raise unsupported(spelt, piece if isinstance(piece, exp.Expr) else node, attempt)


def _in_call(star: exp.Expr) -> bool:
    return isinstance(star.parent, exp.Anonymous)
