"""A supervised process: started again when it dies, ended together with its parent."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

STEADY_S = 30.0  # a process that ran so long has not failed at its start
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 15.0
LOOK_S = 0.5
PARENT_VARIABLE = "SMARTCIS_PARENT"  # tells a child whose end is also its own

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
        signal_group(process, signal.SIGTERM)
        try:
            process.wait(timeout=patience_s)
        except subprocess.TimeoutExpired:
            signal_group(process, signal.SIGKILL)
            process.wait()
    signal_group(process, signal.SIGKILL)  # what its children left behind


def signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Sends a signal to a process that leads its own group, and to the whole group."""
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return


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
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    logs: Path
    patience_s: float = 10.0
    tied: bool = True
    process: subprocess.Popen[bytes] | None = None
    starts: int = 0
    began: float = 0.0
    _next_start: float = 0.0
    _back_off: BackOff = field(default_factory=BackOff)

    def start(self) -> None:
        """Starts the process."""
        self.logs.mkdir(parents=True, exist_ok=True)
        with (self.logs / f"{self.name}.log").open("ab") as output:
            self.process = subprocess.Popen(  # noqa: S603  # our own commands
                list(self.command),
                env={**self.environment, PARENT_VARIABLE: str(os.getpid())},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=die_with_parent if self.tied else None,  # noqa: PLW1509  # see `tied`
            )
        self.starts += 1
        self.began = time.monotonic()

    def watch(self) -> str:
        """Starts the process again if it has died and its pause is over.

        Returns:
            What happened, empty when nothing did.
        """
        if self.process is None:
            if time.monotonic() < self._next_start:
                return ""
            self.start()
            return "started again"
        status = self.process.poll()
        if status is None:
            return ""
        signal_group(self.process, signal.SIGKILL)
        self.process = None
        pause_s = self._back_off.pause_s(time.monotonic() - self.began)
        self._next_start = time.monotonic() + pause_s
        return f"ended with status {status}, next start in {pause_s:.1f} s"

    def stop(self) -> None:
        """Ends the process and whatever it started."""
        if self.process is not None:
            end_group(self.process, self.patience_s)
            self.process = None


def end_with_parent(parent: int, stop: Callable[[], object], patience_s: float) -> None:
    """Ends this process with its parent, also when that was killed and could say nothing.

    A thread watches: when `parent` is no longer our parent, it stops us, and then ends us by force.

    Args:
        parent: process id of the parent.
        stop: asks this process to end.
        patience_s: how long after `stop` the whole process group is killed.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_S)
        threading.Thread(target=stop, daemon=True).start()  # may wait for a server that is gone
        time.sleep(patience_s)
        os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
