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
from pathlib import Path

import redis
import structlog

from aspen.results.engine_status import EngineStatus, read_status, write_status
from aspen.results.lease import Lease
from smartcis.services.child import BackOff, Child, signal_group

HUNG_S = 15.0  # an engine says something every second
STARTING_S = 60.0  # and until it says the first word, Spark may take a while on a busy machine
STOP_S = 20.0
_LAST_BYTES = 4_096

logger = structlog.get_logger(__name__)


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
        self._output = output
        # Not tied: Celery has threads, and the engine watches its parent itself.
        self._engine = Child(output.stem, command, environment, output.parent, STOP_S, tied=False)
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
        if self._engine.process is not None:
            return self._look_at(self._engine.process, status)
        if time.monotonic() < self._next_start or self._lease.held_for_s() > 0:
            return ""
        self._start()
        return "started"

    def _look_at(self, process: subprocess.Popen[bytes], status: EngineStatus) -> str:
        pid, ran_s = process.pid, time.monotonic() - self._engine.began
        code = process.poll()
        spoke = status.pid == pid and status.host == socket.gethostname()
        if code is None:
            silent_s = time.time() - status.beat_s if spoke else ran_s
            if silent_s <= (HUNG_S if spoke else STARTING_S):
                return ""
            logger.warning("engine_hangs", pid=pid, silent_s=round(silent_s, 1))
        signal_group(process, signal.SIGKILL)
        process.wait()
        self._engine.process = None
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
        self._engine.start()
        assert self._engine.process is not None
        logger.info("engine_started", pid=self._engine.process.pid)

    def stop(self) -> None:
        """Ends our engine, and start none again."""
        with self._lock:
            self._stopped = True
            process = self._engine.process
            if process is not None:
                self._engine.stop()
                self._lease.break_of(process.pid)


def engine_command(manage: Path) -> list[str]:
    """Returns the command of an engine that ends when the calling process does."""
    return [sys.executable, str(manage), "engine", "--parent", str(os.getpid())]
