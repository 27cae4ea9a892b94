"""Host: soft sensors of a computer: load, busiest processes, people, jobs, web requests.

Law:        every poll appends what the operating system says now; web requests are counted in an
            access log, and null where there is none to count in.
Source:     psutil.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

from aspen.model.schema import Row
from smartcis.wrappers.base import Poller
from smartcis.wrappers.config import ConfigField
from smartcis.wrappers.errors import SourceDown
from smartcis.wrappers.protocol import Append, Capability, StreamRows

SAMPLE_S = 0.5
PROCESSES = 3
BYTES_PER_MB = 1_000_000.0
AT_WORK = {psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP}
NAME_LENGTH = 80


class Host(Poller):
    """The computer this runs on."""

    key = "host"
    label = "This computer (soft sensors)"
    fields = (
        ConfigField("host", "text", "its name; empty for what it calls itself"),
        ConfigField("access_log", "text", "a web server's log whose lines are counted"),
    )
    feeds = ("host_load", "host_process")
    capabilities = (Capability.POLL, Capability.SAMPLE)

    def _set_up(self, config: Mapping[str, Any]) -> None:
        self._host = str(config["host"]) or platform.node() or "localhost"
        self._access_log = str(config["access_log"])

    def _read(self, append: Append, now_s: float) -> list[str]:
        try:
            load_pct, jobs, busiest = busy()
            memory_pct, users = psutil.virtual_memory().percent, len(psutil.users())
        except (psutil.Error, OSError) as error:
            raise SourceDown(f"the system does not say: {error}") from error
        requests_hz, warnings = self._requests_hz(now_s)
        row = (self._host, load_pct, memory_pct, users, jobs, requests_hz, now_s)
        append(StreamRows("", "host_load", [row]))
        rows: list[Row] = [
            (self._host, rank, pid, name, cpu_pct, memory_mb, now_s)
            for rank, (cpu_pct, pid, name, memory_mb) in enumerate(busiest, start=1)
        ]
        append(StreamRows("", "host_process", rows))
        return warnings

    def _requests_hz(self, now_s: float) -> tuple[float | None, list[str]]:
        """Counts the lines an access log has grown by since the last poll."""
        if not self._access_log:
            return None, []
        memory = self.settings.memory
        try:
            with Path(self._access_log).open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                start = int(memory.get("log_bytes", size))
                file.seek(start if start <= size else 0)  # a rotated log begins anew
                lines = sum(part.count(b"\n") for part in iter(lambda: file.read(1 << 16), b""))
                end = file.tell()
        except OSError as error:
            return None, [f"the access log cannot be read: {error.strerror}"]
        since_s = memory.get("log_s")
        memory.update(log_bytes=end, log_s=now_s)
        return None if since_s is None or now_s <= since_s else lines / (now_s - since_s), []


def busy() -> tuple[float, int, list[tuple[float, int, str, float]]]:
    """Measures for half a second.

    Returns:
        Load in % of all processors; processes running or waiting for a disk; the busiest as
        (% of all processors, process id, name, MB).
    """
    psutil.cpu_percent()
    watched = list(psutil.process_iter(["name", "status"]))
    for process in watched:
        _cpu_pct(process)
    time.sleep(SAMPLE_S)
    load_pct = psutil.cpu_percent()
    jobs = sum(process.info["status"] in AT_WORK for process in watched)
    ranked = sorted(((_cpu_pct(one), one) for one in watched), key=lambda pair: -pair[0])
    busiest = []
    for cpu_pct, process in ranked[:PROCESSES]:
        try:
            memory_mb = process.memory_info().rss / BYTES_PER_MB
        except psutil.Error:
            continue  # it has ended meanwhile
        name = str(process.info["name"] or "")[:NAME_LENGTH]
        busiest.append((cpu_pct, process.pid, name, memory_mb))
    return min(load_pct, 100.0), jobs, busiest


def _cpu_pct(process: psutil.Process) -> float:
    try:
        return float(process.cpu_percent()) / (psutil.cpu_count() or 1)
    except psutil.Error:
        return 0.0  # it has ended, or is nobody's business
