"""A supervised process: started again when it dies or hangs, ended together with its parent."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from aspen.errors import AspenError
from smartcis.services.heartbeat import PIPE_VARIABLE

STEADY_S = 30.0  # a process that ran so long has not failed at its start
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 15.0
SILENT_S = 60.0  # longer than any patience with a server or a database that is away
LOOK_S = 0.5

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


def die_with_parent() -> None:
    """Ask the kernel to send SIGTERM when the parent ends, however it ends (Linux only)."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


@dataclass(slots=True)
class BackOff:
    """How long to wait before the next start: nothing at first, then twice as long each time."""

    failures: int = 0

    def pause_s(self, ran_s: float) -> float:
        """Returns the pause after a process ended that had run for `ran_s`."""
        self.failures = 0 if ran_s >= STEADY_S else self.failures + 1
        if self.failures <= 1:
            return 0.0
        return min(FIRST_PAUSE_S * 2.0 ** (self.failures - 2), LONGEST_PAUSE_S)


def end_group(process: subprocess.Popen[bytes], patience_s: float) -> None:
    """Ends a process and all it started: politely, and after `patience_s` by force."""
    if process.poll() is None:
        signal_group(process.pid, signal.SIGTERM)
        signal_group(process.pid, signal.SIGCONT)  # one that is stopped would not hear of it
        try:
            process.wait(timeout=patience_s)
        except subprocess.TimeoutExpired:
            signal_group(process.pid, signal.SIGKILL)
            process.wait()
    signal_group(process.pid, signal.SIGKILL)  # what its children left behind


def signal_group(pid: int, number: signal.Signals) -> None:
    """Sends a signal to a process that leads its own group, and to the whole group."""
    with suppress(ProcessLookupError):
        os.killpg(pid, number)


@dataclass(slots=True)
class Child:
    """One process of the product.

    Args:
        name: as it is called in messages; its output goes to `<logs>/<name>.log`.
        command: what to run, in a session of its own.
        environment: its environment.
        logs: folder of the output.
        patience_s: how long it may take to end when asked to.
        tied: whether the kernel ends it should the caller's process die; only for a caller with one
            thread.
        waits: whether it waits at its standard input for what `tell` says, or for the end of that.
        beats: whether it calls `heartbeat.beat`; one that beats no more is killed.
        starting_s: how long it may take until its first beat.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    logs: Path
    patience_s: float = 10.0
    tied: bool = True
    waits: bool = False
    beats: bool = False
    starting_s: float = 900.0
    process: subprocess.Popen[bytes] | None = None
    starts: int = 0
    began: float = 0.0
    _next_start: float = 0.0
    _back_off: BackOff = field(default_factory=BackOff)
    _pipe: int = -1
    _silent_at: float = 0.0

    @property
    def pid(self) -> int:
        """Its process id, 0 while it is down."""
        return 0 if self.process is None else self.process.pid

    def start(self) -> None:
        """Starts the process."""
        self.logs.mkdir(parents=True, exist_ok=True)
        self._close_pipe()
        self._pipe, theirs = os.pipe()
        os.set_blocking(self._pipe, False)
        os.set_blocking(theirs, False)
        try:
            with (self.logs / f"{self.name}.log").open("ab") as output:
                self.process = subprocess.Popen(  # noqa: S603  # our own commands
                    list(self.command),
                    env={**self.environment, PIPE_VARIABLE: str(theirs)},
                    stdin=subprocess.PIPE if self.waits else subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    pass_fds=(theirs,),
                    preexec_fn=die_with_parent if self.tied else None,  # noqa: PLW1509  # see `tied`
                )
        finally:
            os.close(theirs)
        self.starts += 1
        self.began = time.monotonic()
        self._silent_at = self.began + self.starting_s

    def watch(self) -> str:
        """Starts the process again if it has died and its pause is over; kills one that hangs.

        Returns:
            What happened, empty when nothing did.
        """
        now = time.monotonic()
        if self.process is None:
            if now < self._next_start:
                return ""
            try:
                self.start()
            except (OSError, AspenError) as error:  # no room for its log file, no process to be had
                self._next_start = now + self._back_off.pause_s(0.0)
                return f"cannot be started: {error}"
            return "started again"
        status = self.process.poll()
        if status is None:
            if not self.beats or self._heard() or now < self._silent_at:
                return ""
            signal_group(self.process.pid, signal.SIGKILL)
            return "says nothing any more, killed"
        signal_group(self.process.pid, signal.SIGKILL)
        self.process = None
        pause_s = self._back_off.pause_s(now - self.began)
        self._next_start = now + pause_s
        return f"ended with status {status}, next start in {pause_s:.1f} s"

    def tell(self, line: str) -> bool:
        """Says a line to a process that waits, and nothing after it; whether somebody can hear."""
        if self.process is None or self.process.poll() is not None or self.process.stdin is None:
            return False
        try:
            with self.process.stdin as words:
                words.write(f"{line}\n".encode())
        except BrokenPipeError:
            return False
        return True

    def _heard(self) -> bool:
        """Whether it has beaten since the last look."""
        with suppress(BlockingIOError):
            if os.read(self._pipe, 65_536):
                self._silent_at = time.monotonic() + SILENT_S
                return True
        return False

    def _close_pipe(self) -> None:
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1

    def stop(self) -> None:
        """Ends the process and whatever it started."""
        if self.process is not None:
            end_group(self.process, self.patience_s)
            self.process = None
        self._close_pipe()


def end_when(alone: Callable[[], bool], stop: Callable[[], object], patience_s: float) -> None:
    """Ends this process once nobody looks after it, also when it can be told nothing.

    Args:
        alone: asked twice a second in a thread: whether nobody does.
        stop: asks this process to end.
        patience_s: how long after `stop` the whole process group is killed.
    """

    def watch() -> None:
        while not alone():
            time.sleep(LOOK_S)
        threading.Thread(target=stop, daemon=True).start()  # may wait for a server that is gone
        time.sleep(patience_s)
        os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=watch, name="alone-watch", daemon=True).start()
