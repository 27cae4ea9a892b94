"""Table: a table or view of another database, read whole when it may have changed.

    count and newest version as before ── nothing to do
    else ── all rows ── difference by key ── changes

Law:        after a poll the source's rows are those of the table; an unchanged row makes no
            change in the log. A row that does not fit is left out and named.
Reads only: SQLite is opened read-only, PostgreSQL in read-only transactions.
Source:     own.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import dj_database_url
import structlog
from django.db import Error, OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import ConnectionHandler

from aspen.errors import AspenError
from aspen.model.schema import Column, Row, Type, Value
from smartcis.wrappers.declared import declared
from smartcis.wrappers.errors import BadConfig, BadRow, SourceDown
from smartcis.wrappers.polling import PolledSource, named
from smartcis.wrappers.protocol import Append, Contents, Settings

ROWS_AT_MOST = 50_000
READ_AGAIN_S = 3600.0  # a change that forgot to move the version is found by then
CONNECT_S = 10
ENVIRONMENT = "env:"  # keeps passwords out of the config
logger = structlog.get_logger(__name__)

ENGINES = ("django.db.backends.sqlite3", "django.db.backends.postgresql")


class DatabaseTable(PolledSource):
    """One table.

    Args:
        settings: `config.database`, `table`, `key`, `version`, `relation`, `columns`.
        clock: wall time, seconds since the epoch.
    """

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        relation = declared(settings.config)
        super().__init__(settings, clock, (relation,))
        self._table = str(settings.config["table"])
        self._version = str(settings.config["version"])
        self._relation = relation
        self._key = [part.strip() for part in str(settings.config["key"]).split(",")]
        for part in self._key:
            if part not in self._relation.names:
                raise BadConfig(
                    f"key column {part!r} is not in {self._relation.name}",
                    found=part,
                    exists=self._relation.names,
                )
        self._database = database_of(str(settings.config["database"]))

    def poll(self, append: Append) -> None:
        """Reads the table if it may have changed; see `Poller.poll`."""
        memory, now_s = self._settings.memory, self._clock()
        with self._connected() as connection:
            mark = self._mark(connection)
            fresh = 0 <= now_s - float(memory.get("read_s", 0.0)) < READ_AGAIN_S
            if not (fresh and mark is not None and memory.get("mark") == mark):
                rows, self.warnings = self._rows(connection)
                memory["read_s"] = 0.0  # and so it stays until the rows have been taken
                append(Contents(self._relation.name, rows))
                memory.update(mark=mark, read_s=now_s, warnings=self.warnings)
        self.warnings = list(memory.get("warnings", ()))
        self.pulse.heard(now_s, named(self.warnings))

    @contextmanager
    def _connected(self) -> Iterator[BaseDatabaseWrapper]:
        connection = ConnectionHandler({"default": self._database})["default"]
        try:
            yield connection
        except Error as error:
            logger.warning("table not read", source=self._settings.source, reason=str(error))
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


def database_of(url: str) -> dict[str, Any]:
    """Returns Django's description of a database that is only read.

    Raises:
        BadConfig: no address of a kind that is read here.
    """
    if url.startswith(ENVIRONMENT):
        name = url.removeprefix(ENVIRONMENT)
        url = os.environ.get(name, "")
        if not url:
            raise BadConfig(f"the environment has no {name}", found=name[:60])
    try:
        found: dict[str, Any] = dict(dj_database_url.parse(url))
    except ValueError as error:
        raise BadConfig("not the address of a database", found=url.partition(":")[0]) from error
    if found.get("ENGINE") not in ENGINES:
        raise BadConfig(
            "tables are read from SQLite and PostgreSQL",
            found=url.partition(":")[0],
            exists=("sqlite", "postgres"),
        )
    if found["ENGINE"] == ENGINES[0]:
        # A missing file must not come to be, empty.
        path = Path(found["NAME"]).absolute().as_uri()
        return found | {"NAME": f"{path}?mode=ro", "OPTIONS": {"uri": True}}
    options = {"options": "-c default_transaction_read_only=on", "connect_timeout": CONNECT_S}
    return found | {"OPTIONS": options}
