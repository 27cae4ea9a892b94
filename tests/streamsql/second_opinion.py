"""Second opinion: SQLite over the tables of random SQL, where DuckDB and we do not agree."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping

from streamsql.random_sql import TABLES


def second_opinion(query: str, tables: Mapping[str, list[tuple]]) -> Counter[tuple] | None:
    """Returns a query's rows, None where SQLite does not know its syntax."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("PRAGMA case_sensitive_like = ON")
        for table, columns in TABLES.items():
            declared = ", ".join(f"{name} {kind}" for name, kind in columns)
            connection.execute(f"CREATE TABLE {table} ({declared})")
            marks = ", ".join("?" * len(columns))
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", tables[table])
        return Counter(connection.execute(query).fetchall())
    except sqlite3.OperationalError:
        return None
    finally:
        connection.close()
