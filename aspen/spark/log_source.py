"""The log as a Spark source: the offset is a log position, and any range can be read again.

    offset   {"log": identity, "position": n}                              one lane
             {"log": identity, "position": n, "borders": r, "since": m}    several
    rows     lane, position, entry, appended_ms, read_ms, snapshot, lower, after, supersteps, since

Several lanes have supersteps beside the log (`aspen.log.superstep`): r is the number of the newest
one they had, m where the epoch under way began. A superstep ahead of the offset precedes any entry:
the sink appends it and then Spark asks for more.

Where the log was compacted, position 0 is followed by one row with the log's base.

Every lane gets every entry: a lane is a replicated state machine. The driver reads the log and
hands the entries to the tasks (a `SimpleDataSourceStreamReader`): a log of a few hundred small
entries a second needs no Python worker of its own for reading, which would cost each epoch some
40 ms. The driver waits at the log for the next entry, so that an epoch begins when something
happens and not when a poll is due.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pyarrow as pa
from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from aspen.log.base import Base, LogGap
from aspen.log.redis_log import RawEntry, RedisLog

# Imported by four processes before a first epoch: nothing of plans and queries belongs here.
CONTROL = (b'{"k":"r"', b'{"k":"u"', b'{"k":"c"')
"""How entries begin that may change what is read: registrations and declarations."""

_ARROW = pa.schema(
    [
        ("lane", pa.int32()),
        ("position", pa.int64()),
        ("entry", pa.binary()),
        ("appended_ms", pa.int64()),
        ("read_ms", pa.float64()),
        ("snapshot", pa.bool_()),
        ("lower", pa.bool_()),
        ("after", pa.int64()),
        ("supersteps", pa.int64()),
        ("since", pa.int64()),
    ]
)
_IDLE_WAIT_S = 0.5  # also the longest a stopping query has to wait for this source

_CATCHING_UP = 5  # how much larger batches are whose changes are published already

Offset = dict[str, Any]
Batches = Iterator[tuple[Any, ...]]  # Spark's annotation; record batches are welcome too


class LogReader(SimpleDataSourceStreamReader):
    """Reads ranges of a `RedisLog`; see the module's head."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = dict(options)
        self._bound = int(options["entries_per_batch"])
        self._published = int(options.get("published", "0"))
        self._lanes = [int(key) for key in options["lane_keys"].split(",")]
        self._opened: RedisLog | None = None
        # From where on what Spark may select is known, None where that is nowhere; see `lower`.
        self._lower_from = int(options["lower_from"]) if "lower_from" in options else None

    @property
    def _log(self) -> RedisLog:
        """The log, opened where it is used: the reader itself travels between processes."""
        if self._opened is None:
            options = self._options
            self._opened = RedisLog(
                options["url"], options["name"], patience_s=float(options["patience_s"])
            )
        return self._opened

    def initialOffset(self) -> Offset:  # noqa: N802  # Spark's name
        """Begin with the log's first entry, and behind a superstep number that nobody had.

        Spark asks several times, and again when a first batch is repeated.
        """
        begin: Offset = {"log": self._log.identity(), "position": 0}
        if len(self._lanes) > 1:
            begin |= {"borders": int(self._options.get("supersteps", 0)), "since": 0}
        return begin

    def read(self, start: Offset) -> tuple[Batches, Offset]:
        """Returns the entries after `start`, at most `entries_per_batch`, and where they end.

        With no news it waits a moment.

        Raises:
            LogGap: this is another log, or it has lost entries that were read before.
        """
        after, supersteps = int(start["position"]), int(start.get("borders", 0))
        identity, head, newest = self._state(supersteps)
        if newest > supersteps:
            end = {**start, "borders": supersteps + 1}
            return self.readBetweenOffsets(start, end), end
        if head == after:
            self._log.wait(after, _IDLE_WAIT_S)
            identity, head, newest = self._state(supersteps)
        if newest < supersteps:
            raise LogGap(
                f"the newest superstep is {newest} and {supersteps} has been read",
                attempt="start the engine anew: it rebuilds every view from the log",
            )
        if head < after or (start["log"] and identity != start["log"]):
            raise LogGap(
                f"the log ends at {head} and has been read up to {after}",
                found=identity,
                exists=(str(start["log"]),),
                attempt="start the engine anew: it rebuilds every view from the log there is",
            )
        begin = after or self._log.base().position
        upto = min(head, begin + self._bound)
        if begin < self._published:
            # What is published already and what is not never share a batch.
            upto = min(head, begin + self._bound * _CATCHING_UP, self._published)
        end = {**start, "log": identity, "position": upto}
        if len(self._lanes) > 1 and upto > after:  # without news the offset stays as it is
            end |= {"borders": supersteps, "since": after}
        return self.readBetweenOffsets(start, end), end

    def _state(self, supersteps: int) -> tuple[str, int, int]:
        """Returns the log's identity, head and newest superstep; of one lane, `supersteps`."""
        identity, head, newest = self._log.state()
        return identity, head, supersteps if len(self._lanes) == 1 else newest

    def readBetweenOffsets(self, start: Offset, end: Offset) -> Batches:  # noqa: N802
        """Returns the entries of a range, once for each lane."""
        read_ms = time.time() * 1000
        after, upto = int(start["position"]), int(end["position"])
        supersteps, newest = int(start.get("borders", 0)), int(end.get("borders", 0))
        base = self._log.base() if after == 0 else Base()
        entries: list[RawEntry] = []
        lower = False
        if newest > supersteps:
            base = Base()
            found = [
                self._log.read_superstep(number) for number in range(supersteps + 1, newest + 1)
            ]
            entries = [RawEntry(upto, one.data, one.appended_ms) for one in found]
        else:
            if base.position:
                entries.append(RawEntry(base.position, base.state, 0))
            entries += self._log.read_raw(after or base.position, upto)
            lower = self._lowers(after, entries)
        count = len(entries)
        batches = [
            pa.RecordBatch.from_arrays(
                [
                    pa.array([lane] * count, pa.int32()),
                    pa.array([entry.position for entry in entries], pa.int64()),
                    pa.array([entry.data for entry in entries], pa.binary()),
                    pa.array([entry.appended_ms for entry in entries], pa.int64()),
                    pa.array([read_ms] * count, pa.float64()),
                    pa.array([entry.position <= base.position for entry in entries], pa.bool_()),
                    pa.array([lower] * count, pa.bool_()),
                    pa.array([after or base.position] * count, pa.int64()),
                    pa.array([supersteps] * count, pa.int64()),
                    pa.array([int(end.get("since", after))] * count, pa.int64()),
                ],
                schema=_ARROW,
            )
            for lane in self._lanes
            if count
        ]
        return cast("Batches", iter(batches))

    def _lowers(self, after: int, entries: list[RawEntry]) -> bool:
        """Whether Spark may select from a batch; from the next registration on it may no more."""
        if self._lower_from is None or after < self._lower_from:
            return False
        if any(entry.data.startswith(CONTROL) for entry in entries):
            self._lower_from = None
        return self._lower_from is not None


class LogSource(DataSource):
    """`spark.readStream.format("aspen_log")`.

    Options: url, name, lane_keys (comma-separated), entries_per_batch, patience_s, published (the
    position up to which changes are known; see `aspen.spark.checkpoint`), supersteps (the
    number behind which a new query begins), lower_from (the position from which on rows have
    `lower` set; see `aspen.spark.lower`).
    """

    @classmethod
    def name(cls) -> str:
        """Returns the format's name."""
        return "aspen_log"

    def schema(self) -> StructType | str:
        """Returns the row shape of the module's head."""
        return from_arrow_schema(_ARROW)

    def simpleStreamReader(self, schema: StructType) -> SimpleDataSourceStreamReader:  # noqa: ARG002, N802
        """Open a reader."""
        return LogReader(dict(self.options))
