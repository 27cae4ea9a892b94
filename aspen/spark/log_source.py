"""The log as a Spark source: the offset is a log position, and any range can be read again.

    offset   {"log": identity, "position": n}
    rows     lane, position, entry, appended_ms, read_ms

Every lane gets every entry: a lane is a replicated state machine. The driver's `latestOffset`
waits at the log for the next entry, so an epoch begins when something happens and not when a
poll comes round.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit
from pyspark.sql.types import StructType

from aspen.log.redis_log import LogGap, RedisLog

SCHEMA = "lane INT, position LONG, entry BINARY, appended_ms LONG, read_ms DOUBLE"
_ARROW = pa.schema(
    [
        ("lane", pa.int32()),
        ("position", pa.int64()),
        ("entry", pa.binary()),
        ("appended_ms", pa.int64()),
        ("read_ms", pa.float64()),
    ]
)
_IDLE_WAIT_S = 0.5  # also the longest a stopping query has to wait for this source


class LogRange(InputPartition):
    """The entries `after < position <= upto`."""

    def __init__(self, after: int, upto: int) -> None:
        super().__init__((after, upto))
        self.after = after
        self.upto = upto


class LogReader(DataSourceStreamReader):
    """Reads ranges of a `RedisLog`; see the module's head."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._url = options["url"]
        self._name = options["name"]
        self._patience_s = float(options["patience_s"])
        self._bound = int(options["entries_per_batch"])
        self._lanes = [int(key) for key in options["lane_keys"].split(",")]
        self._log: RedisLog | None = None

    def _open(self) -> RedisLog:
        if self._log is None:
            self._log = RedisLog(self._url, self._name, patience_s=self._patience_s)
        return self._log

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802  # Spark's name
        """Begin with the log's first entry."""
        return {"log": self._open().identity(), "position": 0}

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: ARG002, N802
        """Give the head, at most `entries_per_batch` further; wait a moment if there is no news.

        Raises:
            LogGap: this is another log, or it has lost entries that were read before.
        """
        log = self._open()
        after = int(start["position"])
        identity, head = log.state()
        if head == after:
            log.wait(after, _IDLE_WAIT_S)
            identity, head = log.state()
        if head < after or (start["log"] and identity != start["log"]):
            raise LogGap(
                f"the log ends at {head} and has been read up to {after}",
                found=identity,
                exists=(str(start["log"]),),
                attempt="start the engine anew: it rebuilds every view from the log there is",
            )
        return {"log": identity, "position": min(head, after + self._bound)}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """Read a range in one task: it is small, and its order matters."""
        if start["position"] == end["position"]:
            return []
        return [LogRange(int(start["position"]), int(end["position"]))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Give the range's entries, once for each lane."""
        assert isinstance(partition, LogRange)
        read_ms = time.time() * 1000
        log = RedisLog(self._url, self._name, patience_s=self._patience_s)
        try:
            entries = log.read_raw(partition.after, partition.upto)
        finally:
            log.close()
        for lane in self._lanes:
            yield pa.RecordBatch.from_arrays(
                [
                    pa.array([lane] * len(entries), pa.int32()),
                    pa.array([entry.position for entry in entries], pa.int64()),
                    pa.array([entry.data for entry in entries], pa.binary()),
                    pa.array([entry.appended_ms for entry in entries], pa.int64()),
                    pa.array([read_ms] * len(entries), pa.float64()),
                ],
                schema=_ARROW,
            )

    def stop(self) -> None:
        """Give the connection back."""
        if self._log is not None:
            self._log.close()


class LogSource(DataSource):
    """`spark.readStream.format("aspen_log")`.

    Options: url, name, lane_keys (comma-separated), entries_per_batch, patience_s.
    """

    @classmethod
    def name(cls) -> str:
        """Give the format's name."""
        return "aspen_log"

    def schema(self) -> StructType | str:
        """Give the row shape of the module's head."""
        return SCHEMA

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: ARG002, N802
        """Open a reader."""
        return LogReader(dict(self.options))
