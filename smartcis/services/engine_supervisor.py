"""Keeps an engine running: starts one when the lease is free, kills one that hangs.

    lease free                      → start `manage.py engine` as a process group of its own
    an engine of this host has it   → adopt it: it outlived the supervisor that started it
    our engine is silent            → kill the group, the lease with it; then start another
    Spark is not ready yet          → let it be silent: that is another, generous limit
    engine fails at once            → wait longer each time
    another host's lease            → leave it alone

    standby   ─ Spark starts ─ rehearsal ─ waits ─┤ "begin" ─ lease ─ the engine
    engine    ──────────────────────────────┤ dead, lease broken

A standby is an engine that has everything ready but the lease and the query. It begins when the
supervisor that started it says so, which it says once, to one, after the engine's process group was
killed; and it still has to get the lease. Where its supervisor dies, its standard input ends, and
it ends itself. The next one is started when the engine has its first epoch.

Several supervisors may look at once: the lease lets one engine work. Each look leaves a sign of
life beside the results; an engine that finds none for a while ends itself.
"""

from __future__ import annotations

import signal
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import psutil
import redis
import structlog

from aspen.redis_client import connect_once
from aspen.results.engine_status import EngineStatus, read_status, say_supervised, write_status
from aspen.results.lease import Lease
from smartcis.services.child import BackOff, Child, signal_group

STOP_S = 20.0
PERIOD_S = 1.0
STANDBY = "--standby"
BEGIN = "begin"  # what a standby is told
SUPERVISED = "--supervised"  # in the command of an engine that any supervisor may adopt
_LAST_BYTES = 4_096

logger = structlog.get_logger(__name__)


