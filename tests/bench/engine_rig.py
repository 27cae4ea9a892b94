"""An engine of its own for a bench: Redis, log, Spark and results, without the web."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from aspen.log.redis_log import RedisLog
from aspen.redis_client import connect
from aspen.results.engine_status import read_status
from aspen.results.redis_results import RedisResults
from smartcis.services.embedded_redis import EmbeddedRedis
from tests.bench.rig import ROOT, RigFailed, end

START_LIMIT_S = 120


@dataclass(frozen=True, slots=True)
class EngineRig:
    """A running engine.

    Args:
        url: its Redis server.
        name: of its log and results there.
        process: `manage.py engine`.
    """

    url: str
    name: str
    process: subprocess.Popen[bytes]

    def log(self) -> RedisLog:
        """Open the log."""
        return RedisLog(self.url, self.name, patience_s=20)

    def results(self) -> RedisResults:
        """Open the results."""
        return RedisResults(self.url, self.name, patience_s=20)

    def memory_mb(self) -> dict[str, float]:
        """Returns the resident memory of Spark's driver and of its Python workers."""
        driver = psutil.Process(self.process.pid)
        sizes = {"python_driver": driver.memory_info().rss / 1e6, "jvm": 0.0, "lanes": 0.0}
        for child in driver.children(recursive=True):
            kind = "jvm" if "java" in child.name() else "lanes"
            sizes[kind] += child.memory_info().rss / 1e6
        return {kind: round(size, 1) for kind, size in sizes.items()}


@contextmanager
def engine_running(settings: Mapping[str, str] | None = None) -> Iterator[EngineRig]:
    """Start an engine in a temporary folder, give it once it is live, and stop it.

    Args:
        settings: environment variables of the engine on top of the present ones.

    Raises:
        RigFailed: it did not become live in time.
    """
    with tempfile.TemporaryDirectory(prefix="aspen-") as folder:
        server, name = EmbeddedRedis(Path(folder) / "redis"), "bench"
        server.start()
        environment = {
            **os.environ,
            "SMARTCIS_VAR": folder,
            "SMARTCIS_NAME": name,
            "REDIS_URL": server.url,
            **(settings or {}),
        }
        with (Path(folder) / "engine.out").open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, str(ROOT / "manage.py"), "engine"],
                env=environment,
                cwd=ROOT,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            rig = EngineRig(server.url, name, process)
            _wait_until_live(rig, Path(folder))
            yield rig
        finally:
            end(process)
            server.stop()


def _wait_until_live(rig: EngineRig, folder: Path) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    client = connect(rig.url, 5.0)
    while time.monotonic() < deadline:
        if rig.process.poll() is not None:
            break
        if read_status(client, rig.name).generation:
            return
        time.sleep(0.2)
    lines = (folder / "engine.out").read_text(errors="replace").splitlines()[-30:]
    raise RigFailed("the engine did not come up\n" + "\n".join(lines))
