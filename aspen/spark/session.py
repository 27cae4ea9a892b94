"""The Spark session the engine runs in: small, quiet, and tuned for many tiny micro-batches."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
from pyspark.sql import SparkSession

from aspen.spark.sockets import empty_folder, socket_folder

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
RENAMING = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)
LOOPBACK = "127.0.0.1"
_ROOT = Path(__file__).resolve().parents[2]  # the folder that holds the package `aspen`

SETTINGS: Mapping[str, str] = {
    # Deltas are tiny: planning anew at each stage costs more than it can win.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # The default manager looks every renamed file up with a `readlink` process of its own.
    "spark.sql.streaming.checkpointFileManagerClass": RENAMING,
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
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
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.retainedJobs": "5",
    "spark.ui.retainedStages": "5",
    "spark.python.worker.reuse": "true",
    # Over TCP each task waits twice for 40 ms: Nagle's algorithm here, delayed ACKs there.
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.driver.memory": "768m",
    "spark.log.level": "WARN",
}
# The optimizing compiler would fight with the epochs for two cores for many minutes: with the
# first tier alone an epoch takes 90 ms instead of 220.
_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def scratch_folder(parent: Path) -> Path:
    """Returns where this process's session keeps its files; removes those of sessions that ended.

    Each process has its own: an engine may stand by while another one works.
    """
    for old in parent.glob("*") if parent.is_dir() else ():
        if not (old.name.isdigit() and psutil.pid_exists(int(old.name))):
            shutil.rmtree(socket_folder(old), ignore_errors=True)
            shutil.rmtree(old, ignore_errors=True)
    return parent / str(os.getpid())


def jvm_lives(session: SparkSession) -> bool:
    """Whether Spark's JVM runs, as far as this process started it."""
    process = getattr(session.sparkContext._gateway, "proc", None)  # noqa: SLF001  # it has no name
    return process is None or process.poll() is None


def start_session(
    master: str,
    lanes: int,
    scratch: Path,
    settings: Mapping[str, str] | None = None,
    host: str = LOOPBACK,
) -> SparkSession:
    """Start Spark, or give the session of this process that runs already.

    Args:
        master: local[n,failures], local-cluster[…] or spark://host:port.
        lanes: number of partitions of the lane step.
        scratch: folder for shuffle files, sockets and working copies of the state; emptied first.
        settings: further Spark settings, stronger than those of this module.
        host: name or address by which executors reach the driver.
    """
    shutil.rmtree(scratch, ignore_errors=True)  # what a killed predecessor left behind
    scratch.mkdir(parents=True)
    paths = [str(_ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    python_path = os.pathsep.join(dict.fromkeys(paths))
    os.environ["PYTHONPATH"] = python_path  # workers import aspen from where the driver does
    os.environ["PYSPARK_PYTHON"] = sys.executable
    if host == LOOPBACK:
        # Spark looks its machine's name up otherwise, which need not be known to anybody; and its
        # own pages, which know no passwords, would be reached from others.
        os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
    builder = (
        SparkSession.builder.master(master)
        .appName("aspen")
        .config("spark.sql.shuffle.partitions", str(lanes))
        .config("spark.default.parallelism", str(lanes))
        .config("spark.local.dir", str(scratch))
        .config("spark.sql.warehouse.dir", str(scratch / "warehouse"))
        .config("spark.driver.host", host)
        # Whoever works on this machine alone is not to be reached from others.
        .config("spark.driver.bindAddress", LOOPBACK if host == LOOPBACK else "0.0.0.0")  # noqa: S104 - executors live elsewhere
        .config("spark.executorEnv.PYTHONPATH", python_path)
        .config("spark.pyspark.python", sys.executable)
    )
    sockets = socket_folder(scratch)
    empty_folder(sockets)
    # Libraries that the JVM unpacks, 15 MB each time, go with the folder when it is killed.
    unpacked = f'"-Djava.io.tmpdir={sockets}"'
    builder = builder.config("spark.driver.extraJavaOptions", f"{_JAVA} {unpacked}")
    if host == LOOPBACK:  # executors on other machines have a temporary folder of their own
        builder = builder.config("spark.python.unix.domain.socket.dir", str(sockets))
    for key, value in {**SETTINGS, **(settings or {})}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    _without_checksum_files(session)
    return session


def _without_checksum_files(session: SparkSession) -> None:
    """Let the local file system of this JVM write no `.crc` beside each checkpoint file.

    Each would cost another file and another `chmod` process; RocksDB and the logs of Spark check
    what they read themselves.
    """
    context = session.sparkContext
    assert context._jvm is not None  # noqa: SLF001
    assert context._jsc is not None  # noqa: SLF001
    jvm: Any = context._jvm  # noqa: SLF001  # the only way to the JVM's own classes
    files = jvm.org.apache.hadoop.fs.FileSystem.get(
        jvm.java.net.URI("file:///"),
        context._jsc.hadoopConfiguration(),  # noqa: SLF001
    )
    files.setWriteChecksum(False)
