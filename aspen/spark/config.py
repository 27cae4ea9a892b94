"""What an engine is started with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from aspen.algebra.lowerable import LOWER_FROM_HZ
from aspen.log.retention import KEEP_ENTRIES


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """One engine: one log, one results store, one checkpoint.

    Args:
        log_url: Redis server of the log.
        log_name: the log's name there.
        results_url: Redis server of the results.
        results_name: the store's name there; the lease lies beside it.
        checkpoint: folder for the checkpoint; made when missing, emptied when it is of no use.
        master: Spark master; `local[2,3]` runs two tasks at once and tries each three times.
        host: name or address by which executors reach the driver.
        lanes: how many lanes; more than one core per lane is never used.
        entries_per_batch: bound of one epoch, in log entries.
        patience_s: how long source and sink wait for a Redis server that is away.
        lease_s: how long an engine that died still keeps others out.
        first_epoch_s: from the moment Spark is ready an engine may compute so long until its first
            epoch, and a fifth of it where it computes next to nothing.
        stalled_s: later, an engine that has entries to read, computes next to nothing and finishes
            no epoch for so long ends itself; one that computes, after five times as long.
        compact_entries: stored changes beyond which a lane's snapshot moves up.
        keep_entries: how many log entries stay when older ones are folded into the log's base.
        lower_from_hz: declared rate from which on a stream's selections are made in Spark.
        settings: further Spark settings.
    """

    log_url: str
    log_name: str
    results_url: str
    results_name: str
    checkpoint: Path
    master: str = "local[2,3]"
    host: str = "127.0.0.1"
    lanes: int = 1
    entries_per_batch: int = 2_000
    patience_s: float = 30.0
    lease_s: float = 6.0
    first_epoch_s: float = 1_800.0
    stalled_s: float = 120.0
    compact_entries: int = 5_000
    keep_entries: int = KEEP_ENTRIES
    lower_from_hz: float = LOWER_FROM_HZ
    settings: Mapping[str, str] = field(default_factory=dict)
