"""DuckDB: keep the tables, compute the whole answer anew after every change.

Cheapest paths use `USING KEY`, which updates the best row of each pair in place. A recursion may
read itself once, so some queries are spelt otherwise.
"""

from __future__ import annotations

from typing import Any

import duckdb

from .relations import RELATIONS
from .worker import Digest, Row, Script, Tables, digest_of, serve

CHEAPEST = """
    WITH RECURSIVE walk(origin, node, cost) USING KEY (origin, node) AS (
        SELECT node, node, 0 FROM origin
      UNION
        SELECT w.origin, l.dst, min(w.cost + l.cost)
        FROM walk w JOIN link l ON l.src = w.node
        LEFT JOIN recurring.walk k ON k.origin = w.origin AND k.node = l.dst
        WHERE k.cost IS NULL OR w.cost + l.cost < k.cost
        GROUP BY w.origin, l.dst
    ) SELECT origin, node, cost FROM walk"""


REACH = """
    WITH RECURSIVE reach(src, dst) AS (
        SELECT src, dst FROM link
      UNION
        SELECT r.src, l.dst FROM reach r JOIN link l ON l.src = r.dst
    ) SELECT src, dst FROM reach"""
EVEN = """
    WITH RECURSIVE walk(src, dst, odd) AS (
        SELECT src, dst, true FROM link
      UNION
        SELECT w.src, l.dst, NOT w.odd FROM walk w JOIN link l ON l.src = w.dst
    ) SELECT src, dst FROM walk WHERE NOT odd"""
SPELT: dict[str, str | None] = {
    "cheapest, one source": CHEAPEST,
    "cheapest, all pairs": CHEAPEST,
    "non-linear closure": REACH,
    "mutual recursion": EVEN,
    "points-to": None,
}


class DuckdbSession:
    """An in-memory database with as many threads as it likes."""

    def __init__(self, case: dict[str, Any]) -> None:
        self._tables: Tables = case["tables"]
        query = SPELT.get(case["query"], case["sql"])
        if query is None:
            raise NotImplementedError("DuckDB has no recursions that read each other")
        self._query = f"CREATE OR REPLACE TABLE answer AS {query}"
        self._database = duckdb.connect()
        for name in self._tables:
            columns = ", ".join(f"{column} INTEGER" for column in RELATIONS[name])
            self._database.execute(f"CREATE TABLE {name} ({columns})")

    def load(self) -> None:
        """Insert all rows, compute."""
        for name, rows in self._tables.items():
            values = ", ".join(f"({', '.join(map(str, row))})" for row in rows)
            self._database.execute(f"INSERT INTO {name} VALUES {values}")
        self._database.execute(self._query)

    def change(self, relation: str, row: Row, weight: int) -> None:
        """Change one row, compute."""
        if weight > 0:
            marks = ", ".join("?" for _ in row)
            self._database.execute(f"INSERT INTO {relation} VALUES ({marks})", row)
        else:
            test = " AND ".join(f"{column} = ?" for column in RELATIONS[relation])
            self._database.execute(f"DELETE FROM {relation} WHERE {test}", row)
        self._database.execute(self._query)

    def digest(self) -> Digest:
        """Returns the digest of the answer."""
        return digest_of(self._database.execute("SELECT * FROM answer").fetchall())


def drive(case: dict[str, Any], keep: bool, script: Script) -> dict[str, Any]:  # noqa: FBT001 - the worker's protocol
    """Run a script."""
    del keep
    return script(DuckdbSession(case))


if __name__ == "__main__":
    serve(drive)
