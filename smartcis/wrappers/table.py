"""Table: a table or view of another database, read as far as it may have changed.

    count and newest version as before ── nothing to do
    a version ── rows at or above the last one ── and the keys, where as many rows are not left
    no version, or an hour later ── all rows ── difference by key ── changes

Law:        after a poll the source's rows are those of the table, as far as its versions tell, and
            once an hour whatever they tell; an unchanged row makes no change in the log. A row that
            does not fit is left out and named.
Reads only: SQLite is opened read-only, PostgreSQL in read-only transactions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from typing import Any
from uuid import UUID

import structlog
from django.db import Error, OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import ConnectionHandler

from aspen.errors import AspenError
from aspen.model.schema import Column, Relation, Row, Type, Value
from smartcis.json_text import unstorable
from smartcis.wrappers.base import Poller
from smartcis.wrappers.config import ConfigField, zone
from smartcis.wrappers.database import check_table, database_of
from smartcis.wrappers.declared import declared
from smartcis.wrappers.errors import BadConfig, BadRow, SourceDown
from smartcis.wrappers.payloads.times import moment_s
from smartcis.wrappers.protocol import Append, Capability, Changed, Contents

ROWS_AT_MOST = 50_000
FAULTS_KEPT = 500
READ_AGAIN_S = 3600.0  # a change that forgot to move the version is found by then
Mark = list[Any]
"""How many rows there are, and the newest version: a number, or as the database spells it."""

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
        ConfigField("zone", "zone", "of times that say none; else UTC"),
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
        self._zone = zone(str(config["zone"]))
        self._database = database_of(str(config["database"]))

    @property
    def relations(self) -> tuple[Relation, ...]:
        """What its config declares."""
        return (self._relation,)

    def _read(self, append: Append, now_s: float) -> list[str]:
        memory = self.settings.memory
        said = repr((self._table, self._key, self._version, self._relation.columns))
        with self._connected() as connection:
            check_table(connection, self._from(connection))
            mark = self._mark(connection)
            fresh = 0 <= now_s - float(memory.get("read_s", 0.0)) < READ_AGAIN_S
            told = memory.get("mark") if fresh and memory.get("said") == said else None
            if mark is None or told is None or None in (mark[1], told[1]):
                rows, faults = self._rows(connection)
                memory["read_s"] = 0.0  # and so it stays until the rows have been taken
                append(Contents(self._relation.name, rows))
                memory.update(mark=mark, read_s=now_s, said=said, faults=faults)
            elif told != mark:
                memory.update(faults=self._change(connection, append, mark, told), mark=mark)
            if len(memory["faults"]) > FAULTS_KEPT:
                memory.update(mark=None, faults=dict(list(memory["faults"].items())[:FAULTS_KEPT]))
        return list(memory["faults"].values())

    def _change(
        self, connection: BaseDatabaseWrapper, append: Append, mark: Mark, told: Mark
    ) -> dict[str, str]:
        """Appends what changed since the versions that were told; returns what does not fit."""
        count, since = mark[0], told[1]
        _check_count(count)
        rows, unfit = self._rows(connection, since)
        known: dict[str, str] = self.settings.memory["faults"]
        faults = {key: fault for key, fault in known.items() if key not in rows} | unfit

        def keys() -> set[str]:
            there = self._keys(connection)
            for key in faults.keys() - there:
                del faults[key]
            return there

        gone = unfit.keys() - rows.keys()
        fitting = count - len(faults)
        append(Changed(self._relation.name, rows, gone, fitting, keys))
        return faults

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

    def _mark(self, connection: BaseDatabaseWrapper) -> Mark | None:
        """Returns what changes when the table does, None where no version is kept."""
        if not self._version:
            return None
        version = connection.ops.quote_name(self._version)
        text = f"SELECT COUNT(*), MAX({version}) FROM {self._from(connection)}"  # noqa: S608  # quoted names
        with connection.cursor() as cursor:
            cursor.execute(text)
            count, newest = cursor.fetchone()
        plain = newest is None or (type(newest) in (int, float) and math.isfinite(newest))
        return [count, newest if plain else str(newest)]

    def _from(self, connection: BaseDatabaseWrapper) -> str:
        return ".".join(connection.ops.quote_name(part) for part in self._table.split("."))

    def _keys(self, connection: BaseDatabaseWrapper) -> set[str]:
        return {self._named(values) for values in self._selected(connection, self._key)}

    def _named(self, values: Sequence[Any]) -> str:
        return "/".join(str(value) for value in values)

    def _selected(
        self,
        connection: BaseDatabaseWrapper,
        names: Sequence[str],
        since: float | str | None = None,
    ) -> list[tuple[Any, ...]]:
        columns = ", ".join(connection.ops.quote_name(name) for name in names)
        text = f"SELECT {columns} FROM {self._from(connection)}"  # noqa: S608  # quoted names
        if since is not None:
            text += f" WHERE {connection.ops.quote_name(self._version)} >= %s"
        with connection.cursor() as cursor:
            cursor.execute(text, None if since is None else [since])
            found = cursor.fetchmany(ROWS_AT_MOST + 1)
        _check_count(len(found))
        return list(found)

    def _rows(
        self, connection: BaseDatabaseWrapper, since: float | str | None = None
    ) -> tuple[dict[str, Row], dict[str, str]]:
        """Returns rows that fit, and what is wrong with the others, by their keys.

        Args:
            since: the least version of those that are wanted; None for all.
        """
        rows: dict[str, Row] = {}
        faults: dict[str, str] = {}
        places = [self._relation.index(part) for part in self._key]
        for values in self._selected(connection, self._relation.names, since):
            key = self._named([values[place] for place in places])
            try:
                if key in rows:
                    raise BadRow("the same key stands there twice", found=key[:60])
                rows[key] = self._fitting(values)
            except AspenError as bad:
                faults[key] = f"{BadRow.code}: row {key[:60]!r}: {bad.message}"
        return rows, faults

    def _fitting(self, values: tuple[Any, ...]) -> Row:
        """Returns a row as its relation holds it.

        Raises:
            SchemaError: a value that is none of its column's.
        """
        row = tuple(
            as_held(column, value, self._zone)
            for column, value in zip(self._relation.columns, values, strict=True)
        )
        self._relation.check(row)
        row = self._relation.kept(row)
        if fault := unstorable(list(row)):
            raise BadRow(f"it holds {fault}")
        if any(isinstance(value, float) and not math.isfinite(value) for value in row):
            raise BadRow("it holds a number that is none")
        return row


def _check_count(rows: int) -> None:
    if rows > ROWS_AT_MOST:
        raise SourceDown(f"the table has more than {ROWS_AT_MOST} rows")


def as_held(column: Column, value: Any, clocks: tzinfo = UTC) -> Value:
    """Translates what databases give: decimals, times, ids, SQLite's truth values and texts.

    A time becomes seconds since the epoch in a column of numbers, and ISO 8601 in one of texts.

    Args:
        clocks: of times that say no zone.
    """
    match column.type, value:
        case Type.FLOAT, Decimal():
            return float(value)
        case Type.FLOAT, timedelta():
            return value.total_seconds()
        case Type.FLOAT, datetime():
            return (value if value.tzinfo else value.replace(tzinfo=clocks)).timestamp()
        case Type.FLOAT, date():
            return datetime.combine(value, time(), clocks).timestamp()
        case Type.FLOAT, str() if column.unit == "s":
            moment = moment_s(value, clocks)
            return value if moment is None else moment
        case Type.INT, Decimal() | float() if math.isfinite(value) and value == int(value):
            return int(value)
        case Type.TIMESTAMPTZ, datetime() if value.tzinfo is None:
            return value.replace(tzinfo=clocks).isoformat()
        case kind, date() | time() if kind.python is str:  # and datetime, which is a date
            return value.isoformat()
        case Type.TEXT, Decimal() | UUID():
            return str(value)
        case kind, Decimal() if kind.digits is not None:
            return str(value)
        case Type.BOOL, 0 | 1:
            return bool(value)
    held: Value = value
    return held