class EngineSupervisor:
    """Watches one engine on behalf of this process; it is to be used like a `Child`.

    Args:
        url: Redis server of the results.
        name: name of the results store.
        command: what starts an engine.
        output: file for the engine's words.
        environment: the engine's environment.
        standbys: how many engines stand by.
        starting_s: how long an engine may take until Spark is ready.
        silent_s: how long it may say nothing from then on; it says something every second.
    """

    name = "engine"

    def __init__(
        self,
        url: str,
        name: str,
        command: list[str],
        output: Path,
        environment: Mapping[str, str],
        standbys: int = 0,
        *,
        starting_s: float,
        silent_s: float,
    ) -> None:
        self._redis = connect_once(url)
        self._results = name
        self._lease = Lease(url, name, ttl_s=1.0)
        self._output = output
        self._command, self._environment = command, environment
        self._starting_s, self._silent_s = starting_s, silent_s
        self._child = self._engine()
        self._standbys = [self._standby() for _ in range(standbys)]
        self._adopted: psutil.Process | None = None
        self._back_off = BackOff()
        self._next_start = self._next_look = self._began = self._heard_at = 0.0
        self._heard_s = 0.0
        self.starts = 0

    def _engine(self) -> Child:
        # Not tied: an engine outlives its supervisor, and the next one adopts it.
        output = self._output
        return Child(
            output.stem, self._command, self._environment, output.parent, STOP_S, tied=False
        )

    def _standby(self) -> Child:
        standby = self._engine()
        standby.command = [*self._command, STANDBY]
        standby.waits = True
        standby.patience_s = 0.0  # it has nothing to tidy up until it is the engine
        return standby

    @property
    def pid(self) -> int:
        """The engine's process id, 0 while there is none of ours."""
        return self._adopted.pid if self._adopted is not None else self._child.pid

    def start(self) -> None:
        """Looks for the first time."""
        self.watch()

    def watch(self) -> str:
        """Looks after the engine once a second, and at once where it has ended.

        Returns:
            What happened, empty when nothing did.
        """
        now = time.monotonic()
        child = self._child.process
        ended = child is not None and child.poll() is not None
        if now < self._next_look and not ended:
            return ""
        self._next_look = now + PERIOD_S
        try:
            return self.look()
        except redis.RedisError:
            return ""  # without the server no engine works; whoever keeps the server says so

    def look(self) -> str:
        """Looks after the engine once.

        Returns:
            What was done: "", "started", "adopted", "killed" or "ended".
        """
        say_supervised(self._redis, self._results)
        status = read_status(self._redis, self._results)
        happened = self._look_at_engine(status)
        for standby in self._standbys:
            if standby.pid or (status.state == "live" and status.pid == self.pid):
                self._look_at_standby(standby)
        return happened

    def _look_at_engine(self, status: EngineStatus) -> str:
        if self.pid:
            return self._look_at(self.pid, status)
        if time.monotonic() < self._next_start:
            return ""
        return self._adopt() or ("" if self._lease.held_for_s() > 0 else self._start())

    def _adopt(self) -> str:
        """Takes over an engine of this host that holds the lease; one that is dead loses it."""
        host, _, pid = self._lease.holder().rpartition(":")
        if host != socket.gethostname():
            return ""
        try:
            holder = psutil.Process(int(pid))
            if SUPERVISED not in holder.cmdline():
                return ""  # somebody runs it by hand
        except psutil.NoSuchProcess:
            self._lease.break_of(int(pid))
            return ""
        self._adopted = holder
        self._begin()
        logger.info("engine_adopted", pid=holder.pid)
        return "adopted"

    def _look_at_standby(self, standby: Child) -> None:
        happened = standby.watch()
        if happened:
            logger.info("engine_standby", happened=happened, pid=standby.pid)

    def _begin(self) -> None:
        self._began = time.monotonic()
        self._heard_at, self._heard_s = self._began, 0.0

    def _look_at(self, pid: int, status: EngineStatus) -> str:
        now = time.monotonic()
        ran_s = now - self._began
        alive, code = self._state()
        fault = ""
        spoke = status.pid == pid and status.host == socket.gethostname()
        if alive:
            # By our own clock: the time of day may jump.
            if spoke and status.beat_s != self._heard_s:
                self._heard_at, self._heard_s = now, status.beat_s
            silent_s = now - self._heard_at
            ready = spoke and status.spark_is_ready()
            if (silent_s <= self._silent_s) if ready else (ran_s <= self._starting_s):
                return ""
            logger.warning("engine_hangs", pid=pid, silent_s=round(silent_s, 1), ready=ready)
            fault = (
                f"said nothing for {silent_s:.0f} s and was killed"
                if ready
                else f"Spark was not ready within {ran_s:.0f} s; on a slow machine raise "
                "SMARTCIS_STARTING_S"
            )
        elif code is not None and not spoke:
            fault = f"ended with status {code}: {self._last_line()}"
        signal_group(pid, signal.SIGKILL)
        if self._child.process is not None:
            self._child.process.wait()
        self._child.process = self._adopted = None
        self._lease.break_of(pid)
        if fault and self._lease.held_for_s() <= 0:
            self._report(pid, fault)
        pause_s = self._back_off.pause_s(ran_s)
        self._next_start = now + pause_s
        logger.warning("engine_down", pid=pid, code=code, ran_s=round(ran_s, 1), pause_s=pause_s)
        if pause_s or alive:
            return "killed" if alive else "ended"
        return self._start()

    def _state(self) -> tuple[bool, int | None]:
        """Returns whether our engine lives, and the status it ended with where that is known."""
        if self._child.process is not None:
            code = self._child.process.poll()
            return code is None, code
        assert self._adopted is not None
        try:
            return self._adopted.status() != psutil.STATUS_ZOMBIE, None
        except psutil.NoSuchProcess:
            return False, None

    def _last_line(self) -> str:
        """Returns the last words of an engine."""
        output = self._output.read_bytes()[-_LAST_BYTES:].decode(errors="replace")
        return next((line for line in reversed(output.splitlines()) if line.strip()), "").strip()

    def _report(self, pid: int, error: str) -> None:
        """Writes the status that an engine left unwritten."""
        failed = EngineStatus(
            state="failed",
            pid=pid,
            host=socket.gethostname(),
            beat_s=time.time(),
            error=error,
        )
        write_status(self._redis, self._results, failed)

    def _start(self) -> str:
        standby = next((one for one in self._standbys if one.tell(BEGIN)), None)
        if standby is None:
            self._child = self._engine()
            self._child.start()
        else:
            self._standbys.remove(standby)
            self._standbys.append(self._standby())
            standby.patience_s = STOP_S
            self._child = standby
        self.starts += 1
        self._begin()
        logger.info("engine_started", pid=self.pid, stood_by=standby is not None)
        return "started"

    def stop(self) -> None:
        """Ends our engine."""
        for standby in self._standbys:
            standby.stop()
        pid = self.pid
        if not pid:
            return
        if self._adopted is not None:
            with suppress(psutil.Error):
                self._adopted.terminate()
                self._adopted.wait(STOP_S)
            signal_group(pid, signal.SIGKILL)
            self._adopted = None
        self._child.stop()
        with suppress(redis.RedisError):
            self._lease.break_of(pid)


def engine_command(manage: Path) -> list[str]:
    """Returns the command of an engine that ends when no supervisor is left."""
    return [sys.executable, str(manage), "engine", SUPERVISED]
