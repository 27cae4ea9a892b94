"""Duck: DuckDB over the tables of random SQL, asked what a query answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from threading import Timer

import duckdb
from streamsql.random_sql import TABLES

PATIENCE_S = 30.0  # DuckDB waits for itself now and then, for ever
PLANS = 100


class Unanswered(Exception):
    """DuckDB has no answer: it waits for itself, or breaks."""


class Duck:
    """A database that holds what it was told last.

    Its optimizer is off: it answers some queries wrongly, and takes longer than it saves here.
    """

    def __init__(self) -> None:
        self._connect()

    def _connect(self) -> None:
        # Several threads wait for one another now and then.
        self._connection = duckdb.connect(config={"threads": 1})
        self._connection.execute("PRAGMA disable_optimizer")
        for table, columns in TABLES.items():
            declared = ", ".join(f"{name} {kind}" for name, kind in columns)
            self._connection.execute(f"CREATE TABLE {table} ({declared})")
        self._held: dict[str, list[tuple]] = {table: [] for table in TABLES}
        self._planned: dict[str, str] = {}

    def hold(self, tables: Mapping[str, list[tuple]]) -> None:
        """Makes the tables hold these rows."""
        for table, rows in tables.items():
            if self._held[table] == rows:
                continue
            self._connection.execute(f"DELETE FROM {table}")
            if rows:
                values = ", ".join(f"({', '.join(map(_literal, row))})" for row in rows)
                self._connection.execute(f"INSERT INTO {table} VALUES {values}")
            self._held[table] = list(rows)

    def ask(self, query: str) -> Counter[tuple]:
        """Returns a query's rows; it is planned once.

        Raises:
            Unanswered: it took too long, or ended in an error of DuckDB's own.
        """
        if query not in self._planned:
            if len(self._planned) == PLANS:
                for planned in self._planned.values():
                    self._connection.execute(f"DEALLOCATE {planned}")
                self._planned.clear()
            name = f"q{len(self._planned)}"
            self._rows(f"PREPARE {name} AS {query}")
            self._planned[query] = name
        return self._rows(f"EXECUTE {self._planned[query]}")

    def ask_optimized(self, query: str) -> Counter[tuple]:
        """Returns a query's rows as DuckDB's optimizer would have them; raises as `ask`."""
        self._connection.execute("PRAGMA enable_optimizer")
        try:
            return self._rows(query)
        finally:
            self._connection.execute("PRAGMA disable_optimizer")

    def _rows(self, text: str) -> Counter[tuple]:
        patience = Timer(PATIENCE_S, self._connection.interrupt)
        patience.start()
        try:
            return Counter(map(hashable, self._connection.execute(text).fetchall()))
        except (duckdb.InterruptException, duckdb.InternalException, duckdb.FatalException) as none:
            held = self._held
            self._connect()
            self.hold(held)
            raise Unanswered(f"{type(none).__name__}: {none}") from none
        finally:
            patience.cancel()


def hashable(row: tuple) -> tuple:
    """Returns a row with its lists as tuples."""
    return tuple(tuple(value) if isinstance(value, list) else value for value in row)


def _literal(value: object) -> str:
    return "NULL" if value is None else repr(value)
