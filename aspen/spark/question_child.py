"""Question child: one question in a fork of this process.

    lane     fork ─┬─ goes on …                    pidfd readable: read the file, reap
    child          └─ stands still ─ turn ─ lane as it was, copy on write ─ file in memory ─ _exit

Nothing that was open before is used by the child or kept open by it: whoever waits for the end of a
connection of Spark's must not wait for the end of a question.
"""

from __future__ import annotations

import gc
import os
import resource
import select
import signal
import time
from contextlib import suppress
from math import ceil
from pathlib import Path
from typing import NoReturn

from aspen.errors import AspenError
from aspen.log.entry import OneTimeQuery
from aspen.results.protocol import ViewChange
from aspen.results.wire import decode_changes, encode_changes
from aspen.runtime.answering import Answer, Compute
from aspen.runtime.one_time_queries import NO_MEMORY, answer_name
from aspen.views.work import TimeExceeded

TURN_S = 20.0
"""How long a turn may take; the processor may have other work."""
MEMORY_BYTES = 200 << 20
"""What a child may reserve beyond what the lane has."""
SPARE_S = 1
"""Seconds of the processor beyond its bounds that a child has before the system ends it."""
NICE = 10
"""A tenth of the weight of what else there is to do: an answer comes on a busy machine, too."""
_STANDARD = 3
_NO_MEMORY_EXIT = 2
_GO = b"\1"


class QuestionDied(AspenError, code="aspen.spark.question_died"):
    """The process that looked for an answer ended without one."""


class QuestionChild:
    """A fork that computes the answer to a question once its turn begins.

    `since_s` is when that was by the monotonic clock, 0 before; `used_s` is what it took.

    Raises:
        OSError: there is no room for one more process.
    """

    def __init__(self, entry: OneTimeQuery, compute: Compute) -> None:
        self.entry = entry
        self.since_s = 0.0
        self._exit_code: int | None = None
        self.used_s = 0.0
        self._stands_back = False
        self._found = os.memfd_create("answer")
        turn, self._turn = os.pipe()
        try:
            self._pid = os.fork()
            if not self._pid:
                _compute(entry, compute, turn, self._found)
            self._ended = os.pidfd_open(self._pid)
        except OSError:
            os.close(self._turn)  # a child without a turn ends by itself
            os.close(self._found)
            raise
        finally:
            os.close(turn)

    def begin(self) -> None:
        """Begin its turn."""
        self.since_s = time.monotonic()
        with suppress(OSError):  # it is dead
            os.write(self._turn, _GO)

    def ends_within(self, wait_s: float) -> bool:
        """Whether it has ended, after waiting for it at most so long."""
        if self._exit_code is None:
            poll = select.poll()
            poll.register(self._ended, select.POLLIN)
            if poll.poll(wait_s * 1e3):
                self._reap()
        return self._exit_code is not None

    def is_overdue(self) -> bool:
        """Whether its turn takes too long."""
        return 0 < self.since_s < time.monotonic() - TURN_S

    def stand_back(self) -> None:
        """Let it work with less weight than what else there is to do, from now on."""
        if self._stands_back:
            return
        self._stands_back = True
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, self._pid, NICE)
        try:
            Path(f"/proc/{self._pid}/autogroup").write_text(str(NICE))
        except BlockingIOError:  # a few of these a second are all that one may
            self._stands_back = False
        except OSError:
            pass  # there are no such groups here, or it has ended

    def kill(self) -> None:
        """End it."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._ended, signal.SIGKILL)

    def answer(self) -> Answer:
        """Returns what it found, or why it found nothing; it has ended, or is ended."""
        name = answer_name(self.entry.ask)
        change = ViewChange(name, error=self._failure().as_dict())
        if self._exit_code == 0:
            data = os.pread(self._found, os.fstat(self._found).st_size, 0)
            (change,) = decode_changes(data)
        if self._exit_code is None:
            self.used_s += self.entry.most_ms / 1e3
        return Answer(self.entry.ask, change, self.used_s)

    def close(self) -> None:
        """Forget it; it has ended."""
        for descriptor in (self._turn, self._found, self._ended):
            os.close(descriptor)

    def _reap(self) -> None:
        try:
            _, status, usage = os.wait4(self._pid, 0)
        except ChildProcessError:  # somebody else did
            self._exit_code = -signal.SIGKILL
            return
        self._exit_code = os.waitstatus_to_exitcode(status)
        self.used_s += usage.ru_utime + usage.ru_stime

    def _failure(self) -> AspenError:
        if self._exit_code == _NO_MEMORY_EXIT:
            return NO_MEMORY
        attempt = "ask about fewer rows: give some columns a value, or select before you join"
        if self._exit_code in (None, -signal.SIGXCPU):
            return TimeExceeded(
                "the answer takes longer than one question may",
                found=f"{self.entry.kind.value} of {self.entry.view or 'a query'}",
                exists=(f"up to {self.entry.most_ms:,} ms, within {TURN_S:g} s",),
                attempt=attempt,
            )
        return QuestionDied(
            "the process that looked for the answer ended without one",
            found=f"exit code {self._exit_code}",
            attempt=f"{attempt}; if a small question ends so, too, tell the staff",
        )


def _compute(entry: OneTimeQuery, compute: Compute, turn: int, found: int) -> NoReturn:
    """Be the child: whatever happens, nothing of the process it was forked from is gone on with."""
    try:
        gc.disable()
        gc.freeze()
        _let_go({turn, found})
        if os.read(turn, 1) == _GO:
            _bound(entry)
            data = memoryview(encode_changes([compute()]).encode())
            while data:
                data = data[os.write(found, data) :]
            os._exit(0)
    except MemoryError:
        os._exit(_NO_MEMORY_EXIT)  # nothing can be said any more
    finally:
        os._exit(1)


def _let_go(kept: set[int]) -> None:
    """Let go of whatever the process has open, and of its signals and its session."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    with suppress(OSError):
        os.setsid()  # the system shares the processor out by sessions
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in range(_STANDARD - 1):  # what is said of errors goes where the lane's goes
        os.dup2(nothing, standard)
    last = _STANDARD
    for descriptor in sorted(kept):
        os.closerange(last, descriptor)
        last = descriptor + 1
    os.closerange(last, max(last, resource.getrlimit(resource.RLIMIT_NOFILE)[0]))


def _bound(entry: OneTimeQuery) -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + MEMORY_BYTES
    limits = {resource.RLIMIT_AS: (size, size), resource.RLIMIT_CORE: (0, 0)}
    if entry.most_ms:
        most_s = ceil(entry.most_ms / 1e3) + SPARE_S
        limits[resource.RLIMIT_CPU] = (most_s, most_s + 1)  # a signal of its own, then the end
    for limit, most in limits.items():
        with suppress(OSError, ValueError):  # it is bounded more narrowly already
            resource.setrlimit(limit, most)
