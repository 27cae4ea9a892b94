"""Second opinion: SQLite over the tables of random SQL, where DuckDB and we do not agree."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping

import sqlglot
from sqlglot import exp
from streamsql.random_sql import TABLES


def second_opinion(query: str, tables: Mapping[str, list[tuple]]) -> Counter[tuple] | None:
    """Returns a query's rows, None where SQLite does not know its syntax, nor can be told it."""
    for text in (query, in_its_words(query)):
        connection = sqlite3.connect(":memory:")
        try:
            connection.execute("PRAGMA case_sensitive_like = ON")
            for table, columns in TABLES.items():
                declared = ", ".join(f"{name} {kind}" for name, kind in columns)
                connection.execute(f"CREATE TABLE {table} ({declared})")
                marks = ", ".join("?" * len(columns))
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", tables[table])
            return Counter(connection.execute(text).fetchall())
        except sqlite3.OperationalError:
            continue
        finally:
            connection.close()
    return None


def in_its_words(query: str) -> str:
    """Returns a query in SQLite's words: without QUALIFY, DISTINCT ON, ANY, ALL, arg_max.

    `x < ANY (q)` is true if it is for one row, null if it is for none and null for one; ALL is the
    contrary of ANY of the contrary. `arg_max(x, x)` is the greatest x.
    """
    tree = sqlglot.parse_one(query, read="duckdb")
    for told in (_one_of_many, _greatest, _bare):
        tree = tree.transform(told)
    return tree.sql(dialect="sqlite")


def _bare(node: exp.Expression) -> exp.Expression:
    """Returns a part of a UNION without its parentheses, where they hold nothing together."""
    if isinstance(node, exp.Subquery) and isinstance(node.parent, exp.SetOperation):
        inner = node.unnest()
        if isinstance(inner, exp.Select) and not any(map(inner.args.get, ("order", "limit"))):
            return inner
    return node


def _greatest(node: exp.Expression) -> exp.Expression:
    if isinstance(node, exp.ArgMax | exp.ArgMin) and node.this == node.expression:
        return (exp.Max if isinstance(node, exp.ArgMax) else exp.Min)(this=node.this)
    return node


def _one_of_many(node: exp.Expression) -> exp.Expression:
    sought = node.args.get("expression") if isinstance(node, exp.Binary) else None
    if not isinstance(sought, exp.Any | exp.All):
        return node
    test = node.copy()
    test.set("expression", exp.column("c", "one"))
    if isinstance(sought, exp.All):
        test = exp.not_(exp.paren(test))
    inner = sought.this.unnest()
    rows = inner.copy().subquery(exp.TableAlias(this=exp.to_identifier("one")))
    assert len(inner.selects) == 1
    rows.this.selects[0].replace(exp.alias_(inner.selects[0].unalias(), "c"))

    def some(condition: exp.Expression) -> exp.Exists:
        return exp.Exists(this=exp.select("1").from_(rows.copy()).where(condition))

    found = exp.Case().when(some(test), exp.true())
    found = found.when(some(exp.Is(this=exp.paren(test.copy()), expression=exp.null())), exp.null())
    found = exp.paren(found.else_(exp.false()))
    return exp.not_(found) if isinstance(sought, exp.All) else found
