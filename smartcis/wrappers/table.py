"""Table: a table or view of another database, read whole when it may have changed.

    count and newest version as before ── nothing to do
    else ── all rows ── difference by key ── changes

Law:        after a poll the source's rows are those of the table; an unchanged row makes no
            change in the log. A row that does not fit is left out and named.
Reads only: SQLite is opened read-only, PostgreSQL in read-only transactions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import structlog
from django.db import Error, OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import ConnectionHandler

from aspen.errors import AspenError
from aspen.model.schema import Column, Relation, Row, Type, Value
from smartcis.json_text import unstorable
from smartcis.wrappers.base import Poller
from smartcis.wrappers.config import ConfigField
from smartcis.wrappers.database import check_table, database_of
from smartcis.wrappers.declared import declared
from smartcis.wrappers.errors import BadConfig, BadRow, SourceDown
from smartcis.wrappers.protocol import Append, Capability, Contents

ROWS_AT_MOST = 50_000
READ_AGAIN_S = 3600.0  # a change that forgot to move the version is found by then
logger = structlog.get_logger(__name__)


class DatabaseTable(Poller):
    """One table."""

    key = "table"
    label = "Table of another database"
    fields = (
        ConfigField(
            "database",
            "text",
            "sqlite:////path/file, below a folder that the operator allows, or "
            "postgres://user:password@host/name; env:NAME reads it from the environment",
            required=True,
        ),
        ConfigField("table", "text", "table or view, perhaps with its schema", required=True),
        ConfigField("key", "text", "columns that identify a row, parted by commas", required=True),
        ConfigField("version", "text", "a column that grows with every change; empty for none"),
        ConfigField(
            "relation",
            "text",
            "what the rows become: a new name, machine_software or reservation",
            required=True,
        ),
        ConfigField(
            "columns",
            "columns",
            'for a new name: [{"name": "id", "type": "TEXT"}, {"name": "watts", "type": '
            '"FLOAT", "unit": "W", "nullable": true}]',
            default=[],
        ),
        ConfigField("comment", "text", "one line for the schema browser"),
    )
    period_s = 60.0
    capabilities = (Capability.POLL,)

    def _set_up(self, config: Mapping[str, Any]) -> None:
        self._relation = declared(config)
        self._table = str(config["table"])
        self._version = str(config["version"])
        self._key = [part.strip() for part in str(config["key"]).split(",")]
        for part in self._key:
            if part not in self._relation.names:
                raise BadConfig(
                    f"key column {part!r} is not in {self._relation.name}",
                    found=part,
                    exists=self._relation.names,
                )
        self._database = database_of(str(config["database"]))

    @property
    def relations(self) -> tuple[Relation, ...]:
        """What its config declares."""
        return (self._relation,)

    def _read(self, append: Append, now_s: float) -> list[str]:
        memory = self.settings.memory
        with self._connected() as connection:
            check_table(connection, self._from(connection))
            mark = self._mark(connection)
            fresh = 0 <= now_s - float(memory.get("read_s", 0.0)) < READ_AGAIN_S
            if not (fresh and mark is not None and memory.get("mark") == mark):
                rows, warnings = self._rows(connection)
                memory["read_s"] = 0.0  # and so it stays until the rows have been taken
                append(Contents(self._relation.name, rows))
                memory.update(mark=mark, read_s=now_s, warnings=warnings)
        return list(memory.get("warnings", ()))

    @contextmanager
    def _connected(self) -> Iterator[BaseDatabaseWrapper]:
        connection = ConnectionHandler({"default": self._database})["default"]
        try:
            yield connection
        except Error as error:
            logger.warning("table not read", source=self.settings.source, reason=str(error))
            if isinstance(error, OperationalError) and connection.vendor != "sqlite":
                # Its words name hosts and accounts, and everybody reads a source's health.
                raise SourceDown("the database does not answer") from error
            reason = str(error).strip().partition("\n")[0]
            raise SourceDown(f"the database does not answer: {reason}") from error
        finally:
            connection.close()

    def _mark(self, connection: BaseDatabaseWrapper) -> list[str] | None:
        """Returns what changes when the table does, None where no version is kept."""
        if not self._version:
            return None
        version = connection.ops.quote_name(self._version)
        text = f"SELECT COUNT(*), MAX({version}) FROM {self._from(connection)}"  # noqa: S608  # quoted names
        with connection.cursor() as cursor:
            cursor.execute(text)
            return [str(value) for value in cursor.fetchone()]

    def _from(self, connection: BaseDatabaseWrapper) -> str:
        return ".".join(connection.ops.quote_name(part) for part in self._table.split("."))

    def _rows(self, connection: BaseDatabaseWrapper) -> tuple[dict[str, Row], list[str]]:
        columns = ", ".join(connection.ops.quote_name(name) for name in self._relation.names)
        text = f"SELECT {columns} FROM {self._from(connection)}"  # noqa: S608  # quoted names
        with connection.cursor() as cursor:
            cursor.execute(text)
            found = cursor.fetchmany(ROWS_AT_MOST + 1)
        if len(found) > ROWS_AT_MOST:
            raise SourceDown(f"the table has more than {ROWS_AT_MOST} rows")
        rows: dict[str, Row] = {}
        warnings: list[str] = []
        for values in found:
            by_name = dict(zip(self._relation.names, values, strict=True))
            key = "/".join(str(by_name[part]) for part in self._key)
            try:
                if key in rows:
                    raise BadRow("the same key stands there twice", found=key[:60])
                rows[key] = self._fitting(values)
            except AspenError as bad:
                warnings.append(f"{BadRow.code}: row {key[:60]!r}: {bad.message}")
        return rows, warnings

    def _fitting(self, values: tuple[Any, ...]) -> Row:
        """Returns a row as its relation holds it.

        Raises:
            SchemaError: a value that is none of its column's.
        """
        row = tuple(
            as_held(column, value)
            for column, value in zip(self._relation.columns, values, strict=True)
        )
        self._relation.check(row)
        if fault := unstorable(list(row)):
            raise BadRow(f"it holds {fault}")
        if any(isinstance(value, float) and not math.isfinite(value) for value in row):
            raise BadRow("it holds a number that is none")
        return row


def as_held(column: Column, value: Any) -> Value:
    """Translates what databases give: decimals, times, SQLite's truth values."""
    match column.type, value:
        case Type.FLOAT, Decimal():
            return float(value)
        case Type.INT, Decimal() if value == int(value):
            return int(value)
        case Type.FLOAT, datetime():
            return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
        case Type.TEXT, date():  # and datetime, which is one
            return value.isoformat()
        case Type.BOOL, 0 | 1:
            return bool(value)
    held: Value = value
    return held
