"""Grouping keys that put each lane into a partition of its own.

Spark sends a key to partition `pmod(murmur3(key, 42), partitions)`; the keys 0, 1, 2, … would
share partitions by chance, and a lane that shares one waits for the other.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

_SEED = 42


def lane_keys(session: SparkSession, lanes: int) -> tuple[int, ...]:
    """Returns one key per lane.

    Law: the keys fall into `lanes` different partitions.
    """
    jvm: Any = session.sparkContext._jvm  # noqa: SLF001  # the only way to Spark's own hash
    # Of a class with a static and another `hashInt`, py4j sees now the one, now the other.
    murmur3 = jvm.org.apache.spark.unsafe.hash.Murmur3_x86_32(_SEED)
    found: dict[int, int] = {}
    key = 0
    while len(found) < lanes:
        found.setdefault(murmur3.hashInt(key) % lanes, key)
        key += 1
    return tuple(found[partition] for partition in range(lanes))
