"""Sink: where batches of wrappers go; streams straight to the log, tables through the outbox.

Readings, Arrivals ── one log transaction, once per key
Contents ── difference with what the source held ── tables ── outbox ── log
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from django.db import InterfaceError, OperationalError, close_old_connections
from redis.exceptions import RedisError

from aspen.log.redis_log import RedisLog
from aspen.model.schema import Row, SchemaError
from smartcis.catalog import CATALOG
from smartcis.ingest.readings import append_readings, transactions, with_past
from smartcis.ingest.valid import ValidReading
from smartcis.models.refused import keep_refused
from smartcis.readings.times import check_time
from smartcis.sources.devices import Devices
from smartcis.sources.stores import store_of
from smartcis.sources.stores.held import change_held
from smartcis.wrappers.errors import BadRow, LogAway
from smartcis.wrappers.protocol import (
    Batch,
    Changed,
    Contents,
    Measurements,
    MessageRefusal,
    Readings,
    StreamRows,
)


@dataclass(frozen=True, slots=True)
class SourceSink:
    """The `Append` of one source.

    Args:
        source: its id; part of every idempotency key, so that two sources may count alike.
        log: the building's log.
        clock: wall time, seconds since the epoch.
    """

    source: str
    log: RedisLog
    clock: Callable[[], float] = time.time
    _devices: Devices = field(default_factory=Devices, init=False, repr=False, compare=False)

    def __call__(self, batch: Batch) -> int:
        """Appends a batch; see `smartcis.wrappers.protocol.Append`.

        Raises:
            BadReading: a reading that is none; nothing was appended. Of what devices measured, the
                values that can be used were.
            BadRow: a row that does not fit its relation; nothing was appended.
            KeyReused: another digest came under the key; nothing was appended.
            LogAway: the log or the database cannot be reached; nothing is known to be appended.
        """
        with _reached():
            match batch:
                case Readings(key, readings):
                    append_readings(
                        self.log, list(readings), key=self._key(key), now_s=self.clock()
                    )
                    return len(readings)
                case Measurements(key):
                    taken = self._devices.sort(self.source, batch, self.clock())
                    if taken.valid:
                        self.log.append(
                            transactions(with_past(taken.valid), self.clock()), key=self._key(key)
                        )
                    if taken.fault is not None:
                        raise taken.fault
                    return len(taken.valid)
                case StreamRows(key, relation, rows, digest):
                    return self._arrive(key, relation, list(rows), digest)
                case Contents(relation, rows):
                    return store_of(relation)(self.source, relation, rows)
                case Changed():
                    return change_held(self.source, batch)

    def refuse(self, refusal: MessageRefusal) -> None:
        """Counts and keeps a message that cannot be used.

        Raises:
            LogAway: the database cannot be reached.
        """
        with _reached():
            keep_refused(self.source, refusal)

    def beat(self, row: Row) -> None:
        """Appends a heartbeat.

        Raises:
            LogAway: the log cannot be reached.
        """
        with _reached():
            self._arrive("", "source_heartbeat", [row])

    def _arrive(self, key: str, relation: str, rows: list[Row], digest: str = "") -> int:
        now_s, arrived = self.clock(), []
        for row in rows:
            check_row(relation, row)
            at_s = float(row[CATALOG.get(relation).index("at_s")] or 0.0)
            check_time(at_s, now_s)
            arrived.append(ValidReading(relation, row, at_s))
        if arrived:
            entries = transactions(arrived, now_s)
            self.log.append(entries, key=self._key(key), digest=digest)
        return len(rows)

    def _key(self, key: str) -> str:
        return f"source:{self.source}:{key}" if key else ""


@contextmanager
def _reached() -> Iterator[None]:
    """Turns errors of the log and the database into `LogAway`."""
    try:
        yield
    except (RedisError, OperationalError, InterfaceError, OSError) as error:
        close_old_connections()  # a broken one would stay broken in a process without requests
        raise LogAway(f"log not reached: {error}") from error


def check_row(relation: str, row: Row) -> None:
    """Refuses what no view could compute with.

    Raises:
        BadRow: another shape or type, or a number that is none.
    """
    try:
        CATALOG.get(relation).check(row)
    except SchemaError as error:
        raise BadRow(error.message, found=error.found, exists=error.exists) from error
    for value in row:
        if isinstance(value, float) and not math.isfinite(value):
            raise BadRow(f"{relation} holds finite numbers", found=str(value))
