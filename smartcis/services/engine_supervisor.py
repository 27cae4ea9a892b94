"""Keeps an engine running: starts one when the lease is free, kills one that hangs.

    lease free            → start `manage.py engine` as a process group of its own
    our engine is silent  → kill the group, the lease with it; the next look starts another
    engine fails at once  → wait longer each time
    another host's lease  → leave it alone

Several supervisors may look at once: the lease lets one engine work.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import redis
import structlog

from aspen.results.engine_status import EngineStatus, read_status, write_status
from aspen.results.lease import Lease
from smartcis.services.child import BackOff, end_group, signal_group

HUNG_S = 15.0  # an engine says something every second
STARTING_S = 60.0  # and until it says the first word, Spark may take a while on a busy machine
STOP_S = 20.0
_LAST_BYTES = 4_096

logger = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Run:
    process: subprocess.Popen[bytes]
    began: float


class EngineSupervisor:
    """Watches one engine on behalf of this process.

    Args:
        url: Redis server of the results.
        name: name of the results store.
        command: what starts an engine.
        output: file for the engine's words.
        environment: the engine's environment.
    """

    def __init__(
        self,
        url: str,
        name: str,
        command: list[str],
        output: Path,
        environment: Mapping[str, str],
    ) -> None:
        self._redis = redis.Redis.from_url(url)
        self._name = name
        self._lease = Lease(url, name, ttl_s=1.0)
        self._command = command
        self._output = output
        self._environment = environment
        self._run: _Run | None = None
        self._back_off = BackOff()
        self._next_start = 0.0
        self._lock = threading.Lock()
        self._stopped = False

    def look(self) -> str:
        """Looks after the engine once.

        Returns:
            What was done: "", "started", "killed" or "ended".
        """
        if not self._lock.acquire(blocking=False):
            return ""  # a look that is under way serves as well
        try:
            return "" if self._stopped else self._look()
        finally:
            self._lock.release()

    def _look(self) -> str:
        status = read_status(self._redis, self._name)
        if self._run is not None:
            return self._look_at(self._run, status)
        if time.monotonic() < self._next_start or self._lease.held_for_s() > 0:
            return ""
        self._start()
        return "started"

    def _look_at(self, run: _Run, status: EngineStatus) -> str:
        pid, ran_s = run.process.pid, time.monotonic() - run.began
        code = run.process.poll()
        spoke = status.pid == pid and status.host == socket.gethostname()
        if code is None:
            silent_s = time.time() - status.beat_s if spoke else ran_s
            if silent_s <= (HUNG_S if spoke else STARTING_S):
                return ""
            logger.warning("engine_hangs", pid=pid, silent_s=round(silent_s, 1))
        signal_group(run.process, signal.SIGKILL)
        run.process.wait()
        self._run = None
        self._lease.break_of(pid)
        if code is not None and not spoke and self._lease.held_for_s() <= 0:
            self._report(pid, code)
        pause_s = self._back_off.pause_s(ran_s)
        self._next_start = time.monotonic() + pause_s
        logger.warning("engine_down", pid=pid, code=code, ran_s=round(ran_s, 1), pause_s=pause_s)
        if pause_s or code is None:
            return "killed" if code is None else "ended"
        self._start()
        return "started"

    def _report(self, pid: int, code: int) -> None:
        """Writes the status that an engine left unwritten, with the last line of its output."""
        output = self._output.read_bytes()[-_LAST_BYTES:].decode(errors="replace")
        line = next((line for line in reversed(output.splitlines()) if line.strip()), "")
        failed = EngineStatus(
            state="failed",
            pid=pid,
            host=socket.gethostname(),
            beat_s=time.time(),
            error=f"ended with status {code}: {line.strip()}",
        )
        write_status(self._redis, self._name, failed)

    def _start(self) -> None:
        self._output.parent.mkdir(parents=True, exist_ok=True)
        with self._output.open("ab") as output:
            process = subprocess.Popen(  # noqa: S603  # our own manage.py
                self._command,
                env=dict(self._environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._run = _Run(process, time.monotonic())
        logger.info("engine_started", pid=process.pid)

    def stop(self) -> None:
        """Ends our engine, and start none again."""
        with self._lock:
            self._stopped = True
            if self._run is not None:
                end_group(self._run.process, STOP_S)
                self._lease.break_of(self._run.process.pid)
                self._run = None


def engine_command(manage: Path) -> list[str]:
    """Returns the command of an engine that ends when the calling process does."""
    return [sys.executable, str(manage), "engine", "--parent", str(os.getpid())]
