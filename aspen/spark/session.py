"""The Spark session the engine runs in: small, quiet, and tuned for many tiny micro-batches."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_ROOT = Path(__file__).resolve().parents[2]  # the folder that holds the package `aspen`

SETTINGS: Mapping[str, str] = {
    # Deltas are tiny: planning anew at each stage costs more than it can win.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.stateStore.maintenanceInterval": "30s",
    "spark.sql.streaming.minBatchesToRetain": "20",
    # The source itself waits for the next entry; Spark need not sleep on top of that.
    "spark.sql.streaming.pollingDelay": "1ms",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.sql.streaming.numRecentProgressUpdates": "50",
    "spark.sql.streaming.stopTimeout": "20s",
    "spark.sql.ui.retainedExecutions": "5",
    "spark.ui.enabled": "false",
    "spark.ui.retainedJobs": "5",
    "spark.ui.retainedStages": "5",
    "spark.python.worker.reuse": "true",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "768m",
    "spark.log.level": "WARN",
}


def start_session(
    master: str,
    lanes: int,
    scratch: Path,
    settings: Mapping[str, str] | None = None,
) -> SparkSession:
    """Start Spark, or give the session of this process that runs already.

    Args:
        master: local[n,failures], local-cluster[…] or spark://host:port.
        lanes: number of partitions of the lane step.
        scratch: folder for shuffle files and working copies of the state; may be emptied at will.
        settings: further Spark settings, stronger than those of this module.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    paths = [str(_ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    python_path = os.pathsep.join(dict.fromkeys(paths))
    os.environ["PYTHONPATH"] = python_path  # workers import aspen from where the driver does
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = (
        SparkSession.builder.master(master)
        .appName("aspen")
        .config("spark.sql.shuffle.partitions", str(lanes))
        .config("spark.default.parallelism", str(lanes))
        .config("spark.local.dir", str(scratch))
        .config("spark.sql.warehouse.dir", str(scratch / "warehouse"))
        .config("spark.executorEnv.PYTHONPATH", python_path)
        .config("spark.pyspark.python", sys.executable)
    )
    for key, value in {**SETTINGS, **(settings or {})}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
